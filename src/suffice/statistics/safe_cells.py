"""Cells that lie far enough from the original's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import EPS, Array, Flags
from suffice.statistics.cells import CellPromise, whole
from suffice.statistics.statistic import Claim

SHORT, SHORTEST = 1e-6, 1e-2
"""Of its level: what a solver's last digits may make of a cell's distance, and those of the largest cell, at most."""


def far_enough(before: Array, change: Array, lower: Array, upper: Array) -> Flags:
    """Changes that reach their level in either direction, but for the last digits."""
    digits = 4 * EPS * np.abs(before).max(axis=0, initial=0.0)
    down, up = (level - np.clip(digits, SHORT * level, SHORTEST * level) for level in (lower, upper))
    return np.asarray((change >= up) | (change <= -down))


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
        return np.asarray(self.sensitive & ~far_enough(before, after - before, self.lower, self.upper))

    def claim(self, before: Array, after: Array) -> Claim:
        wrong = np.asarray(self.near(before, after).any(axis=1))
        return whole("protection", "what must not be told of cells is safe by its protection level", wrong, self.names)
