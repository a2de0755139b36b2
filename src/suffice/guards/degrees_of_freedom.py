"""Too few residual directions: few releases keep the covariance, and the truth is one of them."""

from __future__ import annotations

from suffice.facts import Facts
from suffice.guard import Finding, Level
from suffice.guards.wording import count

NEVER, STOP, WARN = 1, 5, 10


def degrees_of_freedom(facts: Facts) -> Finding | None:
    """nu = n - rank X where a covariance is kept: <= 1 never, < 5 stop, < max(10, rank E + 1) warn.

    At nu = 1 the only releases are +E and -E; at nu = 2, 3, 5, 10 the median correlation of release and truth
    is .71, .45, .31, .23 by chance alone.
    """
    level = _level(facts)
    if "covariance" not in facts.promises or level is None:
        return None
    meaning = (
        "the release is the original up to a sign" if level == "never" else "a release lies near the original by chance"
    )
    return Finding(
        "degrees-of-freedom",
        level,
        f"{count(facts.n, 'record')} and {count(facts.rank, 'independent given column')} leave "
        f"{count(facts.nu, 'degree')} of freedom for {count(facts.residual_rank, 'residual')}: {meaning}.",
        "Use fewer given terms, join small categories (merge_below), or protect more records together.",
        {"nu": facts.nu, "records": facts.n, "rank": facts.rank, "residual_rank": facts.residual_rank},
    )


def _level(facts: Facts) -> Level | None:
    if facts.nu <= NEVER:
        return "never"
    if facts.nu < STOP:
        return "stop"
    return "warn" if facts.nu < max(WARN, facts.residual_rank + 1) else None
