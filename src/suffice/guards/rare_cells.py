"""Tables that a draw goes by, and what their rare cells tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed

if TYPE_CHECKING:
    from suffice.risk.assessment import Assessment


def rare_cells(risk: Assessment) -> Finding | None:
    """A record that is told by all columns of a kept table but one, or by the difference of two tables: stop. Cells
    of one or two that tell none: warn. Records that are told so together with others: note.

    Whoever knows the other columns of such a record reads the last one off the table. A rare cell whose parts are
    common says that there is such a record, and of nobody what he has.
    """
    rare = {name: cells for name, (cells, _) in risk.rare.tables.items() if cells}
    told = {name: records for name, (_, records) in risk.rare.tables.items() if records}
    alike = {name: records for name, records in risk.rare.alike.items() if records}
    if risk.rare.nested and not told:
        return _nested(risk.rare.nested)
    if not rare and not told:
        return _alike(alike) if alike else None
    what = "Leave the table out, keep tables of fewer of its columns, or join its rare values first"
    if risk.rare.instead:
        keep = " + ".join("*".join(table) for table in risk.rare.instead)
        what = f"Keep smaller tables, which tell nobody (keep={keep}), or join rare values of these first"
    figures = {"cells": sum(rare.values()), "told": max(told.values(), default=0)}
    if told:
        known = f"{count(figures['told'], 'record')} told by {listed(told)}: all columns but one are theirs alone"
        return Finding("rare-cells", "stop", f"{known}, and the table says the last one.", f"{what}.", {**figures})
    said = f"{count(figures['cells'], 'cell')} of one or two records in {listed(rare)}."
    return Finding("rare-cells", "warn", said, f"{what}, if it must not be known that there are such.", {**figures})


def _nested(tables: Mapping[str, int]) -> Finding:
    records = max(tables.values())
    return Finding(
        "rare-cells",
        "stop",
        f"{count(records, 'record')} told by {listed(tables)}: classes of one lie inside the other's but for it.",
        "Keep one of the two tables, or classes that are the same or differ by more records.",
        {"cells": 0, "told": records},
    )


def _alike(tables: Mapping[str, int]) -> Finding:
    records = max(tables.values())
    return Finding(
        "rare-cells",
        "note",
        f"{count(records, 'record')} told by {listed(tables)}, each with others: all who share all columns but one "
        "share that one, and the table says so.",
        "Join levels, or keep tables of fewer columns, unless this follows from what the columns mean.",
        {"alike": records},
    )
