"""Cross-products with the given columns: every regression of the confidential columns on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from suffice.statistics.domain_moments import given_columns
from suffice.statistics.moment import Moment
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim, Promise
from suffice.statistics.sums import Reference


class Fit(Moment):
    """|x*'y* - x'y| / (n sd_x sd_y) for every given and every confidential column."""

    name: ClassVar = "fit"
    words: ClassVar = "regressions on the given columns"

    def compared(self, pair: Pair) -> Claim:
        sentence = "cross-products with the given columns (all regressions)"
        return Claim.worst(self.name, sentence, *pair.products(*pair.across))

    def claim(self, promise: Promise, before: Any, after: Any, reference: Reference) -> Claim | None:
        named = [reference.design.names[j] for j in given_columns(reference.design, promise.terms)]
        if not named and not promise.domain.whole:
            return None
        claim = super().claim(promise, before, after, reference)
        if claim is None or promise.terms is None:
            return claim
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        return replace(claim, sentence=f"cross-products with {', '.join(named[:3])}{more}")
