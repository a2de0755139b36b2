"""What is found near in a release, beside what chance would find there."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np

from suffice.algebra.array import Array

CLOSE, SPREAD = 0.05, 0.1
"""Near: within this share of the value and of the standard deviation, whichever is less: 5 % of a year is a century."""
SURE, LUCK = 2.0, 3.0
"""Standard deviations from a threshold at which hardly any other key would be judged otherwise, and from
chance at which hardly any release of few records is by luck."""


@dataclass(frozen=True)
class Matches:
    """Of so many: how many are found near, and how many would be if records had been released for each other."""

    of: float = 0.0
    found: float = 0.0
    chance: float = 0.0

    def __add__(self, other: Self) -> Matches:
        return Matches(self.of + other.of, self.found + other.found, self.chance + other.chance)

    @property
    def excess(self) -> float:
        """The share of what chance leaves that is found all the same: 0 is chance, 1 is all."""
        return (self.found - self.chance) / (self.of - self.chance) if self.of > self.chance else 0.0

    def beyond(self, threshold: float) -> bool:
        """Whether the excess is above a threshold, and no luck: 9 of 48 may be found where chance is 4."""
        return self.excess > threshold and self.found > self._by_luck

    @property
    def _by_luck(self) -> float:
        return self.chance + LUCK * (sqrt(max(0.0, self.chance * (1 - self.chance / self.of))) if self.of else 0.0)

    def doubtful(self, threshold: float, luck: bool = False) -> bool:
        """Whether so few were looked at that another key may put the excess on the other side of a threshold.

        luck: of a rule that asks whether it is `beyond` the threshold
        """
        expected = self.chance + threshold * (self.of - self.chance)
        expected = max(expected, self._by_luck) if luck else expected
        spread = sqrt(max(0.0, expected * (1 - expected / self.of))) if self.of else 0.0
        return abs(self.found - expected) < SURE * spread


def near(y: Array, date: bool = False) -> Array:
    """How far from its value a guess may be, and tell it; a date's distance from 1970 means nothing."""
    apart = y - y.mean()
    sd = np.sqrt(apart @ apart / max(1, len(y)))
    return np.full(len(y), SPREAD * sd) if date else np.asarray(np.minimum(CLOSE * np.abs(y), SPREAD * sd))
