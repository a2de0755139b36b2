"""Names that a spreadsheet takes for formulas."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed
from suffice.risk.assessment import Assessment

SIGNS = ("=", "+", "-", "@")


def spreadsheet(risk: Assessment) -> Finding | None:
    """Column names that start with = + - @: warn. The release is never altered for a spreadsheet."""
    names = [name for name in risk.request.columns if name.startswith(SIGNS)]
    if not names:
        return None
    return Finding(
        "spreadsheet",
        "warn",
        f"{count(len(names), 'column name')} that a spreadsheet may run as a formula: {listed(map(repr, names))}.",
        "Rename the column.",
        {"columns": len(names)},
    )
