"""What several releases of the same records keep, taken together."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.leverage import level_of
from suffice.guards.wording import count
from suffice.risk.facts import Facts

MORE = 1e-6
"""Below this the earlier releases add nothing to the leverage of this one."""


def stacked_leverage(facts: Facts) -> Finding | None:
    """The leverage in all given terms of this and earlier releases: the levels of the leverage rule.

    Two releases with groups of 33 and more each can single out one record together: h = 1.
    """
    level = level_of(facts.stacked_leverage)
    if level is None or facts.stacked_leverage <= facts.leverage + MORE:
        return _untold(facts) if facts.unstacked else None
    return Finding(
        "stacked-leverage",
        level,
        f"With the given terms of {count(len(facts.earlier), 'earlier release')} of these columns the "
        f"largest leverage is {facts.stacked_leverage:.3f} (this release alone: {facts.leverage:.3f}).",
        "Give terms that were given before, so that nothing new is kept, or coarser ones.",
        {"leverage": facts.stacked_leverage, "alone": facts.leverage, "releases": len(facts.earlier)},
    )


def _untold(facts: Facts) -> Finding:
    return Finding(
        "stacked-leverage",
        "note",
        f"{count(facts.unstacked, 'given term')} of earlier releases cannot be added to those of this one: "
        "what all keep together cannot be judged.",
        "Protect from a file that has the columns which were given before.",
        {"terms": facts.unstacked, "releases": len(facts.earlier)},
    )
