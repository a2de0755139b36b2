"""The largest or smallest value, released for the same record near what it was."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.assessment import Assessment

WARN = 0.5


def extremes(risk: Assessment) -> Finding | None:
    """The record at an end keeps its place there, within 5 % of the range, in half of the columns: warn.

    Where nothing is carried over it does so by chance, or because the given columns tell it: other rules say that.
    """
    columns, ends = tuple(name for name in risk.extremes[0] if name not in risk.explained.explained), risk.extremes[1]
    request = risk.request
    if request.shared or request.independent or not columns or len(columns) < WARN * len(request.confidential):
        return None
    less = (
        "Ask for less correlation with the original, use IPSO, or protect the largest records apart (outliers-apart)."
    )
    return Finding(
        "extremes",
        "warn",
        f"In {listed(columns)} the record that lies farthest out is so in the release too, within 5 % of the range.",
        "Ask for a larger h (bootstrap), or use resize or IPSO." if risk.held_out.ends else less,
        {"columns": len(columns), "ends": ends},
    )
