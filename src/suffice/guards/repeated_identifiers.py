"""Identifiers that several records have: records are not units."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.assessment import Assessment


def repeated_identifiers(risk: Assessment) -> Finding | None:
    """A note: several records have one identifier, and groups and leverage are judged by records.

    A group of 24 records may be two firms with 12 months each, and each learns the other's year.
    """
    if not risk.repeated:
        return None
    name = next(iter(risk.repeated))
    told = [f"{each} (about {often:.0f} records on average)" for each, often in risk.repeated.items()]
    return Finding(
        "repeated-identifiers",
        "note",
        f"Several records have the same {listed(told)}; groups and leverage are judged by records.",
        f"If {name} tells whose records they are, name it: unit={name}.",
        {"columns": len(risk.repeated)},
    )
