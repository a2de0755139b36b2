"""Columns that come before, as the matrix X of a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.synthesis.variable import Board

DUMMIES = 40
"""Levels of a category that have a column of their own: the most frequent ones."""
FEWEST = 10
"""Records of such a level, at least."""


@dataclass(frozen=True, repr=False)
class Predictors:
    """A constant, the numbers in standard deviations with what is missing as a column, and the levels of categories."""

    names: tuple[str, ...]
    scales: tuple[tuple[float, float], ...]

    @classmethod
    def learn(cls, names: Sequence[str], board: Board) -> Predictors:
        scales = []
        for name in names:
            variable, y = board.variables[name], board.values[name]
            y = y[~variable.holes(y)]
            scales.append((float(y.mean()), float(y.std()) or 1.0) if len(y) and not variable.levels else (0.0, 1.0))
        return cls(tuple(names), tuple(scales))

    def matrix(self, board: Board, n: int) -> Array:
        columns = [np.ones(n)]
        for name, (mean, sd) in zip(self.names, self.scales, strict=True):
            variable, y = board.variables[name], board.values[name]
            if variable.levels:
                shown = variable.values[1 : DUMMIES + 1][variable.counts[1 : DUMMIES + 1] >= FEWEST]
                columns += [(y == level).astype(np.float64) for level in shown]
                continue
            holes = variable.holes(y)
            columns.append(np.where(holes, 0.0, (y - mean) / sd))
            columns += [holes.astype(np.float64)] if variable.hole is not None else []
        return np.column_stack(columns)
