"""Records that count nowhere."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.risk.assessment import Assessment


def zero_weights(risk: Assessment) -> Finding | None:
    """Records of weight zero: warn. They are changed like the others, but no statistic depends on them."""
    records = risk.weights.unweighted
    if records == 0:
        return None
    return Finding(
        "zero-weights",
        "warn",
        f"{count(records, 'record')} of weight zero "
        f"({share(records, risk.freedom.n + records)}): released, but counted in no statistic.",
        "Drop these records if they are not needed.",
        {"records": records},
    )
