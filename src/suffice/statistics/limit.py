"""Bounds and edits: in every record, not on average."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Fold, Look, Reference, Sums


@dataclass(frozen=True)
class Breaches(Sums):
    """How many records leave each bound or edit; of the original none do."""

    def before(self, reference: Reference) -> Look:
        yield from ()

    def after(self, known: None, reference: Reference) -> Look:
        if reference.limits is not None:
            return (yield Fold.by_block(reference.limits.left, reference.design.columns))


@dataclass(frozen=True)
class Limit(Statistic):
    """How many records leave a bound or an edit: none."""

    name: ClassVar = "limits"
    words: ClassVar = "bounds and edits"
    despite_holes: ClassVar = True

    def sums(self, beside: Sequence[Promise]) -> Sums:
        return Breaches()

    def claim(self, promise: Promise, before: None, after: Counter[str] | None, reference: Reference) -> Claim | None:
        if after is None:
            return None
        count, where = sum(after.values()), max(after, key=lambda name: after[name], default="")
        return Claim(self.name, "bounds and edits, in every record", float(count), inf if count else 0.0, where)
