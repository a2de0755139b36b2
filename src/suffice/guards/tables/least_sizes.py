"""Adjusted cells at exactly their protection level."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk

NEAR = 1 / 8
"""Of what sizes are drawn from: where they are drawn from less than this part of it, who knows the level has them."""


def least_sizes(risk: TableRisk) -> Finding | None:
    """Sensitive cells that change by their level and no more: stop. Who adjusts the table again has them all.

    Where sizes are drawn, single cells that had no room to be drawn: warn. Chance gives none. Sizes that were drawn
    nearer to the levels, since exact moments had no room for others: warn; so near that drawing hides little: stop.

    That each could as well have gone the other way protects nothing: all directions turned at once are as good an
    adjustment, and one of the two is found.
    """
    cells = int(risk.facts.get("at_level", 0))
    reach = risk.facts.get("reach", 1.0)
    if reach < 1:
        return _nearer(reach)
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


def _nearer(reach: float) -> Finding:
    return Finding(
        "least-sizes",
        "stop" if reach < NEAR else "warn",
        "Exact moments had no room for sizes up to half above the protection levels, and all were drawn from the first "
        f"{reach:.2g} of that: who knows a level and the direction has the cell that much nearer.",
        "Raise q or the capacities, fix fewer cells, or keep fewer statistics.",
    )
