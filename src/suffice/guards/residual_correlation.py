"""The released residuals were asked to follow the original ones."""

from __future__ import annotations

from math import sqrt

from suffice.guards.finding import Finding
from suffice.guards.wording import share
from suffice.risk.facts import Facts

STOP, WARN = 0.9, 0.7


def residual_correlation(facts: Facts) -> Finding | None:
    """The largest |d| of a hybrid: > .9 stop, > .7 warn. A negative d gives as much away.

    Given the release, the original residual is known up to sqrt(1 - d^2) of its standard deviation. Where each
    released value is that of a group, its records hide each other: the sizes of the groups are judged instead.
    """
    d = largest(facts)
    if not d > WARN or facts.shared:
        return None
    left = sqrt(max(0.0, 1 - d * d))
    return Finding(
        "residual-correlation",
        "stop" if d > STOP else "warn",
        f"Released residuals follow the original ones with a correlation of {d:.3f}: "
        f"{share(left)} of a residual standard deviation stays uncertain.",
        f"Ask for a correlation of at most {WARN}, or use IPSO.",
        {"d": d, "uncertain": left},
    )


def largest(facts: Facts) -> float:
    """The largest |d| asked for; where a method has no d and carries residuals over, the largest achieved."""
    asked = [abs(d) for d in facts.d if d is not None]
    if asked or facts.independent:
        return max(asked, default=0.0)
    return max((abs(r) for r in facts.correlations), default=0.0)
