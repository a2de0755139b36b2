"""What was to be kept from an attacker, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

POSSIBLE = 3
"""Whole numbers that must be possible for a count."""
EXPOSED, PROTECTED, UNJUDGED = "exposed", "protected", "not judged"


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Secret:
    """A cell, or a sum of suppressed cells, that was to be kept from an attacker.

    cells: which, with signs
    low, high: between these an attacker must look; they are `exact`, or he must look at least there
    numbers: possible whole numbers of a count, at most three; None for other values
    room: what the solver and the last digits may make of it
    insider: a contributor who knows other cells, or parts of cells: its number
    """

    cells: tuple[tuple[int, int], ...]
    value: float
    lower: float
    upper: float
    low: float = np.nan
    high: float = np.nan
    exact: bool = False
    numbers: int | None = None
    room: float = 0.0
    verdict: str = UNJUDGED
    insider: int | None = None
    why: str = ""

    @property
    def is_sum(self) -> bool:
        return len(self.cells) > 1
