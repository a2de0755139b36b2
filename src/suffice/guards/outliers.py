"""The cells that everybody knows, released nearer to their own value than to another giant's."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.assessment import Assessment
from suffice.risk.closeness import OUTLIERS as STOP


def outliers(risk: Assessment) -> Finding | None:
    """Of the far cells that chance leaves, the share moved by a tenth of their distance or less: > 20 % stop.

    Chance is the share within a tenth among the released values of the *other* far cells: an attacker who ignores
    which record is whose names one of these. Columns with 30 far cells and more are judged by themselves.
    """
    worst = max(risk.closeness.sets(), key=lambda each: each[1].excess, default=None)
    if worst is None or not worst[1].excess > STOP:
        return None
    columns, found = worst
    loud = [name for name in columns if (own := risk.closeness.outliers[name]).found > own.chance]
    return Finding(
        "outliers",
        "stop",
        f"Of the cells far out in {listed(loud or columns)}, {share(found.found, found.of)} moved by less than "
        f"a tenth of their distance from the mean; the other giants' released values are as near in "
        f"{share(found.chance, found.of)}.",
        f"{_remedy(risk)} Or protect the largest records apart (outliers-apart).",
        {"near": found.found / found.of, "chance": found.chance / found.of, "excess": found.excess},
    )


def _remedy(risk: Assessment) -> str:
    if risk.request.shared:
        return "Make larger groups."
    if risk.request.independent:
        return "The given terms tell these cells: give the logarithm of a skewed given column, or leave it out."
    return "Ask for less correlation with the original, or use IPSO."
