"""Whether a record's place in the release tells its place in the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.protection.protected import Protected
from suffice.rows.shuffle import BUCKET

PLACES = 100_000
"""Rows whose places are compared: enough to see any order."""


@dataclass(frozen=True)
class RowOrder:
    """Correlation of a row's place in the release with its place in the original."""

    correlation: float = 0.0
    places: int = 0
    """Rows of which that was computed; 0: of all."""

    @classmethod
    def of(cls, done: Protected, order: NDArray[np.int64] | None) -> Self:
        """Of all rows, or of the first bucket where their order is settled as they leave."""
        n = done.rows.n
        places = (done.stream.permutation(0, min(n, BUCKET)) if order is None else order)[:PLACES]
        found = np.corrcoef(places, np.arange(len(places)))[0, 1] if len(places) > 2 else 0.0
        return cls(float(found), min(n, PLACES))
