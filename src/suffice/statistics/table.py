"""A table of counts: how many records have each combination of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from suffice.statistics.distribution import ColumnValues, ValueSums
from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Reference, Sums


@dataclass(frozen=True)
class CountTable(Statistic):
    """As many records with every combination of values of some columns as there were, to the last count."""

    name: ClassVar = "table"
    words: ClassVar = "tables of counts"
    in_groups: ClassVar = True
    despite_holes: ClassVar = True

    of: tuple[str, ...] = ()
    """The columns; none: each by itself, as its distribution."""

    def sums(self, beside: Sequence[Promise]) -> Sums:
        return ValueSums(beside[0].domain, self.of)

    def claim(self, promise: Promise, before: ColumnValues, after: ColumnValues, reference: Reference) -> Claim:
        error, level = 0.0 if before.columns == after.columns else inf, promise.domain.said(len(before.groups))
        where = " x ".join(self.of)
        return Claim(self.name, f"the table {where}, to the last count", error, error, where, level=level)
