"""Exact zeros that stay where they are: they tell who has nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.protection.aligned import AlignedBlock
from suffice.risk.matches import Matches


@dataclass(frozen=True, repr=False)
class ZeroCounts:
    """By column: cells, those that are zero before, after, and both."""

    table: NDArray[np.int64]

    def __add__(self, other: Self) -> ZeroCounts:
        return ZeroCounts(self.table + other.table)

    def matches(self, names: tuple[str, ...]) -> dict[str, Matches]:
        """Zeros of the original that are zeros of the release, and how many would be of any records."""
        cells, before, after, both = self.table.astype(float)
        return {
            name: Matches(before[j], both[j], before[j] * after[j] / cells[j])
            for j, name in enumerate(names)
            if 0 < before[j] < cells[j] and both[j]
        }


class ZeroMeasure:
    """Counts zeros, missing cells aside."""

    def of(self, aligned: AlignedBlock) -> ZeroCounts:
        table = np.zeros((4, aligned.Y.shape[1]), dtype=np.int64)
        for j in range(aligned.Y.shape[1]):
            before, after = aligned.Y[:, j] == 0, aligned.Ystar[:, j] == 0
            hole = np.zeros(0, dtype=bool) if aligned.hole is None else aligned.hole[:, j]
            counts = (before, after, before & after) if before.any() else (before[:0], after, before[:0])
            table[:, j] = [len(before), *(int(np.count_nonzero(each)) for each in counts)]
            table[:, j] -= np.count_nonzero(hole)  # zeros before and after
        return ZeroCounts(table)
