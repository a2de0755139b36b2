"""Confidential values that stand beside themselves in a column that leaves as it is."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.assessment import Assessment
from suffice.risk.equal_cells import EqualCells


def equal_cells(risk: Assessment) -> Finding | None:
    """Beyond chance, 5 % of the records with the same value in both columns, or 10 % with one ratio: stop."""
    if not risk.equal:
        return None
    worst = max(risk.equal, key=lambda found: found.share)
    return Finding(
        "equal-cells",
        "stop",
        f"Confidential values leave in another column: {listed(map(_said, risk.equal))}.",
        "Name the other column as confidential too, leave it out, or give classes of it: C().",
        {"column": worst.column, "beside": worst.beside, "records": worst.records, "share": worst.share},
    )


def _said(found: EqualCells) -> str:
    how = "times one factor" if found.scaled else "as it is"
    return f"{found.column} in {found.beside}, {how}, in {share(found.share)} of the records"
