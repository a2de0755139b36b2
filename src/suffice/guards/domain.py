"""Values that cannot be: negatives in a column that had none."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.assessment import Assessment


def domain(risk: Assessment) -> Finding | None:
    """Any negative in a column without: warn. Nothing is clipped: that would break what was promised."""
    found = {name: number for name, number in risk.negatives.items() if number > 0}
    if not found:
        return None
    n = risk.freedom.n + risk.weights.unweighted
    words = [f"{name} {number:,} ({share(number, n)})" for name, number in found.items()]
    return Finding(
        "domain",
        "warn",
        f"Negative values in columns that had none: {listed(words)}. "
        "They are not clipped, which would change what is kept.",
        "Ask for bounds and use rotate, also after another method; or tell the users of the release.",
        found,
    )
