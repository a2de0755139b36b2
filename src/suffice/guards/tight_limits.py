"""Bounds and edits that tell a confidential column."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, told_of
from suffice.risk.assessment import Assessment


def tight_limits(risk: Assessment) -> Finding | None:
    """The middle is within 5 % of half of the values beyond chance, or explains 99 %: stop; a quarter, 95 %: warn."""
    if not risk.told_by_limits:
        return None
    away = [told for told in risk.told_by_limits if told.given_away]
    worst = max(risk.told_by_limits, key=lambda told: (told.given_away, told.gain, told.r2))
    return Finding(
        "tight-limits",
        "stop" if away else "warn",
        f"The edits leave hardly any room to {listed(map(told_of, away or risk.told_by_limits))}: who knows the given "
        "columns knows the middle.",
        "Widen these edits, or drop the one on one side.",
        {"column": worst.column, "r2": worst.r2, "near": worst.near, "chance": worst.chance},
    )
