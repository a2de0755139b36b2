"""Leaves of trees with few records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.guards.finding import Finding
from suffice.guards.wording import count

if TYPE_CHECKING:
    from suffice.risk.assessment import Assessment

FEWEST, FEW = 3, 10


def leaf(risk: Assessment) -> Finding | None:
    """Values drawn from fewer than 3 different records: stop; fewer than 10: warn."""
    size = risk.models.leaf
    if size is None or size >= FEW:
        return None
    return Finding(
        "leaf",
        "stop" if size < FEWEST else "warn",
        f"A leaf of a tree has {count(size, 'different record')}: who is known to be in it has one of their values.",
        "Ask for larger leaves, models = cart:least=10 or more, or leave out columns that few records have.",
        {"leaf": size},
    )
