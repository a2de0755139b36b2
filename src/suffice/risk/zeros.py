"""Exact zeros that stay where they are: they tell who has nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.protection.aligned import AlignedBlock
from suffice.risk.matches import Matches

MANY = 0.1
"""The share of zeros that makes them a feature of a column."""


@dataclass(frozen=True, repr=False)
class ZeroCounts:
    """By column: cells, those that are zero before, after, and both."""

    table: NDArray[np.int64]

    def __add__(self, other: Self) -> ZeroCounts:
        return ZeroCounts(self.table + other.table)

    @property
    def before(self) -> NDArray[np.int64]:
        """Cells of the original, and those that are zero."""
        return self.table[:2]

    def matches(self, names: tuple[str, ...]) -> dict[str, Matches]:
        """Zeros of the original that are zeros of the release, and how many would be of any records."""
        cells, before, after, both = self.table.astype(float)
        return {
            name: Matches(before[j], both[j], before[j] * after[j] / cells[j])
            for j, name in enumerate(names)
            if 0 < before[j] < cells[j] and both[j]
        }

    def lost(self, names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
        """Columns with many zeros of which the release has not half as many: before and after."""
        cells, before, after, _ = self.table
        many = (before >= MANY * cells) & (2 * after < before)
        return {name: (int(before[j]), int(after[j])) for j, name in enumerate(names) if many[j]}


class ZeroMeasure:
    """Counts zeros, missing cells aside."""

    def of(self, aligned: AlignedBlock) -> ZeroCounts:
        table = np.zeros((4, aligned.Y.shape[1]), dtype=np.int64)
        before, after = aligned.Y == 0, aligned.Ystar == 0
        table[0] = len(before)
        for row, cells in ((1, before), (2, after)):
            if cells.any():  # most blocks have none
                table[row] = cells.sum(axis=0)
        if table[1].any():
            table[3] = (before & after).sum(axis=0)
        if aligned.hole is not None:
            table -= aligned.hole.sum(axis=0)  # zeros before and after
        return ZeroCounts(table)
