"""Confidential columns without a residual: there is nothing to change."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed
from suffice.risk.facts import Facts


def explained_columns(facts: Facts) -> Finding | None:
    """A column that is an exact function of the given ones, so unchanged: stop; a constant one: note."""
    explained = [name for name in facts.explained if name not in facts.constant]
    if explained:
        return Finding(
            "explained-columns",
            "stop",
            f"{listed(explained)}: an exact function of the given columns, released unchanged.",
            "Drop a given term, or call the column what it is: given.",
            {"columns": ", ".join(explained), "count": len(explained)},
        )
    if facts.constant_within and not facts.constant:
        most = max(facts.constant_within.values())
        return Finding(
            "explained-columns",
            "note",
            f"{listed(list(facts.constant_within))}: constant in {count(most, 'group')} or fewer, released unchanged "
            "there.",
            "Join groups in which the one value of a column is confidential.",
            {"columns": ", ".join(facts.constant_within), "groups": most},
        )
    if facts.constant:
        return Finding(
            "explained-columns",
            "note",
            f"{listed(facts.constant)}: {count(len(facts.constant), 'constant column')}, released unchanged.",
            "Leave out a column whose one value is confidential.",
            {"columns": ", ".join(facts.constant), "count": len(facts.constant)},
        )
    return None
