"""Cross-products with the given columns: every regression of the confidential columns on them."""

from __future__ import annotations

from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim, Statistic


class Fit(Statistic):
    """|x*'y* - x'y| / (n sd_x sd_y) for every given and every confidential column."""

    name = "fit"

    def claim(self, pair: Pair) -> Claim:
        sentence = "cross-products with the given columns (all regressions)"
        return Claim.worst(self.name, sentence, *pair.products(*pair.across))
