"""Records that a release tells apart from those that were never in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.guards.finding import Finding
from suffice.guards.wording import share

if TYPE_CHECKING:
    from suffice.risk.assessment import Assessment

TOLD, NOTICEABLE = 0.03, 4.0
"""Share of the members that is too much where 1 % of others are taken for some; standard deviations beyond chance."""


def membership(risk: Assessment) -> Finding | None:
    """More than 3 % of the members told at 1 % false alarms, beyond chance, by trials with a hold-out: warn."""
    models = risk.models
    if models.found <= max(TOLD, 0.01 + NOTICEABLE * models.sd):
        return None
    return Finding(
        "membership",
        "warn",
        f"{share(models.found)} of the records that trial files were drawn from are told to be behind them where 1 % "
        "of others are.",
        "Ask for larger leaves (models = cart:least=20), which alone lower it, or fewer columns.",
        {"found": round(models.found, 3)},
    )
