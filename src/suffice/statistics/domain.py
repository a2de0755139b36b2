"""Statistics at a level - in groups, clusters, pieces, patterns of missing cells - recomputed from two files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.group_moments import Cells, Grouping, GroupMoments, Pairs
from suffice.design.design import Design
from suffice.errors import InfeasibleError
from suffice.rows.multiset import Words, fingerprints, hole_words, number_words, text_words
from suffice.rows.rows import Block, Rows
from suffice.statistics import STATISTICS
from suffice.statistics.domain_moments import DomainColumns
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim

WITHIN_DOMAINS = ("mean", "covariance", "fit")
"""The statistics that can be kept at a level."""
MISSING = "pattern of missing cells"
LARGER = 8.0
"""Released values of a group that are so many times larger than its own: their last digits count."""
CHUNK = 2**12
"""Groups that are compared at a time."""
MOST = 2**28
"""Sums that the groups of a level may have in all: two gigabytes."""


@dataclass(frozen=True)
class Domain:
    """What is kept in which groups of records.

    name: what tells the groups, in a word
    by: columns whose values together tell the groups; none is the whole file
    statistics: those kept: "mean", "covariance", "fit"
    terms: names of the columns of X whose products with the confidential ones are kept; all unless told
    holes: whether the pattern of missing confidential cells tells groups as well

    >>> Domain("region", ("region",), ("mean",)).said(7)
    'in each of 7 groups by region'
    """

    name: str
    by: tuple[str, ...]
    statistics: tuple[str, ...]
    terms: tuple[str, ...] | None = None
    holes: bool = False

    def said(self, groups: int) -> str:
        """The level in words."""
        if not self.by and not self.holes:
            return ""
        many = "the one group" if groups == 1 else f"each of {groups:,} groups"
        return f"in {many} by {self.name}"

    def given(self, design: Design) -> tuple[int, ...]:
        """The columns of X that are compared; that of ones is the mean."""
        if "fit" not in self.statistics:
            return ()
        names = design.names if self.terms is None else self.terms
        return tuple(j for j in map(design.names.index, names) if j > 0 or not design.intercept)

    def labels(self, block: Block, Y: Array, design: Design | None = None) -> Words:
        """One word for each record, the same in the same group.

        Y: the confidential columns, one row a column
        design: where it has absorbed a column, that one has the levels of the design: small ones may be joined
        """
        words = [_words(name, block, design) for name in self.by]
        holes = map(hole_words, Y) if self.holes else ()
        return fingerprints(Y.shape[1], [*words, *holes])


def levels_of(design: Design, promises: Iterable[str]) -> tuple[Domain, ...]:
    """The levels at which a method applied within groups and patterns keeps what it promises.

    An absorbed factor has no columns in X: that the fits on it are kept is that means are, in each of its levels.
    """
    holes = design.roles.missing == "patterns"
    kept = tuple(name for name in WITHIN_DOMAINS if name in promises and (name != "mean" or design.intercept))
    groups, missing = tuple(design.roles.groups), (MISSING,) if holes else ()
    found = [Domain(" and ".join([*groups, *missing]), groups, kept, holes=holes)] if groups or holes else []
    if design.absorbed is not None and "fit" in promises:
        by = (*groups, design.absorbed)
        found += [Domain(" and ".join([*by, *missing]), by, ("mean",), holes=holes)]
    return tuple(found)


@dataclass(frozen=True, repr=False)
class DomainStanding:
    """Moments of every group of a file, about the means that its groups have in the original."""

    level: Domain
    design: Design
    groups: Words
    centre: Array
    size: Array
    moments: GroupMoments
    strangers: int = 0
    """Records whose group the original does not have."""

    @classmethod
    def learn(cls, rows: Rows, design: Design, level: Domain) -> DomainStanding:
        """The original's side, in two passes: groups and their means, then moments about these."""
        reading = DomainColumns(level, design)
        first = reading.fold(rows, lambda W, words, w: Cells.of(reading.filled(W), Grouping.of(words), w))
        groups, pairs = first.labels, reading.pairs
        _check_room(level, len(groups), len(pairs.one))
        centre = first.moments(groups, Pairs.none(pairs.columns)).mean
        centre = centre if reading.centred else np.zeros_like(centre)
        moments, _, _ = reading.moments(rows, groups, centre, sized=False)
        return cls(level, design, groups, centre, first.size, moments)

    def of(self, rows: Rows) -> DomainStanding:
        """The same of other rows."""
        reading = DomainColumns(self.level, self.design)
        moments, strangers, size = reading.moments(rows, self.groups, self.centre, sized=True)
        return replace(self, moments=moments, strangers=strangers, size=size)

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


