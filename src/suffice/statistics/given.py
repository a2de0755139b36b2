"""The given columns themselves, and the weights: released as they are."""

from __future__ import annotations

import numpy as np

from suffice.statistic import Claim, Pair, Statistic


class Given(Statistic):
    """Means and cross-products of the given columns."""

    name = "given"

    def claim(self, pair: Pair) -> Claim:
        X = slice(0, len(pair.given))
        errors, lost, names = pair.block(X, X)
        sentence = "means and cross-products of the given columns"
        if not pair.spans_one:
            return Claim.worst(self.name, "raw " + sentence.removeprefix("means and "), errors, lost, names)
        means = pair.mean_errors[None, X], pair.lost[None, X]
        errors, lost = np.vstack([means[0], errors]), np.vstack([means[1], lost])
        return Claim.worst(self.name, sentence, errors, lost, [*pair.given, *names])
