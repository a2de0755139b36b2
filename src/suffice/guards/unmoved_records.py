"""Records that a method which moves them one by one has never moved."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.risk.facts import Facts


def unmoved_records(facts: Facts) -> Finding | None:
    """One record or more, all-zero ones aside: stop."""
    if facts.unmoved == 0:
        return None
    return Finding(
        "unmoved-records",
        "stop",
        f"{count(facts.unmoved, 'record')} of {facts.n:,} ({share(facts.unmoved, facts.n)}) never moved: "
        "every bound and edit around them leaves no room.",
        "Ask for more sweeps, for zeros to be free, or for looser bounds and edits.",
        {"unmoved": facts.unmoved, "records": facts.n},
    )
