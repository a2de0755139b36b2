"""Rare combinations of values that come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share

if TYPE_CHECKING:
    from suffice.risk.assessment import Assessment

LEAST = 10
"""Records alone in the release, at least, for a share of them to say something."""
MOST, MANY = 0.5, 0.3
"""Of what chance would leave."""


def replicated_records(risk: Assessment) -> Finding | None:
    """Half of the records that are alone in the release are so in the original, too, beyond chance: stop; .3: warn."""
    rare = risk.rare
    if rare.released < LEAST or rare.beyond <= MANY:
        return None
    return Finding(
        "replicated-records",
        "stop" if rare.beyond > MOST else "warn",
        f"{count(rare.again, 'record')} of {rare.released:,} that are alone with their values in the release "
        f"({share(rare.again, rare.released)}, {share(rare.chance)} by chance) stand in the original just so.",
        "Keep tables of fewer columns, so that what joins the others is drawn; of trees, ask for larger leaves.",
        {"again": rare.again, "alone": rare.released, "chance": rare.chance},
    )
