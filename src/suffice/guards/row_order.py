"""The place of a record in the release tells its place in the original."""

from __future__ import annotations

from math import sqrt

from suffice.guards.finding import Finding
from suffice.risk.assessment import Assessment

SIGMAS = 5.0
FEWEST = 30
"""Below this a shuffled file is often in order by chance."""


def row_order(risk: Assessment) -> Finding | None:
    """Correlation of places over 5/sqrt(n), n >= 30: stop. A sorted file leaks ranks through every method."""
    if risk.freedom.n < FEWEST or abs(risk.order.correlation) <= SIGMAS / sqrt(risk.order.places or risk.freedom.n):
        return None
    return Finding(
        "row-order",
        "stop",
        f"The records stand in their original order (correlation of places {risk.order.correlation:.3f}).",
        "Release the shuffled rows (release.frame, release.write).",
        {"order": risk.order.correlation, "records": risk.freedom.n},
    )
