"""The released residuals were asked to follow the original ones."""

from __future__ import annotations

from math import sqrt

from suffice.guards.finding import Finding
from suffice.guards.wording import beyond, share
from suffice.risk.assessment import Assessment

STOP, WARN = 0.9, 0.7
FURTHER = "Let the method move records further (a smaller correlation, a larger p, more noise), or use IPSO."
"""What heals where the method was told no correlation with the original."""
ALIKE = 1e-6
"""Correlations this near to each other are one."""


def residual_correlation(risk: Assessment) -> Finding | None:
    """The largest |d| of a hybrid: > .9 stop, > .7 warn. A negative d gives as much away.

    Given the release, the original residual is known up to sqrt(1 - d^2) of its standard deviation. Where each
    released value is that of a group, its records hide each other: the sizes of the groups are judged instead.
    """
    d = largest(risk)
    if not d > WARN or risk.request.shared:
        return None
    left = sqrt(max(0.0, 1 - d * d))
    return Finding(
        "residual-correlation",
        "stop" if d > STOP else "warn",
        f"Released residuals follow the original ones with a correlation of {beyond(d, WARN)}: "
        f"{share(left)} of a residual standard deviation stays uncertain.",
        f"Ask for a correlation of at most {WARN}, or use IPSO." if risk.request.d else FURTHER,
        {"d": d, "uncertain": left},
    )


def largest(risk: Assessment) -> float:
    """The largest |d| asked for, or achieved where residuals are carried over without one, or by some parts so."""
    asked = max(risk.request.d_told, default=0.0)
    if risk.request.independent or (asked and not risk.request.parts):
        return asked
    achieved = max((abs(r) for r in risk.resemblance.correlations), default=0.0)
    return achieved if achieved > asked + ALIKE else asked
