"""Cells that lie far out, before and after: those that everybody knows."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Self

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algebra.moments import Spread
from suffice.protection.aligned import AlignedBlock

FAR, NEAR = 5.0, 0.1
"""Far cells are FAR standard deviations out, in large files more; near is within NEAR of that distance."""
MOST = 1000
"""Cells of a column that are looked at: the farthest."""


def far(n: int) -> float:
    """Beyond what a normal sample of n records reaches: a large file has no giants because it is large."""
    return max(FAR, 1 + sqrt(2 * log(n))) if n > 1 else FAR


@dataclass(frozen=True, repr=False)
class FarCells:
    """Of every column, in standard deviations from the mean: far cells with what is released for them, and whatever
    lies half as far out in the release."""

    own: tuple[Array, ...]
    released: tuple[Array, ...]

    def __add__(self, other: Self) -> FarCells:
        return FarCells(_farthest(self.own, other.own), _farthest(self.released, other.released))


def _farthest(ours: tuple[Array, ...], theirs: tuple[Array, ...]) -> tuple[Array, ...]:
    pairs = zip(ours, theirs, strict=True)
    return tuple(trimmed(np.vstack([a, b])) if len(a) and len(b) else a if len(a) else b for a, b in pairs)


def trimmed(Z: Array) -> Array:
    """The farthest cells; the first column tells how far."""
    return Z if len(Z) <= MOST else Z[np.argsort(-np.abs(Z[:, 0]), kind="stable")[:MOST]]


@dataclass(frozen=True, repr=False)
class FarMeasure:
    """Looks for far cells; `still`: columns that do not change."""

    spread: Spread
    still: Flags

    def of(self, aligned: AlignedBlock) -> FarCells:
        spread, bar = self.spread, far(self.spread.rows)
        Y, Ystar = aligned.about(spread.mean)
        own, released = [], []
        for j, (middle, sd) in enumerate(zip(spread.mean, spread.sd, strict=True)):
            reach = max(spread.high[j] - middle, middle - spread.low[j])
            if self.still[j] or not reach > bar * sd:
                own.append(np.empty((0, 2)))
                released.append(np.empty((0, 1)))
                continue
            rows, after = (
                np.flatnonzero((middle + out < A) | (middle - out > A))
                for A, out in ((Y[:, j], bar * sd), (Ystar[:, j], bar * sd / 2))
            )
            own.append(trimmed((np.column_stack([Y[rows, j], Ystar[rows, j]]) - middle) / sd))
            released.append(trimmed((Ystar[after, j, None] - middle) / sd))
        return FarCells(tuple(own), tuple(released))
