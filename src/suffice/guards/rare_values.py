"""Values of one record that models hand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed

if TYPE_CHECKING:
    from suffice.risk.assessment import Assessment


def rare_values(risk: Assessment) -> Finding | None:
    """Numbers that one record has and that are drawn as they are; categories that are names: stop."""
    handed, names = risk.models.handed, risk.models.names
    if not handed and not names:
        return None
    values = sum(handed.values())
    told = [f"{count(values, 'value')} of one record can be drawn as they are in {listed(handed)}"] if handed else []
    told += [f"most levels of {listed(names)} are those of one or two records"] if names else []
    heals = ["let trees draw them between their neighbours (smooth=true), or join values if there are few"] * bool(
        handed
    )
    heals += ["name it as identifier, or join its levels first"] if names else []
    figures = {"values": values, "columns": len(handed) + len(names)}
    return Finding("rare-values", "stop", f"{'; '.join(told)}.", f"{'; '.join(heals).capitalize()}.", figures)
