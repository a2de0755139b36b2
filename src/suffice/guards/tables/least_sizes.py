"""Adjusted cells at exactly their protection level."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk


def least_sizes(risk: TableRisk) -> Finding | None:
    """Sensitive cells that change by their level and no more: stop. Who adjusts the table again has them all.

    Where sizes are drawn, single cells that had no room to be drawn: warn. Chance gives none.

    That each could as well have gone the other way protects nothing: all directions turned at once are as good an
    adjustment, and one of the two is found.
    """
    cells = int(risk.facts.get("at_level", 0))
    if not risk.facts.get("least"):
        return _few(cells) if cells else None
    return Finding(
        "least-sizes",
        "stop",
        "Sensitive cells change by exactly their protection level: two candidates are left for each, and who adjusts "
        "the table again finds all of them in about half of tables.",
        "Let the sizes be drawn.",
    )


def _few(cells: int) -> Finding:
    return Finding(
        "least-sizes",
        "warn",
        f"{count(cells, 'sensitive cell')} changed by exactly the protection level, or q times it: "
        "who knows the level has few candidates.",
        "Raise the capacities or q, or fix fewer cells.",
        {"cells": cells},
    )
