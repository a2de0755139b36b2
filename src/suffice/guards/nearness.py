"""Released values near the records' own: most can be read off."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.assessment import Assessment
from suffice.risk.closeness import NEARNESS, OWN

WARN = 1 / 3


def nearness(risk: Assessment) -> Finding | None:
    """Of the records that chance leaves, those near their own value, within 5 % or 2 % of the ranks: > 50 % stop.

    Where released values are those of groups: > 70 %. Over 1/3: warn. Chance is the same share with the released rows
    in any order. Judged column by column, in every part of the file that is protected by itself; the worst counts.
    """
    found = risk.closeness.nearness
    worst = max(found, key=lambda each: found[each].excess, default=None)
    if worst is None or not found[worst].excess > WARN:
        return None
    name, kind, _ = worst
    stop = NEARNESS if risk.request.shared else OWN
    near, stops = found[worst], found[worst].excess > stop
    loud = dict.fromkeys(column for (column, _, _), each in found.items() if each.excess > (stop if stops else WARN))
    within = "5 % of their own value" if kind == "value" else "2 % of the ranks of their own value"
    return Finding(
        "nearness",
        "stop" if stops else "warn",
        f"{share(near.found, near.of)} of the records in {name} are released within {within} "
        f"({share(near.chance, near.of)} by chance): whoever finds a person's record reads the value off"
        + (f". So too in {listed(other for other in loud if other != name)}." if len(loud) > 1 else "."),
        _remedy(risk),
        {"column": name, "near": near.found / near.of, "chance": near.chance / near.of, "excess": near.excess},
    )


def _remedy(risk: Assessment) -> str:
    if risk.request.shared or any("cluster" in kept.name for kept in risk.groups):
        return (
            "Groups of alike records hardly move: make them much larger, group by more columns, or by a column "
            "of the file; or use IPSO."
        )
    if risk.request.independent:
        return "The given terms tell these values: leave out the one that does, or call the column given."
    return "Ask for less correlation with the original, or use IPSO."
