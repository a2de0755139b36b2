"""Moments in every group of a domain: added up, and compared at the worst group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import inf
from operator import add

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.group_moments import Cells, Grouping, GroupMoments, Pairs, looked_up
from suffice.design.design import Design
from suffice.errors import InfeasibleError, count_of
from suffice.rows.arrow import as_float
from suffice.rows.multiset import Words
from suffice.rows.rows import BLOCK, Block
from suffice.statistics.domain import Domain
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim
from suffice.statistics.sums import Fold, Look, Reference, Sums

CELLS = 2**21
"""Numbers that are sorted into groups at a time."""
LARGER = 8.0
"""Released values of a group that are so many times larger than its own: their last digits count."""
HELD = 2**20
"""Records whose grouping is kept from one pass to the next."""
CHUNK = 2**12
"""Groups that are compared at a time."""
MOST = 2**28
"""Sums that the groups of a domain may have in all: two gigabytes."""


@dataclass(frozen=True)
class DomainSums(Sums):
    """Moments within the groups of a domain, as many as some statistics need.

    statistics: names of moments: "mean", "covariance", "fit"
    terms: names of the columns of X whose products with the confidential ones are needed; all unless told
    """

    domain: Domain
    statistics: tuple[str, ...]
    terms: tuple[str, ...] | None = None

    def given(self, design: Design) -> tuple[int, ...]:
        return given_columns(design, self.terms) if "fit" in self.statistics else ()

    def before(self, reference: Reference) -> Look:
        """Groups and their means first, then moments about these."""
        reading = DomainColumns(self, reference.design)
        first = yield reading.fold(lambda W, records, w: Cells.of(reading.filled(W), records, w))
        groups, pairs = first.labels, reading.pairs
        _check_room(self.domain, len(groups), len(pairs.one))
        centre = first.moments(groups, Pairs.none(pairs.columns)).mean
        centre = centre if reading.centred else np.zeros_like(centre)
        cells = yield reading.about(centre, groups, sized=False)
        return DomainStanding(self, groups, centre, first.size, cells.moments(groups, pairs))

    def after(self, known: DomainStanding, reference: Reference) -> Look:
        reading, groups = DomainColumns(self, reference.outgoing), known.groups
        cells = yield reading.about(known.centre, groups, sized=True)
        place, there = looked_up(cells.labels, groups)
        size = np.abs(known.centre)
        size[:, place[there]] += cells.size[:, there]
        strangers = int(cells.records[~there].sum())
        return replace(known, moments=cells.moments(groups, reading.pairs), strangers=strangers, size=size)


def given_columns(design: Design, terms: tuple[str, ...] | None) -> tuple[int, ...]:
    """The columns of X of some terms; that of ones is the mean."""
    names = design.names if terms is None else terms
    return tuple(j for j in map(design.names.index, names) if j > 0 or not design.intercept)


@dataclass(frozen=True, repr=False)
class DomainColumns:
    """How the records of a file become columns, labels and weights."""

    level: DomainSums
    design: Design
    held: dict[int, Grouping] = field(default_factory=dict)
    """Groupings of the first records, for a second pass."""

    @property
    def centred(self) -> bool:
        """Second moments are about the means of the group where these are kept, else raw."""
        return self.design.intercept or "mean" in self.level.statistics

    @cached_property
    def given(self) -> tuple[int, ...]:
        return self.level.given(self.design)

    @cached_property
    def pairs(self) -> Pairs:
        """The products that the statistics of the level need."""
        m, k = len(self.given), self.design.k
        one, two = np.triu_indices(k if "covariance" in self.level.statistics else 0)
        across = np.repeat(np.arange(m), k), m + np.tile(np.arange(k), m)
        return Pairs.among(m + k, (one + m, two + m), across)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.design.columns, *self.level.domain.by]))

    def about(self, centre: Array, groups: Words, sized: bool) -> Fold:
        """Sums of the known groups about their centres; the records of other groups are only counted."""
        padded = np.pad(centre, ((0, 0), (0, 1)))

        def of(W: Array, records: Grouping, w: Array | None) -> Cells:
            found, known = looked_up(records.labels, groups)
            found[~known] = len(groups)
            place = found[records.place]
            for row, middle in zip(W, padded, strict=True):
                row -= np.take(middle, place)
            return Cells.of(self.filled(W), records, w, self.pairs, sized)

        return self.fold(of)

    def fold(self, of: Callable[[Array, Grouping, Array | None], Cells]) -> Fold:
        """`of` some records at a time: as many as do not take too much room."""
        size = max(1, CELLS // (BLOCK * self.pairs.columns))

        def run_of(run: Sequence[Block]) -> Cells:
            parts = [run[first : first + size] for first in range(0, len(run), size)]
            return reduce(add, (of(*self._joined(part)) for part in parts))

        return Fold(run_of, self.columns)

    def filled(self, W: Array) -> Array:
        """A column that is missing in a pattern counts as zeros there, before and after; other missing cells stay."""
        return np.where(np.isnan(W), 0.0, W) if self.level.domain.holes else W

    def _joined(self, blocks: Sequence[Block]) -> tuple[Array, Grouping, Array | None]:
        W = [self._read(block) for block in blocks]
        w = None if self.design.roles.weight is None else np.concatenate([*map(self.design.weights, blocks)])
        return np.concatenate(W, axis=1), self._grouping(blocks, W), w

    def _read(self, block: Block) -> Array:
        Y = np.array([as_float(block.columns[name]) for name in self.design.confidential])
        return np.concatenate([self.design.given(block).T[list(self.given)], Y]) if self.given else Y

    def _grouping(self, blocks: Sequence[Block], W: Sequence[Array]) -> Grouping:
        start, m = blocks[0].start, len(self.given)
        if start not in self.held:
            labels = self.level.domain.labels
            found = Grouping.of(np.concatenate([labels(b, A[m:], self.design) for b, A in zip(blocks, W, strict=True)]))
            if start + found.records > HELD:
                return found
            self.held[start] = found
        return self.held[start]


@dataclass(frozen=True, repr=False)
class DomainStanding:
    """Moments of every group of a file, about the means that its groups have in the original."""

    sums: DomainSums
    groups: Words
    centre: Array
    size: Array
    moments: GroupMoments
    strangers: int = 0
    """Records whose group the original does not have."""

    def shared(self, other: DomainStanding) -> NDArray[np.bool_]:
        """Groups that have as many records, and the same weight, in both files."""
        one, two = self.moments, other.moments
        return np.asarray((one.rows == two.rows) & (np.abs(one.weight - two.weight) <= 1e-12 * one.weight))

    def only(self, groups: NDArray[np.bool_]) -> DomainStanding:
        """The same for some of the groups."""
        return replace(
            self,
            groups=self.groups[groups],
            centre=self.centre[:, groups],
            size=self.size[:, groups],
            moments=self.moments.part(groups),
            strangers=0,
        )

    def worst(self, compared: Callable[[Pair], Claim], after: DomainStanding, reference: Reference) -> Claim | None:
        """A claim about every group, at the worst one; some are compared at a time."""
        count, starts = len(self.groups), range(0, len(self.groups), CHUNK)
        if not count:
            return None
        pairs = (self._pair(after, slice(first, first + CHUNK), reference.design) for first in starts)
        found = [compared(pair) for pair in pairs]
        worst = max(range(len(found)), key=lambda i: found[i].ratio)
        group = starts[worst] + found[worst].group
        where, error = f"{found[worst].where}, group {group} of {count}", max(claim.error for claim in found)
        claim = replace(found[worst], error=error, where=where, group=group, level=self.sums.domain.said(count))
        apart = self._apart(after, reference.redrawn)
        return replace(claim, error=inf, ratio=inf, where=apart) if apart else claim

    def _pair(self, after: DomainStanding, groups: slice, design: Design) -> Pair:
        given = tuple(design.names[j] for j in self.sums.given(design))
        centred = DomainColumns(self.sums, design).centred
        one, two = self.size[:, groups], after.size[:, groups]
        size = np.where(
            two > LARGER * one, two, one
        )  # where a group hardly varies, new slopes carry its values far away
        return Pair(self.moments.part(groups), after.moments.part(groups), size, given, design.confidential, centred)

    def _apart(self, after: DomainStanding, redrawn: bool) -> str:
        """Where the groups themselves are not the same; empty where they are."""
        if after.strangers:
            return f"{count_of(after.strangers, 'record')} of groups that the original does not have"
        other = np.flatnonzero(after.moments.rows == 0 if redrawn else ~self.shared(after))
        return f"records or weight, group {other[0] + 1} of {len(self.groups)}" if len(other) else ""


def _check_room(domain: Domain, groups: int, sums: int) -> None:
    if groups * sums > MOST:
        raise InfeasibleError(
            f"The certificate needs {sums:,} sums in each of {groups:,} groups by {domain.name}.\n"
            f"  {groups * sums:,} numbers; {MOST:,} are allowed\n"
            "Use fewer given terms, or larger groups."
        )
