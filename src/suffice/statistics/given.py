"""The given columns themselves, and the weights: released as they are."""

from __future__ import annotations

from suffice.statistic import Claim, Pair, Statistic


class Given(Statistic):
    """Means and cross-products of the given columns."""

    name = "given"

    def claim(self, pair: Pair) -> Claim:
        X = slice(0, len(pair.given))
        return Claim.worst(self.name, "means and cross-products of the given columns", *pair.block(X, X))
