"""What several releases of the same records keep, taken together."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.leverage import level_of
from suffice.guards.wording import count
from suffice.risk.assessment import Assessment

MORE = 1e-6
"""Below this the earlier releases add nothing to the leverage of this one."""


def stacked_leverage(risk: Assessment) -> Finding | None:
    """The leverage in all given terms of this and earlier releases: the levels of the leverage rule.

    Two releases with groups of 33 and more each can single out one record together: h = 1.
    """
    level = level_of(risk.stacked.highest)
    if level is None or risk.stacked.highest <= risk.leverage.highest + MORE:
        return _untold(risk) if risk.stacked.unstacked else None
    return Finding(
        "stacked-leverage",
        level,
        f"With the given terms of {count(len(risk.history.earlier), 'earlier release')} of these columns the "
        f"largest leverage is {risk.stacked.highest:.3f} (this release alone: {risk.leverage.highest:.3f}).",
        "Give terms that were given before, so that nothing new is kept, or coarser ones.",
        {"leverage": risk.stacked.highest, "alone": risk.leverage.highest, "releases": len(risk.history.earlier)},
    )


def _untold(risk: Assessment) -> Finding:
    return Finding(
        "stacked-leverage",
        "note",
        f"{count(risk.stacked.unstacked, 'given term')} of earlier releases cannot be added to those of this one: "
        "what all keep together cannot be judged.",
        "Protect from a file that has the columns which were given before.",
        {"terms": risk.stacked.unstacked, "releases": len(risk.history.earlier)},
    )
