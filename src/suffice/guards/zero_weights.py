"""Records that count nowhere."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.risk.facts import Facts


def zero_weights(facts: Facts) -> Finding | None:
    """Records of weight zero: warn. They are changed like the others, but no statistic depends on them."""
    if facts.unweighted == 0:
        return None
    return Finding(
        "zero-weights",
        "warn",
        f"{count(facts.unweighted, 'record')} of weight zero "
        f"({share(facts.unweighted, facts.n + facts.unweighted)}): released, but counted in no statistic.",
        "Drop these records if they are not needed.",
        {"records": facts.unweighted},
    )
