"""Confidential columns that the given ones decide, or nearly: there is nothing, or little, to change."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed, told_of
from suffice.risk.assessment import Assessment

RULE = "explained-columns"
JOIN = "Join such groups with others: larger groups, or fewer columns in `groups`."
FEWER = "Use fewer or coarser given terms (C() of classes, larger groups), or call the column what it is: given."
WEIGHT = " If the weight tells it, being the inverse of a size: use one weight for every class of size."


def explained_columns(risk: Assessment) -> Finding | None:
    """Stop: a column that given ones tell, exactly or nearly, or that is one value in a group or in every cluster.

    A fit tells a column where it is within 5 % of half of the values that guesses are not near by chance, or explains
    99 % of the variance; from a quarter or 95 % on: warn. A constant column: note.
    """
    columns = risk.explained
    explained = [name for name in columns.explained if name not in columns.constant]
    if explained:
        return Finding(
            RULE,
            "stop",
            f"{listed(explained)}: an exact function of the given columns, released unchanged.",
            "Drop a given term, or call the column what it is: given.",
            {"columns": ", ".join(explained), "count": len(explained)},
        )
    if columns.within:
        most = max(columns.within.values())
        return Finding(
            RULE,
            "stop",
            f"{listed(list(columns.within))}: one value in all records of {count(most, 'group')} or fewer, released "
            "unchanged there: who is in the group is known.",
            JOIN,
            {"columns": ", ".join(columns.within), "groups": most},
        )
    if columns.empty:
        most = max(columns.empty.values())
        return Finding(
            RULE,
            "stop",
            f"{listed(list(columns.empty))}: zero in all records of {count(most, 'group')} or fewer, where most others "
            "have something: who is in the group is known to have nothing.",
            JOIN,
            {"columns": ", ".join(columns.empty), "groups": most},
        )
    if columns.unchanged:
        return Finding(
            RULE,
            "stop",
            f"{listed(columns.unchanged)}: released unchanged: constant, or told by what is given, in every cluster.",
            "Use larger clusters, or call the column what it is: given.",
            {"columns": ", ".join(columns.unchanged), "count": len(columns.unchanged)},
        )
    known = max(risk.cells.factors, key=lambda each: each.known, default=None)
    if known is not None and known.known and "fit" in risk.request.promises:
        return Finding(
            RULE,
            "stop",
            f"{count(known.known, 'cell')} of {known.cells:,} by {known.name} in which all have the smallest or the "
            "largest value of a column, or nearly: the kept mean says so of each.",
            "Drop one of the terms, or use larger classes of it."
            if known.apart
            else f"Join such cells with others: larger classes, merge_below={known.large + 1}, or drop the term.",
            {"cells": known.known, "of": known.cells, "by": known.name},
        )
    away = [told for told in risk.told if told.given_away]
    if risk.told_in_groups and not away:
        most = max(risk.told_in_groups.values())
        return Finding(
            RULE,
            "stop",
            f"{listed(list(risk.told_in_groups))}: hardly any spread in {count(most, 'group')} or fewer: what is kept "
            "there is within 5 % of half of the values and more.",
            JOIN,
            {"columns": ", ".join(risk.told_in_groups), "groups": most},
        )
    if risk.told:
        return Finding(
            RULE,
            "stop" if away else "warn",
            f"The given columns tell {listed(map(told_of, away or risk.told))}.",
            FEWER + WEIGHT * (risk.weights.effective is not None),
            _numbers(risk),
        )
    if columns.nothing and not columns.constant:
        most = max(columns.nothing.values())
        return Finding(
            RULE,
            "note",
            f"{listed(list(columns.nothing))}: nothing, or what holes imply, in {count(most, 'group')} or fewer.",
            "Join groups in which it is confidential that there is nothing.",
            {"columns": ", ".join(columns.nothing), "groups": most},
        )
    if columns.constant:
        return Finding(
            RULE,
            "note",
            f"{listed(columns.constant)}: {count(len(columns.constant), 'constant column')}, released unchanged.",
            "Leave out a column whose one value is confidential.",
            {"columns": ", ".join(columns.constant), "count": len(columns.constant)},
        )
    return None


def _numbers(risk: Assessment) -> dict[str, float | int | str]:
    worst = max(risk.told, key=lambda told: (told.given_away, told.gain, told.r2))
    return {"column": worst.column, "r2": worst.r2, "near": worst.near, "chance": worst.chance}
