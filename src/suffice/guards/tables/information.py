"""Statistics of an adjusted table that tell its whole numbers."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.risk.tables import TableRisk

LEAST = 20.0
"""Bits that changes could leave open at best, where every key leaves a thousand tables: 10 bits."""


def information(risk: TableRisk) -> Finding | None:
    """Exact slopes or second moments, with few changed cells that are known to be whole numbers: stop.

    Who tries all whole numbers that keep the equations finds few tables with these statistics, or the one. An
    adjustment changes more cells for that; here bounds, capacities or fixed cells leave no room, or cells are few.
    Judged is the request: what changes leave open where all cells use their room, and not those of a key.
    """
    left = risk.facts.get("bits_left", float("inf"))
    if left >= LEAST:
        return None
    return Finding(
        "information",
        "stop",
        "Changed cells show by their digits, and statistics that are kept exactly leave few tables of whole numbers, "
        "or the original alone.",
        "Keep means only, ask for whole numbers (whole: statistics are near, not exact), or let more cells change: "
        "larger capacities, fewer fixed cells, larger sets.",
    )
