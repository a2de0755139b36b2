"""Names and codes that a spreadsheet takes for formulas."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.spreadsheet import SIGNS
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk


def spreadsheet(risk: TableRisk) -> Finding | None:
    """Names and codes that start with = + - @ and are no numbers: warn. The file is never altered for a spreadsheet."""
    names = [name for name in risk.names if name.startswith(SIGNS) and not name[1:].replace(".", "").isdigit()]
    if not names:
        return None
    return Finding(
        "spreadsheet",
        "warn",
        f"{count(len(names), 'name or code')} that a spreadsheet may run as a formula.",
        "Rename them.",
        {"names": len(names)},
    )
