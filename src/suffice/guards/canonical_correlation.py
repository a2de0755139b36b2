"""Some combination of the released residuals follows some combination of the original ones."""

from __future__ import annotations

from suffice.algebra.canonical import chance
from suffice.guards.finding import Finding, Severity
from suffice.guards.residual_correlation import largest
from suffice.guards.wording import listed
from suffice.risk.facts import Facts

STOP, WARN = 0.9, 0.7
ALIKE = 1e-6
"""A canonical correlation this near to the largest d says nothing new."""


def canonical_correlation(facts: Facts) -> Finding | None:
    """Largest canonical correlation of original and released residuals, above its null: > .9 stop, > .7 warn.

    It sees kept components, which distances between records do not. The null is a 99.9 % point, so that few
    records do not cry wolf: of random permutations of the released rows, for heavy tails, and, if that is higher,
    of new residuals in the nu dimensions that X leaves (of the effective n, with weights). Methods that carry
    nothing over are judged too: bad luck gives as much away as intent. Where each released value is that of a
    group of records, the sizes of the groups are judged instead.
    """
    if facts.shared:
        return None
    records = facts.n if facts.effective is None else int(facts.effective)  # weights leave fewer dimensions
    null = max(facts.canonical_null, chance(facts.residual_rank, records - facts.rank))
    level = _level(facts, null)
    if level is None:
        return None
    numbers = {"canonical": facts.canonical, "null": null}
    return Finding("canonical-correlation", level, _message(facts, null, level), _remedy(level), numbers)


def _level(facts: Facts, null: float) -> Severity | None:
    if facts.canonical <= null:
        return "note" if null > WARN else None
    if facts.canonical <= largest(facts) + ALIKE:  # the residual-correlation rule has said so
        return None
    return "stop" if facts.canonical > STOP else "warn" if facts.canonical > WARN else None


def _message(facts: Facts, null: float, level: Severity) -> str:
    if level == "note":
        return (
            f"With {facts.residual_rank} residual columns and {facts.nu} degrees of freedom even unrelated residuals "
            f"reach a canonical correlation of {null:.2f}: this rule cannot tell."
        )
    return (
        f"A combination of the released residuals correlates {facts.canonical:.3f} with one of the original "
        f"residuals (unrelated residuals: below {null:.2f}), most of all in {listed(facts.alike_columns) or 'all'}."
    )


def _remedy(level: Severity) -> str:
    if level == "note":
        return "Protect fewer columns together, use fewer given terms, or more records."
    return "Use IPSO, a smaller correlation, or another key if the method carries nothing over."
