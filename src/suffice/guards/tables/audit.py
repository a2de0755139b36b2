"""What anybody, and contributors of the cells, can compute of the suppressed cells."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed
from suffice.risk.tables import TableRisk


def audit(risk: TableRisk) -> Finding | None:
    """A sensitive cell, or a sum of suppressed ones, that can be told too well: stop. So does what was not judged."""
    exposed = {name: len(each.exposed) for name, each in risk.audits.items() if each is not None and each.exposed}
    open_ = [name for name, each in risk.audits.items() if each is None or not (each.holds or each.exposed)]
    if not exposed and not open_:
        return None
    told = [f"{count(number, 'cell')} or sums of {name} can be told too well" for name, number in exposed.items()]
    told += [f"{listed(open_)} was not judged in full, and what is not judged is not safe"] if open_ else []
    return Finding(
        "audit",
        "stop",
        f"{'; '.join(told)}.",
        "Suppress more cells around them, or publish a coarser table."
        if exposed
        else "Give rules for every value, and the records behind the cells.",
        {"exposed": sum(exposed.values()), "unjudged": len(open_)},
    )
