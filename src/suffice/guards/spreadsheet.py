"""Names that a spreadsheet takes for formulas."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed
from suffice.risk.facts import Facts

SIGNS = ("=", "+", "-", "@")


def spreadsheet(facts: Facts) -> Finding | None:
    """Column names that start with = + - @: warn. The release is never altered for a spreadsheet."""
    names = [name for name in facts.columns if name.startswith(SIGNS)]
    if not names:
        return None
    return Finding(
        "spreadsheet",
        "warn",
        f"{count(len(names), 'column name')} that a spreadsheet may run as a formula: {listed(map(repr, names))}.",
        "Rename the column.",
        {"columns": len(names)},
    )