def claims(before: DomainStanding, after: DomainStanding, redrawn: bool = False) -> tuple[Claim, ...]:
    """One claim for each statistic of the level, at its worst group.

    redrawn: the records are new ones, so that each group may have any number of them
    """
    level, design, groups = before.level, before.design, len(before.groups)
    apart = _apart(before, after, redrawn)
    kept = [name for name in level.statistics if groups and (name != "fit" or level.given(design))]
    found = [_claim(name, before, after) for name in kept]
    if apart:
        found = [replace(claim, error=inf, ratio=inf, where=apart) for claim in found]
    said = level.said(groups)
    return tuple(replace(claim, level=said, sentence=_sentence(claim, level, design)) for claim in found)


def _claim(name: str, before: DomainStanding, after: DomainStanding) -> Claim:
    """The worst of the groups, some at a time."""
    starts = range(0, len(before.groups), CHUNK)
    found = [STATISTICS[name].claim(_pair(before, after, slice(first, first + CHUNK))) for first in starts]
    worst = max(range(len(found)), key=lambda i: found[i].ratio)
    group = starts[worst] + found[worst].group
    where = f"{found[worst].where}, group {group} of {len(before.groups)}"
    return replace(found[worst], error=max(claim.error for claim in found), where=where, group=group)


def _pair(before: DomainStanding, after: DomainStanding, groups: slice) -> Pair:
    level, design = before.level, before.design
    one, two = before.moments.part(groups), after.moments.part(groups)
    given = tuple(design.names[j] for j in level.given(design))
    centred = DomainColumns(level, design).centred
    larger = after.size > LARGER * before.size  # where a group hardly varies, new slopes may carry its values far away
    size = np.where(larger, after.size, before.size)[:, groups]
    return Pair(one, two, size, given, design.confidential, True, centred)


def _apart(before: DomainStanding, after: DomainStanding, redrawn: bool) -> str:
    """Where the groups themselves are not the same; empty where they are."""
    if after.strangers:
        return f"{after.strangers} records of groups that the original does not have"
    other = np.flatnonzero(after.moments.rows == 0 if redrawn else ~before.shared(after))
    return f"records or weight, group {other[0] + 1} of {len(before.groups)}" if len(other) else ""


def _sentence(claim: Claim, level: Domain, design: Design) -> str:
    if claim.statistic != "fit" or level.terms is None:
        return claim.sentence
    named = [design.names[j] for j in level.given(design)]
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    return f"cross-products with {', '.join(named[:3])}{more}"


def _words(name: str, block: Block, design: Design | None) -> Words:
    column = block.columns[name]
    if design is not None and name == design.absorbed:
        return number_words(design.categories[name].codes(block))
    return text_words(column) if isinstance(column, pa.Array) else number_words(column)


def _check_room(level: Domain, groups: int, sums: int) -> None:
    if groups * sums > MOST:
        raise InfeasibleError(
            f"The certificate needs {sums:,} sums in each of {groups:,} groups by {level.name}.\n"
            f"  {groups * sums:,} numbers; {MOST:,} are allowed\n"
            "Use fewer given terms, or larger groups."
        )
