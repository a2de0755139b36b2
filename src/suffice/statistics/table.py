"""A table of counts: how many records have each combination of values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from suffice.design.design import Design
from suffice.statistics.distribution import ColumnValues, ValueSums
from suffice.statistics.domain import WHOLE, Domain
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


def counted(tables: Iterable[tuple[str, ...]], design: Design) -> tuple[Promise, ...]:
    """That tables are kept, in the file and in every group or pattern that records are protected in."""
    groups, holes = tuple(design.roles.groups), design.roles.missing == "patterns"
    domains = [WHOLE, *([Domain.by_columns(groups, holes)] if groups or holes else [])]
    return tuple(Promise(CountTable(table), domain) for domain in domains for table in tables)
