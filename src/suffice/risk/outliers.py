"""Cells that everybody knows: far out, and released near their own value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.algebra.array import Flags
from suffice.algebra.moments import Spread
from suffice.protection.aligned import AlignedBlock

FAR, NEAR = 5.0, 0.1
"""Outlying cells are FAR standard deviations out; one is given away when NEAR of its distance, or less, is changed."""


@dataclass(frozen=True)
class Outliers:
    """Cells that lie far out, and those of them that are released near their own value."""

    far: int = 0
    near: int = 0

    def __add__(self, other: Self) -> Outliers:
        return Outliers(self.far + other.far, self.near + other.near)


@dataclass(frozen=True, repr=False)
class OutlierMeasure:
    """Looks for outlying cells; `still`: columns that do not change."""

    spread: Spread
    still: Flags

    def of(self, aligned: AlignedBlock) -> Outliers:
        far = near = 0
        spread, (Y, _) = self.spread, aligned.about(self.spread.mean)
        reach = np.maximum(spread.high - spread.mean, spread.mean - spread.low)
        for j in np.flatnonzero(~self.still & (reach > FAR * spread.sd)):
            middle, bar = spread.mean[j], FAR * spread.sd[j]
            rows = np.flatnonzero((Y[:, j] > middle + bar) | (Y[:, j] < middle - bar))
            far += len(rows)
            near += int((np.abs(aligned.change[rows, j]) <= NEAR * np.abs(Y[rows, j] - middle)).sum())
        return Outliers(far, near)
