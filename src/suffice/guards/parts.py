"""Which records were protected apart shows in the release."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.risk.assessment import Assessment

WARN = 0.7


def parts(risk: Assessment) -> Finding | None:
    """The area under the curve by which distances tell the two parts: > .7 warn."""
    if not risk.told_apart > WARN:
        return None
    return Finding(
        "parts",
        "warn",
        f"Which records were protected apart can be told from their distances: of an outlying and another record the "
        f"farther one is the outlying in {100 * risk.told_apart:.0f} % of the cases.",
        "Each part keeps its own mean and covariance: if who is outlying is confidential, protect all together.",
        {"area": risk.told_apart},
    )
