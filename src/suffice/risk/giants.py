"""The few records that lie farthest out: does some released record have their values, whoever's it is?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algebra.moments import Spread
from suffice.protection.aligned import AlignedBlock
from suffice.risk.outliers import FAR, NEAR

FEW, MOST = 10, 200
"""Giants that are looked for in the release, and how many of its farthest records are looked at."""


@dataclass(frozen=True, repr=False)
class Farthest:
    """The records that lie farthest out, as distances from the mean in standard deviations."""

    Z: Array

    def __add__(self, other: Self) -> Farthest:
        Z = np.vstack([self.Z, other.Z])
        return Farthest(Z[np.argsort(-np.abs(Z).max(axis=1, initial=0.0), kind="stable")[:MOST]])


@dataclass(frozen=True)
class Giants:
    """Of the few records that lie farthest out: how many there are, and how many some released record is near."""

    few: int = 0
    handed_on: int = 0


@dataclass(frozen=True, repr=False)
class FarRecords:
    """The farthest records of the original and of the release."""

    original: Farthest
    released: Farthest

    def __add__(self, other: Self) -> FarRecords:
        return FarRecords(self.original + other.original, self.released + other.released)

    def giants(self) -> Giants:
        """A released record, of whatever row, is near one if it is in every column."""
        top = (self.original + Farthest(self.original.Z[:0])).Z[:FEW]
        Z = self.released.Z
        near = [(np.abs(Z - z) <= NEAR * np.maximum(np.abs(z), 1.0)).all(axis=1).any() for z in top]
        return Giants(len(top), int(sum(near)))


@dataclass(frozen=True, repr=False)
class GiantMeasure:
    """Looks for giants; `still`: columns that do not change. Where nothing is carried over, no giant can be."""

    spread: Spread
    still: Flags
    independent: bool

    def of(self, aligned: AlignedBlock) -> FarRecords:
        if self.independent:
            none = Farthest(np.empty((0, int((~self.still).sum()))))
            return FarRecords(none, none)
        Y, Ystar = aligned.about(self.spread.mean)
        return FarRecords(self._farthest(Y), self._farthest(Ystar))

    def _farthest(self, Y: Array) -> Farthest:
        moving, spread = np.flatnonzero(~self.still), self.spread
        far = np.zeros(len(Y), dtype=bool)
        for j in moving:
            middle, bar = spread.mean[j], FAR * spread.sd[j]
            far |= (Y[:, j] > middle + bar) | (Y[:, j] < middle - bar)
        return Farthest((Y[np.ix_(far, moving)] - spread.mean[moving]) / spread.sd[moving])
