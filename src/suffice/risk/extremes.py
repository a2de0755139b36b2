"""The largest and the smallest value of a column: does the same record have it in the release?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.moments import Spread
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

    @property
    def alone(self) -> int:
        """Ends of one record."""
        return int((self.table[2] == 1).sum())

    def reproduced(self) -> tuple[bool, ...]:
        """Columns with an end that is one record's alone and stays its own, near the same value."""
        y, released, count, top = self.table
        k = len(y) // 2
        alone = count == 1
        reach = np.tile(y[:k] + y[k:], 2)  # largest - smallest: ends are signed
        there = alone & (released == top)
        there[there] &= np.abs(released - y)[there] <= NEAR * reach[there]
        return tuple((there[:k] | there[k:]).tolist())

    def farthest(self, names: tuple[str, ...], mean: Array) -> dict[str, tuple[float, float]]:
        """By column: the largest distance from the original's mean, before and after."""
        both = (self.table[[0, 3]].reshape(2, 2, -1) - np.stack([mean, -mean])).max(axis=1)
        return {name: (float(before), float(after)) for name, before, after in zip(names, *both, strict=True)}


@dataclass(frozen=True, repr=False)
class ExtremeMeasure:
    """Looks for the ends of every column, which are known."""

    spread: Spread

    def of(self, aligned: AlignedBlock) -> Extremes:
        k = len(self.spread.mean)
        table = np.full((4, 2 * k), -np.inf)
        table[2] = 0.0
        for sign, end, here in ((1.0, self.spread.high, slice(0, k)), (-1.0, self.spread.low, slice(k, 2 * k))):
            Y, Ystar = aligned.about(np.full(k, -sign * np.inf))  # a missing cell is no end
            table[3, here] = Ystar.max(axis=0) if sign > 0 else -Ystar.min(axis=0)
            there = np.equal(Y, end)
            if there.any():
                j = np.flatnonzero(there.any(axis=0))
                first = Ystar[there[:, j].argmax(axis=0), j]
                table[:3, here.start + j] = sign * end[j], sign * first, there[:, j].sum(axis=0)
        return Extremes(table)
