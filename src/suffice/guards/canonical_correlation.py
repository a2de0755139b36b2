"""Some combination of the released residuals follows some combination of the original ones."""

from __future__ import annotations

from suffice.facts import Facts
from suffice.guard import Finding, Level
from suffice.guards.residual_correlation import largest

STOP, WARN = 0.9, 0.7
ALIKE = 1e-6
"""A canonical correlation this near to the largest d says nothing new."""


def canonical_correlation(facts: Facts) -> Finding | None:
    """Largest canonical correlation of original and released residuals, above its null: > .9 stop, > .7 warn.

    It sees kept components, which distances between records do not. The null is the 99.9 % point over random
    permutations of the released rows, so that heavy tails and few records do not cry wolf. Methods that carry
    nothing over are judged too: bad luck gives as much away as intent.
    """
    level = _level(facts)
    if level is None:
        return None
    return Finding("canonical-correlation", level, _message(facts, level), _remedy(level), _numbers(facts))


def _level(facts: Facts) -> Level | None:
    if facts.canonical <= facts.canonical_null:
        return "note" if facts.canonical_null > WARN else None
    if facts.canonical <= largest(facts) + ALIKE:  # the residual-correlation rule has said so
        return None
    return "stop" if facts.canonical > STOP else "warn" if facts.canonical > WARN else None


def _message(facts: Facts, level: Level) -> str:
    if level == "note":
        return (
            f"With {facts.residual_rank} residual columns and {facts.nu} degrees of freedom even unrelated "
            f"residuals reach a canonical correlation of {facts.canonical_null:.2f}: this rule cannot tell."
        )
    return (
        f"A combination of the released residuals correlates {facts.canonical:.3f} with one of the original "
        f"residuals (unrelated residuals: below {facts.canonical_null:.2f})."
    )


def _remedy(level: Level) -> str:
    if level == "note":
        return "Protect fewer columns together, use fewer given terms, or more records."
    return "Use IPSO, a smaller correlation, or another key if the method carries nothing over."


def _numbers(facts: Facts) -> dict[str, float | int | str]:
    return {"canonical": facts.canonical, "null": facts.canonical_null}
