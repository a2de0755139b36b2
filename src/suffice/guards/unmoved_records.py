"""Records that a method which moves them one by one has never moved."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.leverage import NEVER, leverage_remedy
from suffice.guards.wording import count, share
from suffice.risk.assessment import Assessment


def unmoved_records(risk: Assessment) -> Finding | None:
    """One record or more, all-zero ones aside: stop."""
    if risk.unmoved == 0:
        return None
    n, decided = risk.freedom.n, risk.leverage.highest >= NEVER
    return Finding(
        "unmoved-records",
        "stop",
        f"{count(risk.unmoved, 'record')} of {n:,} ({share(risk.unmoved, n)}) never moved: "
        f"{'what is kept decides them' if decided else 'every bound and edit around them leaves no room'}.",
        leverage_remedy(risk) if decided else "Ask for zeros to be free, or for looser bounds and edits.",
        {"unmoved": risk.unmoved, "records": n},
    )
