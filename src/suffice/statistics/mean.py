"""Means of the confidential columns."""

from __future__ import annotations

from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim, Statistic


class Mean(Statistic):
    """|m* - m| / sd for every confidential column."""

    name = "mean"

    def claim(self, pair: Pair) -> Claim:
        m = len(pair.given)
        return Claim.worst(
            self.name,
            "means of the confidential columns",
            pair.mean_errors[m:],
            pair.lost[m:],
            pair.confidential,
        )
