"""A group's total, or its mean and variance, that is nearly one record's."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.assessment import Assessment
from suffice.risk.group_summary import GroupSummary


def dominance(risk: Assessment) -> Finding | None:
    """In groups whose means are kept: p % = 10 and (2, 90 %) on absolute values; with the variance, its interval.

    Where all but the two largest records add up to less than 10 % of the largest, the second largest reads the largest
    off the total to within 10 %. Where the variance is kept too, the largest lies in an interval that both give, and
    one that is narrower than 10 % of it is as good as the value.
    """
    worst = max((kept for kept in risk.groups if "mean" in kept.statistics), key=_groups, default=None)
    if worst is None or not _groups(worst):
        return None
    by_variance = worst.narrow > worst.dominated
    how = "mean and variance" if by_variance else "total"
    return Finding(
        "dominance",
        "stop",
        f"{count(_groups(worst), 'group')} of {worst.groups:,} by {worst.name} whose {how} gives the largest "
        f"{worst.of} away to within 10 %, in some column.",
        "Join these groups with others, protect the largest records apart, or use larger clusters.",
        {"groups": _groups(worst), "of": worst.groups, "by": worst.name},
    )


def _groups(kept: GroupSummary) -> int:
    return max(kept.dominated, kept.narrow)
