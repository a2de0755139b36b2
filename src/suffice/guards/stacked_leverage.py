"""What several releases of the same records keep, taken together."""

from __future__ import annotations

from suffice.guards.finding import Finding, Severity
from suffice.guards.leverage import STOP, WARN, level_of
from suffice.guards.wording import beyond, count, share
from suffice.risk.assessment import Assessment

MORE = 1e-6
"""Below this the earlier releases add nothing to the leverage of this one."""


def stacked_leverage(risk: Assessment) -> Finding | None:
    """The leverage in all that this and earlier releases keep - terms, groups, clusters, weights, records.

    The levels are those of the leverage rule. Two releases with groups of 33 and more each can single out one record
    together: h = 1. Of what cannot be made again from the file the equations are counted: the mean leverage is their
    number over that of the records, at most.
    """
    found, releases = risk.stacked, len(risk.history.earlier)
    alone = found.alone or risk.leverage.highest
    level = level_of(found.highest)
    if level is None or found.highest <= alone + MORE:
        return _untold(risk) if found.unstacked else None
    return Finding(
        "stacked-leverage",
        level,
        f"With what {count(releases, 'earlier release')} of these columns kept - terms, groups, weights, records - the "
        f"largest leverage is {beyond(found.highest, WARN)} (this release alone: {beyond(alone, WARN)}).",
        "Give terms and groups that were given before, of the same records, or coarser ones: then nothing new is kept.",
        {"leverage": found.highest, "alone": alone, "releases": releases},
    )


def _untold(risk: Assessment) -> Finding:
    found = risk.stacked
    part = found.equations / risk.freedom.n
    level: Severity = "stop" if part >= STOP else "warn" if part > WARN else "note"
    return Finding(
        "stacked-leverage",
        level,
        f"What {count(found.unstacked, 'earlier release')} kept of these columns cannot be made again from this file: "
        f"with this one {count(found.equations, 'equation')}, {share(found.equations, risk.freedom.n)} of the records; "
        "which records they single out together cannot be judged.",
        "Protect from a file that has the columns that were given, or told groups, before.",
        {"releases": found.unstacked, "equations": found.equations},
    )
