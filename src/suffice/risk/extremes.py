"""The largest and the smallest value of a column: does the same record have it in the release?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.algebra.array import Array
from suffice.protection.aligned import AlignedBlock

NEAR = 0.05
"""Reproduced: within this share of the range."""


@dataclass(frozen=True, repr=False)
class Extremes:
    """The largest values of every column, and then the smallest, with their sign changed.

    Rows: original value, what is released for it, how many records have it, the extreme of the release.
    """

    table: Array

    def __add__(self, other: Self) -> Extremes:
        a, b = self.table, other.table
        mine, equal = a[0] > b[0], a[0] == b[0]
        first = np.where(mine | equal, a[:3], b[:3])
        first[2] = np.where(equal, a[2] + b[2], first[2])
        return Extremes(np.vstack([first, np.maximum(a[3], b[3])]))

    def reproduced(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
        """Columns with an end that is one record's alone and stays its own, near the same value; ends of one record."""
        y, released, count, top = self.table
        k = len(names)
        alone = count == 1
        reach = np.tile(y[:k] + y[k:], 2)  # largest - smallest: ends are signed
        there = alone & (released == top)
        there[there] &= np.abs(released - y)[there] <= NEAR * reach[there]
        return tuple(name for name, a, b in zip(names, there[:k], there[k:], strict=True) if a or b), int(alone.sum())

    def farthest(self, names: tuple[str, ...], mean: Array) -> dict[str, tuple[float, float]]:
        """By column: the largest distance from the original's mean, before and after."""
        both = (self.table[[0, 3]].reshape(2, 2, -1) - np.stack([mean, -mean])).max(axis=1)
        return {name: (float(before), float(after)) for name, before, after in zip(names, *both, strict=True)}


class ExtremeMeasure:
    """Looks for the ends of every column."""

    def of(self, aligned: AlignedBlock) -> Extremes:
        ends: list[tuple[float, ...]] = []
        for sign in (1.0, -1.0):
            for j in range(aligned.Y.shape[1]):
                y, released = aligned.Y[:, j], aligned.Ystar[:, j]
                if aligned.hole is not None:
                    y, released = y[~aligned.hole[:, j]], released[~aligned.hole[:, j]]
                if not len(y):
                    ends.append((-np.inf, -np.inf, 0.0, -np.inf))
                    continue
                at = y.argmax() if sign > 0 else y.argmin()
                top = released.max() if sign > 0 else released.min()
                ends.append((sign * y[at], sign * released[at], float(np.count_nonzero(y == y[at])), sign * top))
        return Extremes(np.array(ends).T)
