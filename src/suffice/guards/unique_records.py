"""Columns that leave unchanged and tell records apart."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed, share
from suffice.risk.assessment import Assessment

MANY = 0.05


def unique_records(risk: Assessment) -> Finding | None:
    """A kept column of text or whole numbers that differs in every record, or 5 % of those that nothing is changed of
    alone with all their values: warn; 5 % alone with what is kept: note."""
    unique = risk.unique
    if unique.identifiers:
        return Finding(
            "unique-records",
            "warn",
            f"{listed(unique.identifiers)}: different in every record, and kept. Who knows it finds the record.",
            "Name it in `identifiers`, which are dropped, or leave it out of `keep`.",
            {"columns": ", ".join(unique.identifiers)},
        )
    if unique.left_alone and unique.left_alone >= MANY * unique.left:
        return Finding(
            "unique-records",
            "warn",
            f"{count(unique.left, 'record')} leave as they are, with their confidential values, and "
            f"{share(unique.left_alone, unique.left)} of these are alone with all of them: who knows some finds the "
            "record, and reads the others.",
            "Let the condition of `where` choose more records, or leave it out.",
            {"left": unique.left, "alone": unique.left_alone},
        )
    if unique.share < MANY:
        return None
    return Finding(
        "unique-records",
        "note",
        f"{share(unique.share)} of the records are alone with their {listed(unique.columns)}, which leave unchanged: "
        "who knows these finds the record, and what is released beside them.",
        "Keep fewer or coarser columns where that matters.",
        {"share": unique.share, "columns": ", ".join(unique.columns)},
    )
