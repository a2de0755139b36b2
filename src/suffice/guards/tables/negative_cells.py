"""Negative numbers where none can be."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk


def negative_cells(risk: TableRisk) -> Finding | None:
    """Suppressed cells that are filled with a negative number: a note. Clipped, nothing would add up."""
    if not risk.negative:
        return None
    return Finding(
        "negative-cells",
        "note",
        f"{count(risk.negative, 'suppressed cell')} filled with a negative number, where no cell is negative.",
        "Tell the users, or publish crosses.",
        {"cells": risk.negative},
    )
