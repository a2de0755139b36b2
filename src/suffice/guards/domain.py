"""Values that cannot be: negatives in a column that had none."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.facts import Facts


def domain(facts: Facts) -> Finding | None:
    """Any negative in a column without: warn. Nothing is clipped: that would break what was promised."""
    found = {name: number for name, number in facts.negatives.items() if number > 0}
    if not found:
        return None
    words = [f"{name} {number:,} ({share(number, facts.n + facts.unweighted)})" for name, number in found.items()]
    return Finding(
        "domain",
        "warn",
        f"Negative values in columns that had none: {listed(words)}. "
        "They are not clipped, which would change what is kept.",
        "Protect the logarithm of the column, or tell the users of the release.",
        found,
    )
