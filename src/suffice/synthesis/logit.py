"""Regression of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import UsageError
from suffice.synthesis.multinomial import ClassFit, Multinomial
from suffice.synthesis.variable import Board, Variable


@dataclass(frozen=True)
class Logit(Multinomial):
    """Logistic regression of a column with two levels."""

    def fit(self, target: Variable, y: Array, names: Sequence[str], board: Board, counted: Array | None) -> ClassFit:
        if (found := len(np.unique(y))) > 2:
            raise UsageError(
                f"logit draws two levels, and {target.name!r} has {found}, missing cells counted. Use multinomial."
            )
        return super().fit(target, y, names, board, counted)
