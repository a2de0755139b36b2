"""A record that decides its own fitted value: what is kept gives it away."""

from __future__ import annotations

from suffice.guards.finding import Finding, Severity
from suffice.guards.wording import beyond, count, share
from suffice.risk.assessment import Assessment

NEVER, STOP, WARN = 0.999, 0.5, 0.2
ROUNDING = 1e-9
"""A cell of two has h = 1/2, one of five 1/5, up to the last digits: the first stops, the second is free."""


def leverage(risk: Assessment) -> Finding | None:
    """The largest leverage h of sqrt(w) X: from .999 on never, from .5 on stop, above .2 warn.

    A fitted value moves by h times a change of its own record; h = 1 says that the record's confidential
    values are a linear function of the statistics that are kept, whatever the method. At h = 1/2 they
    are that for the other record of a pair. Where a unit is named, all records of a unit count together.
    """
    found = risk.leverage
    level = level_of(found.highest)
    if level is None:
        return _by_records() if found.unjudged else None
    records, bound = _worst(found.counts, level)
    noun, of = ("unit", found.units) if found.units else ("record", risk.freedom.n)
    return Finding(
        "leverage",
        level,
        f"{count(records, noun)} of {of:,} ({share(records, of)}) with a leverage {bound}, "
        f"the largest {beyond(found.highest, WARN)}, by {found.term or 'the given terms and groups'}: "
        f"{MEANING[level]}.",
        leverage_remedy(risk),
        {"leverage": found.highest, f"{noun}s": records, "term": found.term},
    )


def leverage_remedy(risk: Assessment) -> str:
    term, request = risk.leverage.term, risk.request
    groups = f"Join or drop small groups ({request.joined_by}); j" if request.joined_by else "J"
    enough = 5 if risk.weights.effective is None else 10  # of weighted records one has more than its share
    below = f"oin small categories (merge_below={max(enough, 2 * request.merged)})"
    return f"{groups}{below}, take log() of a skewed column, or drop {term or 'a term'}."


def _by_records() -> Finding:
    return Finding(
        "leverage",
        "note",
        "Groups and given terms are too many for the leverage of units: it was judged by records.",
        "Use fewer groups, or fewer given terms.",
    )


MEANING = {
    "never": "what is kept gives their confidential values exactly",
    "stop": "what is kept says more about them than their release hides",
    "warn": "what is kept says much about them",
}


def level_of(largest: float) -> Severity | None:
    """The level of a leverage, alone or stacked."""
    if largest >= NEVER:
        return "never"
    if largest > STOP - ROUNDING:
        return "stop"
    return "warn" if largest > WARN + ROUNDING else None


def _worst(counts: tuple[int, int, int], level: Severity) -> tuple[int, str]:
    place = {"warn": 0, "stop": 1, "never": 2}[level]
    return max(1, counts[place]), ("above .2", "from .5 on", "from .999 on")[place]
