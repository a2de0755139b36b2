"""Records released with their own confidential values."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.risk.assessment import Assessment


def copies(risk: Assessment) -> Finding | None:
    """One copy or more: stop. Constant columns, records of zeros and shared values are not copies."""
    if risk.copies == 0:
        return None
    n = risk.freedom.n
    return Finding(
        "copies",
        "stop",
        f"{count(risk.copies, 'record')} of {n:,} ({share(risk.copies, n)}) released with the "
        "original values in all confidential columns.",
        "Ask for a smaller correlation with the original; see whether the given terms explain these records.",
        {"copies": risk.copies, "records": n},
    )
