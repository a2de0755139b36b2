"""Released records that leave a bound or an edit that the original keeps."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.assessment import Assessment


def limits(risk: Assessment) -> Finding | None:
    """One record or more: stop."""
    if not risk.broken:
        return None
    told = [f"{name} {count:,}" for name, count in risk.broken.items()]
    return Finding(
        "limits",
        "stop",
        f"Released records leave bounds or edits that were asked for: {listed(told)}.",
        "Use a method that keeps them: rotate, alone or after this one.",
        dict(risk.broken),
    )
