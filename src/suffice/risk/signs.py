"""Released values below zero, in columns that had none and in those that had fewer."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.algebra.moments import Spread
from suffice.protection.aligned import AlignedBlock

ERRORS = 3.3
"""Counts that differ by as many standard errors are not those of two samples."""


@dataclass(frozen=True, repr=False)
class SignCounts:
    """Cells below zero by column, before and after."""

    table: NDArray[np.int64]

    def __add__(self, other: Self) -> SignCounts:
        return SignCounts(self.table + other.table)

    def new(self, names: tuple[str, ...]) -> dict[str, int]:
        """Columns that had no negative value and have some: how many."""
        return {name: int(after) for name, (before, after) in self._by(names) if after and not before}

    def multiplied(self, names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
        """Columns that had some and have more than twice as many, beyond chance: how many before and after."""
        return {
            name: (int(before), int(after))
            for name, (before, after) in self._by(names)
            if before and after > 2 * before and after - before > ERRORS * sqrt(before + after)
        }

    def _by(self, names: tuple[str, ...]) -> zip[tuple[str, NDArray[np.int64]]]:
        return zip(names, self.table.T, strict=True)


@dataclass(frozen=True, repr=False)
class SignMeasure:
    """Counts, column by column; `still`: columns that do not change."""

    spread: Spread
    still: Flags

    def of(self, aligned: AlignedBlock) -> SignCounts:
        table = np.zeros((2, aligned.Ystar.shape[1]), dtype=np.int64)
        for j in np.flatnonzero(~self.still):
            if self.spread.low[j] < 0:
                table[0, j] = np.count_nonzero(aligned.Y[:, j] < 0)
            table[1, j] = np.count_nonzero(aligned.Ystar[:, j] < 0)
        return SignCounts(table)
