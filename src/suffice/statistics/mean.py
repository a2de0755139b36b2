"""Means of the confidential columns."""

from __future__ import annotations

from typing import ClassVar

from suffice.statistics.moment import Moment
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim


class Mean(Moment):
    """|m* - m| / sd for every confidential column."""

    name: ClassVar = "mean"
    words: ClassVar = "means"

    def compared(self, pair: Pair) -> Claim:
        m, sentence = len(pair.given), "means of the confidential columns"
        return Claim.worst(self.name, sentence, pair.mean_errors[m:], pair.lost[m:], pair.confidential)
