"""Cells that lie far enough from the original's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.statistics.cells import ALIKE, CellPromise, whole
from suffice.statistics.statistic import Claim


@dataclass(frozen=True, repr=False)
class SafeCells(CellPromise):
    """Sensitive cells, each at least its protection level away from its value.

    sensitive, lower, upper: cells x values
    """

    sensitive: Flags
    lower: Array
    upper: Array
    names: Sequence[str]

    def near(self, before: Array, after: Array) -> Flags:
        """Sensitive cells that are too near to their value, but for the last digits."""
        y, room = after - before, ALIKE * np.abs(before).max(axis=0, initial=0.0)
        return np.asarray(self.sensitive & ~((y >= self.upper - room) | (y <= room - self.lower)))

    def claim(self, before: Array, after: Array) -> Claim:
        wrong = np.asarray(self.near(before, after).any(axis=1))
        return whole("protection", "what must not be told of cells is safe by its protection level", wrong, self.names)
