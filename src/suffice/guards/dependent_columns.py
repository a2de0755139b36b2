"""Confidential columns that add up."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.assessment import Assessment


def dependent_columns(risk: Assessment) -> Finding | None:
    """An exact linear relation among confidential columns: note, and whether it is still true in the release."""
    words = {name: f"{name} is a combination of {listed(others)}" for name, others in risk.dependent.items() if others}
    if not words:
        return None
    lost = [name for name in words if name in risk.loosened]
    told = "this stays true in the release" if not lost else f"in the release this is not true of {listed(lost)}"
    return Finding(
        "dependent-columns",
        "note",
        f"{'; '.join(words.values())}, given columns aside: {told}.",
        "Follow the method with Restore, which keeps what adds up, or leave these out and compute them from the others."
        if lost
        else "Nothing to do, unless one of these columns is public: then the others follow.",
        {name: ", ".join(others) for name, others in risk.dependent.items()},
    )
