"""Variances and covariances of the confidential columns."""

from __future__ import annotations

from typing import ClassVar

from suffice.statistics.moment import Moment
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim


class Covariance(Moment):
    """|S* - S| / (sd sd) for every pair of confidential columns."""

    name: ClassVar = "covariance"
    words: ClassVar = "covariances"

    def compared(self, pair: Pair) -> Claim:
        sentence = "variances and covariances" if pair.spans_one else "raw second moments"
        return Claim.worst(self.name, f"{sentence} of the confidential columns", *pair.products(*pair.within))
