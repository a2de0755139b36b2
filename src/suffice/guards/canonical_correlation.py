"""Some combination of the released residuals follows some combination of the original ones."""

from __future__ import annotations

from math import asin, exp, log, pi, sin, sqrt, tan

from scipy.special import betaincinv

from suffice.facts import Facts
from suffice.guard import Finding, Level
from suffice.guards.residual_correlation import largest
from suffice.guards.wording import listed

STOP, WARN = 0.9, 0.7
ALIKE = 1e-6
"""A canonical correlation this near to the largest d says nothing new."""
TRACY_WIDOM = 3.2724
"""The 99.9 % point of Tracy and Widom's law of order 1."""


def canonical_correlation(facts: Facts) -> Finding | None:
    """Largest canonical correlation of original and released residuals, above its null: > .9 stop, > .7 warn.

    It sees kept components, which distances between records do not. The null is a 99.9 % point, so that few
    records do not cry wolf: of random permutations of the released rows, for heavy tails, and, if that is higher,
    of new residuals in the nu dimensions that X leaves (of the effective n, with weights). Methods that carry
    nothing over are judged too: bad luck gives as much away as intent.
    """
    records = facts.n if facts.effective is None else int(facts.effective)  # weights leave fewer dimensions
    null = max(facts.canonical_null, chance(facts.residual_rank, records - facts.rank))
    level = _level(facts, null)
    if level is None:
        return None
    numbers = {"canonical": facts.canonical, "null": null}
    return Finding("canonical-correlation", level, _message(facts, null, level), _remedy(level), numbers)


def chance(k: int, nu: int) -> float:
    """The 99.9 % point of the largest canonical correlation of k columns and k new ones in nu dimensions.

    One column: exact, the square is Beta(1/2, (nu - 1)/2). More: Johnstone (2008), Multivariate analysis and
    Jacobi ensembles, Annals of Statistics 36, theorem 1: the logit of the square is mu + sigma F, F of Tracy and
    Widom's law of order 1; here p = n = k, m = nu - k, so that the two angles are equal.

    >>> round(chance(1, 100), 3), round(chance(10, 30), 2), chance(10, 19)  # simulated: .322, .98, 1
    (0.323, 0.98, 1.0)
    """
    if k == 0 or nu < 2 * k:
        return float(k > 0)
    if k == 1:
        return sqrt(float(betaincinv(0.5, (nu - 1) / 2, 0.999)))
    angle = 2 * asin(sqrt((k - 0.5) / (nu - 1)))
    if 2 * angle >= pi:
        return 1.0
    mu = 2 * log(tan(angle))
    sigma = (16 / (nu - 1) ** 2 / (sin(2 * angle) * sin(angle)) ** 2) ** (1 / 3)
    return sqrt(1 / (1 + exp(-mu - sigma * TRACY_WIDOM)))


def _level(facts: Facts, null: float) -> Level | None:
    if facts.canonical <= null:
        return "note" if null > WARN else None
    if facts.canonical <= largest(facts) + ALIKE:  # the residual-correlation rule has said so
        return None
    return "stop" if facts.canonical > STOP else "warn" if facts.canonical > WARN else None


def _message(facts: Facts, null: float, level: Level) -> str:
    if level == "note":
        return (
            f"With {facts.residual_rank} residual columns and {facts.nu} degrees of freedom even unrelated residuals "
            f"reach a canonical correlation of {null:.2f}: this rule cannot tell."
        )
    return (
        f"A combination of the released residuals correlates {facts.canonical:.3f} with one of the original "
        f"residuals (unrelated residuals: below {null:.2f}), most of all in {listed(facts.alike_columns) or 'all'}."
    )


def _remedy(level: Level) -> str:
    if level == "note":
        return "Protect fewer columns together, use fewer given terms, or more records."
    return "Use IPSO, a smaller correlation, or another key if the method carries nothing over."
