"""A total, or a mean and a variance, that is nearly one record's: of a group, of a cell, of the whole file."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed
from suffice.risk.assessment import Assessment
from suffice.risk.group_summary import GroupSummary

RULE = "dominance"


def dominance(risk: Assessment) -> Finding | None:
    """In groups whose means are kept: p % = 10 and (2, 90 %) on absolute values; with the variance, its interval.

    Where all but the two largest records add up to less than 10 % of the largest, the second largest reads the largest
    off the total to within 10 %. Where the variance is kept too, the largest lies in an interval that both give, and
    one that is narrower than 10 % of it is as good as the value. Cells of a given factor keep totals: p % = 10. Of the
    whole file, mean + sd sqrt(n - 1) is the largest record to within 10 % where it has 83 % of the variance, and of
    three that have it one may read another off. Groups in which one or two records have what a column of two values
    counts: warn.
    """
    worst = max((kept for kept in risk.groups if kept.totals), key=_groups, default=None)
    if worst is not None and _groups(worst):
        return _in_groups(worst)
    keeps = {*risk.request.promises}
    if risk.cells.giants and ("distribution" in keeps or {"mean", "covariance"} <= keeps):
        told = "the mean and the variance of the file give it away to within 10 %"
        how = "its value leaves, and everybody knows whose it is" if "distribution" in keeps else told
        return Finding(
            RULE,
            "stop",
            f"One record has nearly all of the variance of {listed(risk.cells.giants)}: {how}.",
            "Leave that record out, or release its logarithm.",
            {"columns": ", ".join(risk.cells.giants)},
        )
    if risk.cells.three and {"mean", "covariance"} <= keeps:
        return Finding(
            RULE,
            "stop",
            f"Three records have nearly all of the variance of {listed(risk.cells.three)}: one of them subtracts its "
            "own square and reads the larger other off, to within 10 %.",
            "Leave these records out, or release its logarithm.",
            {"columns": ", ".join(risk.cells.three)},
        )
    cells = max(risk.cells.factors, key=lambda each: each.dominated, default=None) if "fit" in keeps else None
    if cells is not None and cells.dominated:
        below = f"merge_below={max(10, cells.large + 1)}"
        return Finding(
            RULE,
            "stop",
            f"{count(cells.dominated, 'cell')} of {cells.cells:,} by {cells.name} whose total gives the largest "
            f"{cells.of} away to the second largest, to within 10 %, in some column.",
            "Drop one of the terms, or use larger classes of it."
            if cells.apart
            else f"Join such cells with others ({below}), use larger classes, or drop the term.",
            {"cells": cells.dominated, "of": cells.cells, "by": cells.name},
        )
    if worst is not None and (few := max(risk.groups, key=lambda kept: kept.counted)).counted:
        return Finding(
            RULE,
            "warn",
            f"{count(few.counted, 'group')} of {few.groups:,} by {few.name} in which one or two records have what a "
            "column of two values counts: they learn that hardly anyone else there does.",
            "Join these groups with others where that matters.",
            {"groups": few.counted, "of": few.groups, "by": few.name},
        )
    return None


def _in_groups(worst: GroupSummary) -> Finding:
    by_variance = worst.narrow > worst.dominated
    how = "mean and variance" if by_variance else "total"
    join = f"Join these groups with others ({worst.joined_by}), l" if worst.joined_by else "L"
    return Finding(
        RULE,
        "stop",
        f"{count(_groups(worst), 'group')} of {worst.groups:,} by {worst.name} whose {how} gives the largest "
        f"{worst.of} away to within 10 %, in some column.",
        f"{join}eave the largest records out, or use larger clusters.",
        {"groups": _groups(worst), "of": worst.groups, "by": worst.name},
    )


def _groups(kept: GroupSummary) -> int:
    return max(kept.dominated, kept.narrow)
