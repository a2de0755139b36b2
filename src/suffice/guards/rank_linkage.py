"""Records found by their ranks: the nearest released record in ranks is their own."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.rank_intersection import REMEDY
from suffice.guards.wording import share
from suffice.risk.assessment import Assessment
from suffice.risk.closeness import RANKS as STOP


def rank_linkage(risk: Assessment) -> Finding | None:
    """What keeps ranks: records linked to their own by distance in ranks, alike ones sharing the link: > 5 % stop.

    Beyond chance. Distances in values are those of the giants, and miss it: at p = .2 on 13 columns they link 12 %.
    """
    linked = risk.closeness.ranks.linked
    if not linked.beyond(STOP):
        return None
    return Finding(
        "rank-linkage",
        "stop",
        f"Whoever knows the confidential values of a record finds its released one as the nearest in ranks in "
        f"{share(linked.found, linked.of)} of the cases ({share(linked.chance, linked.of)} by chance).",
        REMEDY,
        {"linked": linked.found / linked.of, "chance": linked.chance / linked.of},
    )
