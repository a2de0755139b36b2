"""Whole numbers: in every record, and their totals as integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Self

import numpy as np

from suffice.algebra.group_moments import Grouping
from suffice.design.design import Design
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block
from suffice.statistics.domain import Domain
from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Fold, Look, Reference, Sums

HALF = 2**26
"""Whole numbers of 53 bits are added up in two parts, each of which has room for 2^36 records."""
LARGE = 2.0**52


@dataclass(frozen=True, repr=False)
class Totals:
    """Totals of each whole-number column in every group, as integers of any size; cells that are no whole numbers."""

    groups: Mapping[int, tuple[int, ...]]
    broken: tuple[int, ...]
    size: tuple[float, ...]
    """Sums of absolute values: above 2^52 methods, which compute with floats, cannot keep the last unit."""

    @classmethod
    def of(cls, block: Block, domain: Domain, design: Design) -> Totals:
        names = design.roles.integer
        values = np.array([as_float(block.columns[name]) for name in names])
        Y = np.array([as_float(block.columns[name]) for name in design.confidential]) if domain.holes else values
        absent = np.isnan(values)
        whole = (np.abs(values) <= 2.0**53) & (values == np.rint(values))
        cells = np.where(whole, values, 0.0).astype(np.int64)
        records = Grouping.of(domain.labels(block, Y, design))
        high, low = (np.add.reduceat(part[:, records.order], records.starts, axis=1) for part in divmod(cells, HALF))
        sums = ([int(h) * HALF + int(w) for h, w in zip(*pair, strict=True)] for pair in zip(high, low, strict=True))
        groups = dict(zip(records.labels.tolist(), zip(*sums, strict=True), strict=True))
        broken, size = (~whole & ~absent).sum(axis=1), np.abs(cells.astype(np.float64)).sum(axis=1)
        return cls(groups, tuple(broken.tolist()), tuple(size.tolist()))

    def __add__(self, other: Self) -> Totals:
        groups = dict(self.groups)
        for label, totals in other.groups.items():
            groups[label] = tuple(map(sum, zip(groups[label], totals, strict=True))) if label in groups else totals
        broken, size = zip(self.broken, other.broken, strict=True), zip(self.size, other.size, strict=True)
        return Totals(groups, tuple(map(sum, broken)), tuple(map(sum, size)))


@dataclass(frozen=True)
class TotalSums(Sums):
    """The totals in every group of a domain."""

    domain: Domain

    def before(self, reference: Reference) -> Look:
        columns = tuple(dict.fromkeys([*reference.design.columns, *self.domain.by]))
        return (yield Fold.by_block(lambda block: Totals.of(block, self.domain, reference.design), columns))

    def after(self, known: Totals, reference: Reference) -> Look:
        return self.before(reference)


@dataclass(frozen=True)
class WholeNumbers(Statistic):
    """Cells that are whole numbers and, where a method keeps means, totals that are the same integers.

    totals: whether they are kept; weighted means say nothing of them
    """

    name: ClassVar = "whole"
    words: ClassVar = "whole numbers and their totals"
    despite_holes: ClassVar = True

    totals: bool = False

    def sums(self, beside: Sequence[Promise]) -> Sums:
        return TotalSums(beside[0].domain)

    def claim(self, promise: Promise, before: Totals, after: Totals, reference: Reference) -> Claim:
        names = reference.design.roles.integer
        off = [name for name, cells in zip(names, after.broken, strict=True) if cells]
        error = float(sum(after.broken))
        if self.totals and not off:
            gaps = self._gaps(before, after, len(names))
            told = zip(names, gaps, before.size, strict=True)
            error, off = float(max(gaps)), [f"total of {name}" for name, gap, size in told if gap > size // LARGE]
        exactly = "as integers" if max(before.size) < LARGE else "to 52 bits"
        said = f"whole numbers in every record of {', '.join(names)}" + f"; their totals, {exactly}" * self.totals
        level = promise.domain.said(len(before.groups))
        return Claim(self.name, said, error, inf if off else 0.0, off[0] if off else "", level=level)

    def _gaps(self, before: Totals, after: Totals, k: int) -> list[int]:
        """How far the totals of each column are apart, at the worst group."""
        none = (0,) * k
        labels = before.groups.keys() | after.groups.keys()
        pairs = [(before.groups.get(label, none), after.groups.get(label, none)) for label in labels]
        return [max(abs(one[j] - two[j]) for one, two in pairs) for j in range(k)]
