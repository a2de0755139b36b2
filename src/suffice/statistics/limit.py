"""Bounds and edits: in every record, not on average."""

from __future__ import annotations

from math import inf

from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim, Statistic


class Limit(Statistic):
    """How many records leave a bound or an edit: none."""

    name = "limits"

    def claim(self, pair: Pair) -> Claim:
        broken = {name: count for name, count in (pair.broken or {}).items() if count}
        where = max(broken, key=lambda name: broken[name], default="")
        count = sum(broken.values())
        return Claim(self.name, "bounds and edits, in every record", float(count), inf if count else 0.0, where)
