"""Digits that the numbers cannot hold."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.assessment import Assessment

NEVER, WARN = 1e-4, 1e-8


def precision(risk: Assessment) -> Finding | None:
    """eps max|y| / sd, what rounding alone does to a value: > 1e-8 warn, > 1e-4 never."""
    wide = {name: lost for name, lost in risk.precision.items() if lost > WARN}
    if not wide:
        return None
    worst = max(wide.values())
    return Finding(
        "precision",
        "never" if worst > NEVER else "warn",
        f"{listed(wide)}: large beside the standard deviation, so that digits end at {worst:.0e} of it "
        "and statistics agree no better than that.",
        "Subtract an offset first.",
        wide,
    )
