"""The distribution of each confidential column, value by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Self

import numpy as np

from suffice.design.design import Design
from suffice.rows.arrow import as_float
from suffice.rows.multiset import Multiset, Words
from suffice.rows.rows import Block
from suffice.statistics.domain import Domain
from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Fold, Look, Reference, Sums


@dataclass(frozen=True, repr=False)
class ColumnValues:
    """The values of each column as a multiset of their own, with the groups that they stand in."""

    groups: Words
    columns: Mapping[str, Multiset]

    @classmethod
    def of(cls, block: Block, domain: Domain, design: Design, together: Sequence[str]) -> ColumnValues:
        """together: columns whose values are taken side by side; none: each column is taken by itself"""
        values = {name: as_float(block.columns[name]) for name in design.confidential}
        words = domain.labels(block, np.array(list(values.values())), design)
        group, sets = words.view(np.float64), [tuple(together)] if together else [(name,) for name in values]
        sides = {names: [group, *(values.get(name, block.columns[name]) for name in names)] for names in sets}
        cells = {names[0]: Block(0, {str(place): y for place, y in enumerate(side)}) for names, side in sides.items()}
        return cls(np.unique(words), {name: Multiset.of(each, each.columns) for name, each in cells.items()})

    def __add__(self, other: Self) -> ColumnValues:
        added = {name: one + other.columns[name] for name, one in self.columns.items()}
        return ColumnValues(np.union1d(self.groups, other.groups), added)


@dataclass(frozen=True)
class ValueSums(Sums):
    """The values of each confidential column, or of some columns side by side, in every group of a domain."""

    domain: Domain
    together: tuple[str, ...] = ()

    def before(self, reference: Reference) -> Look:
        columns, design = (
            tuple(dict.fromkeys([*reference.design.columns, *self.domain.by, *self.together])),
            reference.design,
        )
        return (yield Fold.by_block(lambda block: ColumnValues.of(block, self.domain, design, self.together), columns))

    def after(self, known: ColumnValues, reference: Reference) -> Look:
        return self.before(reference)


@dataclass(frozen=True)
class Distribution(Statistic):
    """The same values, bit for bit, as often as they were, in any order: every quantile, extreme and share."""

    name: ClassVar = "distribution"
    words: ClassVar = "distributions"
    in_groups: ClassVar = True
    despite_holes: ClassVar = True
    grants: ClassVar = "shapes of distributions, quantiles, extremes and signs"

    def sums(self, beside: Sequence[Promise]) -> Sums:
        return ValueSums(beside[0].domain)

    def claim(self, promise: Promise, before: ColumnValues, after: ColumnValues, reference: Reference) -> Claim:
        other = [name for name, values in before.columns.items() if values != after.columns[name]]
        error, level = inf if other else 0.0, promise.domain.said(len(before.groups))
        sentence = "distributions of the confidential columns, value by value"
        return Claim(self.name, sentence, error, error, other[0] if other else "", level=level)
