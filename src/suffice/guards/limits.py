"""Released records that leave a bound or an edit that the original keeps."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.facts import Facts


def limits(facts: Facts) -> Finding | None:
    """One record or more: stop."""
    if not facts.broken:
        return None
    told = [f"{name} {count:,}" for name, count in facts.broken.items()]
    return Finding(
        "limits",
        "stop",
        f"Released records leave bounds or edits that were asked for: {listed(told)}.",
        "Use a method that keeps them: rotate, alone or after this one.",
        dict(facts.broken),
    )
