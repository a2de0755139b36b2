"""Kept columns that tell a confidential one."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, told_of
from suffice.risk.assessment import Assessment


def kept_columns(risk: Assessment) -> Finding | None:
    """With the given columns, near 5 % of half of the values beyond chance, or 99 % of the variance: stop.

    From a quarter, or 95 %, on: warn. What the given columns tell alone is theirs. Columns that are neither numbers,
    text nor dates are not looked into: warn.
    """
    known = {told.column for told in risk.told if told.given_away}
    found = [told for told in risk.told_by_kept if told.column not in known]
    away = [told for told in found if told.given_away]
    said = away or [told for told in found if told.column not in {each.column for each in risk.told}]
    if not said:
        return _unread(risk.unread) if risk.unread else None
    worst = max(said, key=lambda told: (told.gain, told.r2))
    by = listed(dict.fromkeys(name for told in said for name in told.by))
    return Finding(
        "kept-columns",
        "stop" if away else "warn",
        f"Columns that leave unchanged, {by}, tell {listed(map(told_of, said))}.",
        "Leave these columns out of `keep`, keep coarser ones, or name them as confidential too.",
        {"column": worst.column, "by": ", ".join(worst.by), "r2": worst.r2, "near": worst.near, "chance": worst.chance},
    )


def _unread(names: tuple[str, ...]) -> Finding:
    return Finding(
        "kept-columns",
        "warn",
        f"{listed(names)}: neither numbers, text nor dates. What such cells tell of the confidential columns was not "
        "looked at.",
        "Leave these columns out of `keep`, or turn them into numbers or text, which are.",
        {"columns": ", ".join(names), "count": len(names)},
    )
