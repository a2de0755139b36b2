"""Records released with their own confidential values."""

from __future__ import annotations

from math import exp, lgamma, log, sqrt

from suffice.guards.finding import Finding
from suffice.guards.leverage import NEVER, leverage_remedy
from suffice.guards.wording import count, share
from suffice.risk.assessment import Assessment

RARE = 0.001
"""As many copies as are found less often than this by chance are no chance."""
MANY = 100.0
"""Expected copies from which on their number is nearly normal."""
TOLD = 2.0
"""What is given tells something of whole numbers: own values are met so many times as often as another's."""


def copies(risk: Assessment) -> Finding | None:
    """More copies than chance makes: stop. Constant columns, records of zeros and shared values are not copies.

    Whole numbers meet their own values as they meet another's. Where each released value is that of a group, one of
    its records may have it, and nobody can tell which: the sizes of the groups are judged instead.
    """
    if risk.copies == 0 or risk.request.shared or _beyond(risk.copies, TOLD * risk.copies_by_chance) >= RARE:
        return None
    n = risk.freedom.n
    return Finding(
        "copies",
        "stop",
        f"{count(risk.copies, 'record')} of {n:,} ({share(risk.copies, n)}) released with the "
        "original values in all confidential columns.",
        _remedy(risk),
        {"copies": risk.copies, "records": n, "chance": risk.copies_by_chance},
    )


def _remedy(risk: Assessment) -> str:
    """At a leverage of one what is given decides a record, whatever the correlation."""
    if risk.leverage.highest >= NEVER:
        return leverage_remedy(risk)
    return "Ask for a smaller correlation with the original; see whether the given terms explain these records."


def _beyond(found: int, expected: float) -> float:
    """How often a Poisson count is as large as this."""
    if expected <= 0 or expected > MANY or found > 4 * expected + 40:
        return float(found <= expected + 3.1 * sqrt(max(expected, 0.0)))
    return max(0.0, 1 - sum(exp(i * log(expected) - expected - lgamma(i + 1)) for i in range(found)))
