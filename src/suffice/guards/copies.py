"""Records released with their own confidential values."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.risk.facts import Facts


def copies(facts: Facts) -> Finding | None:
    """One copy or more: stop. Constant columns, records of zeros and shared values are not copies."""
    if facts.copies == 0:
        return None
    return Finding(
        "copies",
        "stop",
        f"{count(facts.copies, 'record')} of {facts.n:,} ({share(facts.copies, facts.n)}) released with the "
        "original values in all confidential columns.",
        "Ask for a smaller correlation with the original; see whether the given terms explain these records.",
        {"copies": facts.copies, "records": facts.n},
    )
