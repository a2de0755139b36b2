"""Records found by whoever knows their values: the nearest released record is their own."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import share
from suffice.risk.assessment import Assessment
from suffice.risk.closeness import LINKAGE as STOP

WARN, TIMES = 0.1, 5
HIDDEN = 0.2
"""Groups of five hide each other: what is shared is not warned of."""


def linkage(risk: Assessment) -> Finding | None:
    """Share of records linked to their own by distance, alike ones sharing the link: > 1/3 stop.

    Over 10 %, and five times chance: warn. A third is what groups of three leave, the smallest that may be released
    (group-size); where released values are those of groups, a fifth is warned of.
    """
    links = risk.closeness.linkage
    linked, chance = (links.found / links.of, links.chance / links.of) if links.of else (0.0, 0.0)
    if not linked > max(HIDDEN if risk.request.shared else WARN, TIMES * chance):
        return None
    return Finding(
        "linkage",
        "stop" if linked > STOP + 1e-9 else "warn",
        f"Whoever knows the confidential values of a record finds its released one by distance in {share(linked)} of "
        f"the cases ({share(chance)} by chance), and reads off what leaves beside it.",
        "Make larger groups." if risk.request.shared else "Ask for less correlation with the original, or use IPSO.",
        {"linked": linked, "chance": chance},
    )
