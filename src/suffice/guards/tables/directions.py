"""Adjusted cells that could go in one direction only."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk


def directions(risk: TableRisk) -> Finding | None:
    """Sensitive cells that bounds let go up only, or down only: warn. Who knows the bounds need not guess."""
    cells = int(risk.facts.get("one_way", 0))
    if not cells:
        return None
    return Finding(
        "directions",
        "warn",
        f"{count(cells, 'sensitive cell')} could go in one direction only, which who knows its bounds need not guess.",
        "Raise q, or publish a coarser table.",
        {"cells": cells},
    )
