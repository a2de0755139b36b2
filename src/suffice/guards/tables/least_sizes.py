"""Adjusted cells at exactly their protection level."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.risk.tables import TableRisk


def least_sizes(risk: TableRisk) -> Finding | None:
    """Sensitive cells that change by their level and no more: stop. Who adjusts the table again has them all.

    That each could as well have gone the other way protects nothing: all directions turned at once are as good an
    adjustment, and one of the two is found.
    """
    if not risk.facts.get("least"):
        return None
    return Finding(
        "least-sizes",
        "stop",
        "Sensitive cells change by exactly their protection level: two candidates are left for each, and who adjusts "
        "the table again finds all of them in about half of tables.",
        "Let the sizes be drawn.",
    )
