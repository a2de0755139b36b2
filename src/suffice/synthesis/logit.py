"""Regression of two classes."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.errors import UsageError
from suffice.synthesis.multinomial import Multinomial
from suffice.synthesis.variable import Variable


@dataclass(frozen=True)
class Logit(Multinomial):
    """Logistic regression of a column with two levels."""

    def check_levels(self, target: Variable, found: int) -> None:
        if found > 2:
            raise UsageError(
                f"logit draws two levels, and {target.name!r} has {found}, missing cells counted. Use multinomial."
            )
