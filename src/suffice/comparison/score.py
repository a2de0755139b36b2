"""Calvino's score: risk and utility of a release in one number (Calvino 2017, Table 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from suffice.algebra.array import Array
from suffice.risk.distance_linkage import distance_linkage
from suffice.risk.interval_disclosure import interval_disclosure, nearest
from suffice.utility.information_loss import information_loss
from suffice.utility.propensity import propensity


@dataclass(frozen=True)
class Score:
    """The four parts of the score, each between 0 and 1, smaller being better; PS of degree two and three."""

    linkage: float
    intervals: float
    loss: float
    PS2: float
    PS3: float

    @classmethod
    def of(cls, Y: Array, Ystar: Array) -> Self:
        """Intervals are those around the nearest released record; propensity scores are times four."""
        return cls(
            distance_linkage(Y, Ystar),
            interval_disclosure(Y, Ystar, nearest(Y, Ystar)),
            information_loss(Y, Ystar),
            4 * propensity(Y, Ystar, 2),
            4 * propensity(Y, Ystar, 3),
        )

    @property
    def second(self) -> float:
        """The mean of linkage, intervals, loss and PS2."""
        return (self.linkage + self.intervals + self.loss + self.PS2) / 4

    @property
    def third(self) -> float:
        """The same with PS3."""
        return (self.linkage + self.intervals + self.loss + self.PS3) / 4
