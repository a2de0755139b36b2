"""Groups of few records whose means are kept, or that others are drawn from: the others' values give away one's own."""

from __future__ import annotations

from suffice.guards.finding import Finding, Severity
from suffice.guards.wording import count
from suffice.risk.assessment import Assessment
from suffice.risk.group_summary import GroupSummary

STOP, WARN = 3, 5


def group_size(risk: Assessment) -> Finding | None:
    """Where means are kept in groups and no covariance is: fewer than 3 records stop, fewer than 5 warn.

    The mean of two tells each of them the other; what is drawn from one or two is theirs. Where covariances are kept
    too, degrees of freedom are judged.
    """
    means = [kept for kept in risk.groups if kept.totals]
    judged = [kept for kept in means if kept.of == "unit" or "covariance" not in kept.statistics]
    worst = min(judged, key=lambda kept: kept.smallest, default=None)
    if worst is None or worst.smallest >= WARN:
        return None
    level: Severity = "stop" if worst.smallest < STOP else "warn"
    groups = worst.small[0] if level == "stop" else worst.small[1]
    join = f"Join or drop small groups ({worst.joined_by}), or m" if worst.joined_by else "M"
    return Finding(
        "group-size",
        level,
        f"{count(groups, 'group')} of {worst.groups:,} by {worst.name} with fewer than "
        f"{STOP if level == 'stop' else WARN} {worst.of}s, the smallest {worst.smallest}: {_meaning(worst)}.",
        f"{join}ake clusters of 5 records and more.",
        {"smallest": worst.smallest, "groups": groups, "by": worst.name},
    )


def _meaning(worst: GroupSummary) -> str:
    if "mean" not in worst.statistics:
        return "what is drawn from them is nearly what they were"
    if worst.smallest == 1:
        return f"the mean that is kept is the {worst.of}'s"
    return (
        f"their means tell each {worst.of} the others'" if worst.smallest < STOP else f"few {worst.of}s hide each other"
    )
