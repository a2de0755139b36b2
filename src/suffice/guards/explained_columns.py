"""Confidential columns without a residual: there is nothing to change."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed
from suffice.risk.assessment import Assessment


def explained_columns(risk: Assessment) -> Finding | None:
    """A column that is an exact function of the given ones, so unchanged: stop; a constant one: note."""
    columns = risk.explained
    explained = [name for name in columns.explained if name not in columns.constant]
    if explained:
        return Finding(
            "explained-columns",
            "stop",
            f"{listed(explained)}: an exact function of the given columns, released unchanged.",
            "Drop a given term, or call the column what it is: given.",
            {"columns": ", ".join(explained), "count": len(explained)},
        )
    if columns.within and not columns.constant:
        most = max(columns.within.values())
        return Finding(
            "explained-columns",
            "note",
            f"{listed(list(columns.within))}: constant in {count(most, 'group')} or fewer, released unchanged there.",
            "Join groups in which the one value of a column is confidential.",
            {"columns": ", ".join(columns.within), "groups": most},
        )
    if columns.constant:
        return Finding(
            "explained-columns",
            "note",
            f"{listed(columns.constant)}: {count(len(columns.constant), 'constant column')}, released unchanged.",
            "Leave out a column whose one value is confidential.",
            {"columns": ", ".join(columns.constant), "count": len(columns.constant)},
        )
    return None
