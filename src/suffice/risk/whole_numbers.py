"""Columns that hold nothing but whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.protection.aligned import AlignedBlock


@dataclass(frozen=True, repr=False)
class FractionMeasure:
    """Counts values that are not whole numbers, column by column; a missing cell is none."""

    def of(self, aligned: AlignedBlock) -> NDArray[np.int64]:
        return np.asarray((np.rint(aligned.Y) != aligned.Y).sum(axis=0))
