"""Records that are alone within the reach of a swap in every column."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import share
from suffice.risk.assessment import Assessment
from suffice.risk.closeness import RANKS as STOP


def rank_intersection(risk: Assessment) -> Finding | None:
    """What keeps ranks: records whose own released one is the only one within the window in every column: > 5 % stop.

    Beyond chance: what deals of the released records to others of their group find. Windows are as far as values
    went: whoever knows p has them.
    """
    alone = risk.closeness.ranks.alone
    if not alone.beyond(STOP):
        return None
    return Finding(
        "rank-intersection",
        "stop",
        f"Whoever knows the confidential values of a record, and how far values went, finds no other record than its "
        f"own within reach in every column: {share(alone.found, alone.of)} of the records, "
        f"{share(alone.chance, alone.of)} by chance.",
        REMEDY,
        {"found": alone.found / alone.of, "chance": alone.chance / alone.of},
    )


REMEDY = (
    "Let values go farther (p = 0.5 or more, a larger delta), protect fewer columns by ranks, or use shuffle, which "
    "follows no record."
)
