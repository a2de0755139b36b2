"""Released values below zero in columns that had none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.algebra.moments import Spread
from suffice.protection.aligned import AlignedBlock


@dataclass(frozen=True, repr=False)
class SignMeasure:
    """Counts, column by column; `still`: columns that do not change."""

    spread: Spread
    still: Flags

    def of(self, aligned: AlignedBlock) -> NDArray[np.int64]:
        counts = np.zeros(aligned.Ystar.shape[1], dtype=np.int64)
        for j in np.flatnonzero((self.spread.low >= 0) & ~self.still):
            counts[j] = np.count_nonzero(aligned.Ystar[:, j] < 0)
        return counts


def negatives(counts: NDArray[np.int64], names: tuple[str, ...]) -> dict[str, int]:
    """Columns that had no negative value and have some: how many."""
    return {name: int(count) for name, count in zip(names, counts, strict=True) if count}
