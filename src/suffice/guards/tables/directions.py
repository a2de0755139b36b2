"""Adjusted cells whose directions can be known."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk


def directions(risk: TableRisk) -> Finding | None:
    """Sensitive cells that go up only, or down only, or as costs least: warn.

    Who knows the bounds, or that a level is more than its cell, need not guess. Of directions that cost least, who
    knows one cell has three of four others, where chance is one of two; alone they are worth what chance is, so that
    it is no stop.
    """
    cells, least = int(risk.facts.get("one_way", 0)), bool(risk.facts.get("least_cost"))
    if not cells and not least:
        return None
    single = (
        f"{count(cells, 'sensitive cell')} could go in one direction only, which who knows its bounds need not guess."
    )
    pairs = "Directions are those that cost least: who knows one sensitive cell has about three of four others'."
    return Finding(
        "directions",
        "warn",
        " ".join([single] * bool(cells) + [pairs] * least),
        "; ".join(
            ["Raise q, give such cells levels that are less than they are, or publish a coarser table"] * bool(cells)
            + ["Take --signs ordering where contributors know single cells: changes are a quarter larger"] * least
        )
        + ".",
        {"cells": cells},
    )
