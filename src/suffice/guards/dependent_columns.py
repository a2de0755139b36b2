"""Confidential columns that add up."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.assessment import Assessment


def dependent_columns(risk: Assessment) -> Finding | None:
    """An exact linear relation among confidential columns: note. It stays true, as in the original."""
    words = [f"{name} is a combination of {listed(others)}" for name, others in risk.dependent.items() if others]
    if not words:
        return None
    return Finding(
        "dependent-columns",
        "note",
        f"{'; '.join(words)}, given columns aside: this stays true in the release.",
        "Nothing to do, unless one of these columns is public: then the others follow.",
        {name: ", ".join(others) for name, others in risk.dependent.items()},
    )
