"""What the guards may know of the groups in which something is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import gqr
from suffice.design.design import Design
from suffice.design.units import unit_words
from suffice.method.method import Method
from suffice.method.synthetic import Synthetic
from suffice.protection.protected import Protected
from suffice.risk.dominance import Concentration
from suffice.risk.far_cells import FAR
from suffice.risk.nesting import Nesting
from suffice.risk.residuals import pooled
from suffice.risk.units import UnitTotals
from suffice.rows.arrow import as_float
from suffice.rows.derived import RELEASED
from suffice.rows.rows import Product, Rows, Run
from suffice.statistics.domain import Domain
from suffice.statistics.promise import domains
from suffice.statistics.residual_covariance import AroundRegression
from suffice.statistics.statistic import Promise

ROOM = 2**20
"""Groups of parts that may wait to be merged; where there are more in all, as many as these."""


@dataclass(frozen=True)
class GroupSummary:
    """Groups of records in which something is kept, in counts."""

    name: str
    """What tells the groups, in a word."""
    statistics: tuple[str, ...]
    groups: int
    smallest: int
    """Records of the smallest group."""
    small: tuple[int, int] = (0, 0)
    """Groups with fewer than 3 and with fewer than 5 records."""
    nu: int | None = None
    """The fewest degrees of freedom that a group has, where a covariance is kept in it."""
    thin: tuple[int, int, int] = (0, 0, 0)
    """Groups with at most 1, fewer than 5, and fewer than max(10, rank E + 1) degrees of freedom."""
    residual_rank: int = 0
    dominated: int = 0
    """Groups whose total gives their largest record away in some column."""
    narrow: int = 0
    """Groups whose mean and variance do."""
    of: str = "record"
    """What sizes and totals are about: a record, or a unit, which may have several."""
    counted: int = 0
    """Groups in which one or two records have what a column of two values counts."""
    joined_by: str = ""
    """What of a request makes such groups larger, if anything does."""

    @property
    def totals(self) -> bool:
        """Whether their totals leave: by means, or with all their values."""
        return bool({"mean", "distribution"} & {*self.statistics})


def summaries(done: Protected, method: Method, traits: tuple[str, ...] = ()) -> tuple[GroupSummary, ...]:
    """Groups in which something is kept: those asked for, clusters, pieces, the levels of an absorbed factor.

    traits: columns of two values, whose totals are counts: none of them is a record's
    """
    rank = gqr(pooled(done)[0]).rank
    design, every = done.design, method.promises(done.design)
    levels, own = domains(every), method.own_promises(design)
    seen = groups_of(done.marked, design, levels, domains(own))
    finest = _terms(own, domains(own)[-1]) if own else 0
    amounts = np.array([name not in traits for name in design.confidential])
    found = [_level(done, every, level, *each, finest, rank, amounts) for level, each in zip(levels, seen, strict=True)]
    shared = _shared_values(done) if method.shared else ()
    return (*found, *_parts_apart(done, method, rank), *shared, *_drawn_from(done, method))


@dataclass(frozen=True, repr=False)
class GroupTables:
    """Tables of groups that wait to be merged: few large merges cost less than many."""

    parts: tuple[Any, ...]
    room: ClassVar[int] = ROOM

    def __add__(self, other: Self) -> Self:
        parts = (*self.parts, *other.parts)
        first, waiting = (sum(len(part.groups) for part in some) for some in (parts[:1], parts[1:]))
        return type(self)((_together(parts),) if waiting > max(self.room, first) else parts)

    @classmethod
    def whole(cls, rows: Rows, of: Any, columns: tuple[str, ...]) -> list[Any]:
        """All tables that `of` makes of a run, merged, in one pass."""
        runs = rows.map(lambda run: Product(*(cls((table,)) for table in of(run))), columns, "looking at groups")
        return [_together(pending.parts) for pending in reduce(add, runs)]


def _together(parts: tuple[Any, ...]) -> Any:
    return type(parts[0]).together(parts)


def groups_of(
    rows: Rows, design: Design, levels: tuple[Domain, ...], own: tuple[Domain, ...] = ()
) -> list[tuple[Concentration, Nesting | None, Concentration | None]]:
    """What is seen of the groups of every level, and of the method's smallest ones inside its others, in one pass.

    own: those of the levels that the method makes; its smallest groups come last
    """
    outer = [place for place, level in enumerate(levels) if level in own and level != own[-1]]

    unit = design.roles.unit

    def of(run: Run) -> list[Concentration | Nesting | UnitTotals]:
        words, Y = _labelled(run, design, levels)
        units = [] if unit is None else [np.concatenate([unit_words(block, unit) for block in run])]
        return [
            *(Concentration.of(word, Y) for word in words),
            *(UnitTotals.of(word, own, Y) for own in units for word in words),
            *(Nesting.of(words[i], words[-1]) for i in outer),
        ]

    by = [*(name for level in levels for name in level.by), *design.confidential, *([unit] if unit else [])]
    found, count = GroupTables.whole(rows, of, tuple(dict.fromkeys(by))) if levels else [], len(levels)
    units = [each.concentration() for each in found[count : 2 * count]] if unit else [None] * count
    nested = dict(zip(outer, found[count + (count if unit else 0) :], strict=True))
    return [(found[place], nested.get(place), units[place]) for place in range(count)]


def _labelled(run: Run, design: Design, levels: tuple[Domain, ...]) -> tuple[list[NDArray[np.uint64]], Array]:
    """The group of each record at each level, and its confidential values."""
    parts = [np.array([as_float(block.columns[name]) for name in design.confidential]) for block in run]
    words = [[level.labels(block, Y, design) for block, Y in zip(run, parts, strict=True)] for level in levels]
    return [np.concatenate(each) for each in words], np.hstack(parts).T


def _level(
    done: Protected,
    promises: Sequence[Promise],
    level: Domain,
    found: Concentration,
    nested: Nesting | None,
    units: Concentration | None,
    finest: int,
    rank: int,
    amounts: Flags,
) -> GroupSummary:
    """The groups of one level; covariances of residuals count as covariances.

    units: the same groups, of units, where these are what sizes and totals are about
    finest: columns whose fits are kept in the method's smallest groups
    """
    here = [promise for promise in promises if promise.domain == level]
    statistics = tuple(dict.fromkeys(promise.name for promise in here if promise.statistic.in_groups))
    around = any(isinstance(promise.statistic, AroundRegression) for promise in here)
    sizes, terms = found.sizes[found.sizes > 0], _terms(here, level)
    if level.by == tuple(done.design.roles.groups):  # the groups that were protected by themselves
        nu = np.array([stratum.nu for stratum in done.strata])
    elif nested is not None:
        nu = nested.left(1 + finest, max(0, terms - finest))
    else:
        nu = sizes - 1 - terms
    covariance, made = "covariance" in statistics, bool({*level.by} & {*done.labels})
    judged = found if units is None else units
    return GroupSummary(
        level.name,
        (*statistics, *(["covariance"] if around and not covariance else [])),
        len(sizes),
        int(judged.sizes[judged.sizes > 0].min()),
        _small(judged.sizes[judged.sizes > 0]),
        int(nu.min()) if covariance or around else None,
        _thin(nu, rank),
        rank,
        _groups(done, judged, judged.dominated & amounts, made),
        _groups(done, found, found.narrow & amounts, made) if covariance else 0,
        "record" if units is None else "unit",
        0 if made else int((found.few & ~amounts).any(axis=1).sum()),
        joined_by(done.design, level.by, level.holes),
    )


def joined_by(design: Design, by: tuple[str, ...], holes: bool) -> str:
    """Groups that were named, levels of a factor and patterns of missing cells each have an option of their own."""
    named = ["small_groups, a larger smallest_group"] if {*by} & {*design.roles.groups} else []
    named += ["a larger merge_below"] if design.absorbed in by else []
    return ", ".join(named + ["a larger smallest_pattern"] * holes)


def _terms(promises: Sequence[Promise], level: Domain) -> int:
    """Columns of X whose fits are kept at a level."""
    return sum(len(promise.terms or ()) for promise in promises if promise.domain == level)


def _parts_apart(done: Protected, method: Method, rank: int) -> Iterator[GroupSummary]:
    """Parts of the records that several methods protect: nobody is told them, and covariances are kept in each."""
    if method.apart_of and "covariance" in method.kept:
        nu, sizes = (np.array(each) for each in zip(*((s.nu, s.spread.rows) for s in done.strata), strict=True))
        known = len(sizes), int(sizes.min()), (0, 0), int(nu.min())
        yield GroupSummary("part", method.kept, *known, _thin(nu, rank), rank)


def _shared_values(done: Protected) -> Iterator[GroupSummary]:
    """Groups of records that are released with the same value, column by column."""
    names, spread = done.design.confidential, done.spread

    def of(run: Run) -> Iterator[Concentration]:
        for name in names:
            own, values = (
                np.concatenate([as_float(block.columns[mark + name]) for block in run]) for mark in ("", RELEASED)
            )
            yield Concentration.of(values, own[:, None])

    columns = (*names, *(RELEASED + name for name in names))
    for j, (name, found) in enumerate(zip(names, GroupTables.whole(done.aligned, of, columns), strict=True)):
        known = found.first[:, 0] - abs(spread.mean[j]) > FAR * spread.sd[j]
        yield GroupSummary(
            f"released value of {name}",
            ("mean",),
            len(found.sizes),
            int(found.sizes.min()),
            _small(found.sizes),
            dominated=int((found.dominated[:, 0] & known).sum()),
        )


def _drawn_from(done: Protected, method: Method) -> Iterator[GroupSummary]:
    """Groups whose records others are drawn from, by more than their means and covariances."""
    first = getattr(method, "steps", (method,))[0]
    if isinstance(first, Synthetic) and first.learns:
        sizes = np.array([stratum.spread.rows for stratum in done.strata])
        name = ", ".join(done.design.roles.groups) or "draw"
        known = len(sizes), int(sizes.min()), _small(sizes)
        larger = joined_by(done.design, tuple(done.design.roles.groups), done.design.roles.missing == "patterns")
        yield GroupSummary(name, ("distribution",), *known, joined_by=larger)


def _groups(done: Protected, found: Concentration, flags: NDArray[np.bool_], made: bool) -> int:
    """How many groups are flagged; of those that a method has made only where the largest record is known by its size.

    Nobody knows who else is in such a group, unless it stands out in the file.
    """
    spread = done.spread
    known = found.first - np.abs(spread.mean) > FAR * spread.sd if made else np.ones_like(flags)
    return int((flags & known).any(axis=1).sum())


def _small(sizes: NDArray[np.int64]) -> tuple[int, int]:
    return int((sizes < 3).sum()), int((sizes < 5).sum())


def _thin(nu: NDArray[np.int64], rank: int) -> tuple[int, int, int]:
    return int((nu <= 1).sum()), int((nu < 5).sum()), int((nu < max(10, rank + 1)).sum())
