"""Cross-products with the given columns: every regression of the confidential columns on them."""

from __future__ import annotations

from suffice.statistic import Claim, Pair, Statistic


class Fit(Statistic):
    """|x*'y* - x'y| / (n sd_x sd_y) for every given and every confidential column."""

    name = "fit"

    def claim(self, pair: Pair) -> Claim:
        m = len(pair.given)
        return Claim.worst(
            self.name,
            "cross-products with the given columns (all regressions)",
            *pair.block(slice(0, m), slice(m, None)),
        )
