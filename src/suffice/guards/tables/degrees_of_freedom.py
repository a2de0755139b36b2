"""Suppressed cells that few numbers decide."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk

FEW = 3


def degrees_of_freedom(risk: TableRisk) -> Finding | None:
    """Suppressed cells that hang together, with fewer than 3 dimensions left: warn; after a modulo operation: stop.

    Decimals tell nothing that published cells do not, whatever their dimensions; but who knows one cell of a set with
    one dimension has all of it. After a modulo operation they do tell, and few candidates are left.
    """
    few = [each for each in risk.freedom if each < FEW]
    if not few:
        return None
    known = count(max(min(few), 1), "cell")
    return Finding(
        "degrees-of-freedom",
        "stop" if risk.rounded is not None else "warn",
        f"{count(len(few), 'set')} of suppressed cells that hang together: who knows {known} of the tightest one "
        "has all of it.",
        "Suppress more cells around them, and leave a modulo operation out.",
        {"sets": len(few), "fewest": min(few)},
    )
