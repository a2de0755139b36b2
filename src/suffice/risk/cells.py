"""Cells of given factors, and the whole file: what their kept totals, means and variances say of single records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from math import prod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.design.units import unit_words
from suffice.protection.aligned import AlignedBlock
from suffice.protection.protected import Protected
from suffice.risk.cell_table import CellTable, cell_words, left_over, told_alone
from suffice.risk.dominance import PRIOR, read_off
from suffice.risk.explained_columns import unusual
from suffice.risk.group_summary import GroupTables
from suffice.risk.matches import CLOSE, SPREAD
from suffice.risk.units import UnitTotals
from suffice.rows.arrow import as_float
from suffice.rows.multiset import Words
from suffice.rows.rows import Block, Product, Run
from suffice.statistics.domain import Domain

MOST, RECORDS = 2**12, 2**17
"""Cells of all factors crossed, or records of the file, up to which differences of totals are looked at."""
ATOMS = 400
"""Crossed cells of a stratum among which longer chains of differences are looked for."""
HALF, MUCH, NEXT = 0.5, 0.25, 0.3
"""Shares of the variance that show whose they are: half of it, or less where the next two together have less than NEXT
of that: measured, see docs/decisions.md."""
ALONE = 1 / (1 + PRIOR) ** 2
"""Share of a sum of squares from which on its root tells the one that has it to within PRIOR."""


def families(design: Design) -> dict[tuple[str, ...], int]:
    """Factors whose cells have totals that are kept, alone or in interactions: their columns, and how many cells.

    Numbers that stand by themselves may be 0 and 1: these tell two cells.
    """
    found: dict[tuple[str, ...], int] = {}
    for expansion in design.expansions:
        if [factor.transform for factor in expansion.term] == [None]:
            found[expansion.term[0].column,] = 2
        columns = tuple(factor.column for factor in expansion.term if factor.transform == "C")
        cells = int(np.prod(expansion.sizes, dtype=np.int64))
        if columns and len(columns) == len(expansion.term) and cells <= MOST:
            found[columns] = cells
    return found


@dataclass(frozen=True, repr=False)
class CellGrid:
    """Columns whose values together tell cells, in groups and patterns of holes where these are kept by themselves."""

    design: Design
    columns: tuple[str, ...]
    domain: Domain

    @classmethod
    def every(cls, design: Design, n: int) -> list[CellGrid]:
        """All factors crossed; in a large file with many combinations each by itself, in the whole file."""
        found = [*families(design), *([(design.absorbed,)] if design.absorbed else [])]
        columns = tuple(dict.fromkeys(name for by in found for name in by))
        domain = Domain.by_columns(tuple(design.roles.groups), design.roles.missing == "patterns")
        sizes = [each.size for each in design.groupings]
        crossed = cls(design, columns, domain)
        if not found:
            return []
        if prod(crossed.sizes) < 2**62 and (n <= RECORDS or prod([*sizes, *crossed.sizes]) <= MOST):
            return [crossed]
        return [cls(design, by, Domain()) for by in found]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        categories = self.design.categories
        return tuple(categories[name].size if name in categories else 2 for name in self.columns)

    @cached_property
    def families(self) -> list[tuple[str, ...]]:
        absorbed = [(self.design.absorbed,)] if self.design.absorbed else []
        return [by for by in (*families(self.design), *absorbed) if {*by} <= {*self.columns}]

    def strata(self, block: Block) -> Words | None:
        if self.domain.whole:
            return None
        Y = np.array([as_float(block.columns[name]) for name in self.design.confidential])
        return self.domain.labels(block, Y, self.design)

    def codes(self, block: Block) -> NDArray[np.int64]:
        code = np.zeros(len(block), dtype=np.int64)
        for name, size in zip(self.columns, self.sizes, strict=True):
            code = code * size + self._digit(block, name)
        return code

    def _digit(self, block: Block, name: str) -> NDArray[np.intp]:
        """What is no cell in a block is none in the file."""
        category = self.design.categories.get(name)
        if category is not None:
            return category.codes(block)
        x = as_float(block.columns[name])
        return (x != 0).astype(np.intp) if _tells(x) else np.zeros(len(x), dtype=np.intp)

    def numbers(self, block: Block) -> Flags:
        """Columns that are no zeros and ones."""
        names = self.design.categories
        return np.array([name not in names and not _tells(as_float(block.columns[name])) for name in self.columns])

    def labels(self, table: CellTable, by: tuple[str, ...]) -> NDArray[np.int64]:
        """The cell of a family, in its stratum, that each crossed one lies in."""
        digits, code = {}, table.codes
        for name, size in zip(reversed(self.columns), reversed(self.sizes), strict=True):
            code, digits[name] = np.divmod(code, size)
        own = np.zeros(len(code), dtype=np.int64)
        for name in by:
            own = own * dict(zip(self.columns, self.sizes, strict=True))[name] + digits[name]
        return np.unique(cell_words(table.strata, own), return_inverse=True)[1]

    def told(self, table: CellTable, numbers: Flags) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Cells whose totals follow from what is kept: of every family, of what one leaves of another, and of chains.

        numbers: columns that were no zeros and ones
        """
        no_cells = {name for name, number in zip(self.columns, numbers, strict=True) if number}
        every = {by: self.labels(table, by) for by in self.families if not no_cells & {*by}}
        within = "" if self.domain.whole else f" in {self.domain.name}"
        for by, own in every.items():
            yield " and ".join(by) + within, own
        apart = [
            (one, two)
            for one, two in permutations(every, 2)
            if not any({*one, *two} <= {*by} for by in every) and not {*one} & {*two}
        ]
        for one, two in apart:
            yield f"{' and '.join(one)} less {' and '.join(two)}{within}", left_over(every[one], every[two])
        if apart:
            strata = np.unique(table.strata, return_inverse=True)[1]
            alone = told_alone(list(every.values()), strata, ATOMS)
            names = " and ".join(dict.fromkeys(name for by in every for name in by))
            yield f"{names} by differences{within}", np.where(alone, np.arange(len(alone)), -1)


def _tells(x: Array) -> bool:
    """Whether a column tells cells: zeros and ones."""
    return x[0] in (0, 1) and bool(((x == 0) | (x == 1)).all())


@dataclass(frozen=True, repr=False)
class CellParts(GroupTables):
    """Tables of cells, merged soon: they have many columns."""

    room: ClassVar[int] = 2**16


@dataclass(frozen=True, repr=False)
class Largest:
    """Records, and of every column the sum of values that are not negative and its three largest."""

    records: int
    total: Array
    top: Array

    @classmethod
    def of(cls, V: Array) -> Largest:
        top = np.zeros((3, V.shape[1]))
        top[: len(V)] = -np.sort(np.partition(-V, min(2, len(V) - 1), axis=0)[:3], axis=0)
        return cls(len(V), V.sum(axis=0), top)

    def __add__(self, other: Self) -> Largest:
        top = -np.sort(-np.vstack([self.top, other.top]), axis=0)[:3]
        return Largest(self.records + other.records, self.total + other.total, top)

    @property
    def alone(self) -> Flags:
        """Columns in which the root of what the second leaves is the first to within PRIOR."""
        left = (1 - 1 / self.records) * self.total - self.top[1]
        return np.asarray((self.top[0] >= ALONE * left) & (self.top[0] > 0))

    @property
    def shown(self) -> Flags:
        """Columns in which one record is so far beyond all others that variance and shape together show its size."""
        first, second, third = self.top
        beyond = (first >= MUCH * self.total) & (second + third < NEXT * first)
        return np.asarray(beyond | ((first >= HALF * self.total) & (first > 0)))

    @property
    def three(self) -> Flags:
        """Columns of squares in which one of the three largest, who subtracts its own, reads off the larger other.

        Of two with u >= v and u^2 + v^2 = q the first knows that u is at most its own, and at least sqrt(q / 2); the
        second that v is at most its own; the third that it is at least that. The middle is within PRIOR.
        """
        a, b, c = self.top
        told = np.zeros(len(a), dtype=bool)
        for own, low, high, u in (
            (a, (self.total - a) / 2, np.minimum(a, self.total - a), b),
            (b, np.maximum(b, self.total - 2 * b), self.total - b, a),
            (c, (self.total - c) / 2, self.total - 2 * c, a),
        ):
            low, high, u = (np.sqrt(np.maximum(each, 0.0)) for each in (low, high, u))
            middle = (low + high) / 2
            told |= (own > 0) & (high >= low) & (high - low <= 2 * PRIOR * middle) & (np.abs(middle - u) <= PRIOR * u)
        return told


@dataclass(frozen=True, repr=False)
class CellMeasure:
    """Folds a table for every crossing, of values times weights, and the largest squares about the mean of the file."""

    design: Design
    spread: Spread

    @cached_property
    def far(self) -> NDArray[np.intp]:
        """Columns in which a record, or three, may have nearly all of the variance; a weight may let any."""
        spread = self.spread
        most = np.maximum(spread.high - spread.mean, spread.mean - spread.low) ** 2
        weighted = self.design.roles.weight is not None
        return np.flatnonzero((most > 0) & (weighted | (most >= 0.25 * spread.squares)))

    @cached_property
    def crossings(self) -> list[CellGrid]:
        return CellGrid.every(self.design, self.spread.rows)

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """How far from the smallest, and from the largest, value of a column a record stands at that end."""
        sd = SPREAD * self.spread.sd
        return np.minimum(CLOSE * np.abs(self.spread.low), sd), np.minimum(CLOSE * np.abs(self.spread.high), sd)

    def of(self, aligned: AlignedBlock) -> Product:
        """The file's largest, then columns that are no cells and a table for every crossing, which merge by `+`.

        Records that were drawn anew are nobody's.
        """
        block, spread = aligned.block, self.spread
        if not block.columns:
            return Product()
        Y, w = aligned.Y, self.design.weights(block)
        hole = np.zeros(Y.shape, dtype=bool) if aligned.hole is None else aligned.hole
        far = self.far
        squares = np.where(hole[:, far], 0.0, Y[:, far] - spread.mean[far]) ** 2
        whole = Largest.of(squares if w is None else squares * w[:, None])
        numbers = [each.numbers(block) for each in self.crossings]
        if all(own.all() for own in numbers):  # as in most files of numbers alone: there are no cells
            return Product(whole, *(own.astype(np.int64) for own in numbers), *(CellParts(()) for _ in numbers))
        low, high = self.ends
        at_end = ((spread.low + low >= Y) | (spread.high - high <= Y)) & (Y != 0) & ~hole
        empty = (Y == 0) & ((spread.low == 0) | (spread.high == 0)) & ~hole
        sizes = np.abs(Y) if w is None else np.abs(Y) * w[:, None]
        ends = np.hstack([at_end, empty])
        tables = [CellTable.of(each.strata(block), each.codes(block), sizes, ends) for each in self.crossings]
        return Product(whole, *(own.astype(np.int64) for own in numbers), *(CellParts((table,)) for table in tables))


@dataclass(frozen=True)
class CellSummary:
    """Cells of a factor, in counts.

    dominated: whose total tells the second largest the largest, in some column
    known: whose records all stand at an end of a column's range, at zero where most others do not
    smallest: records of the smallest
    of: what the largest is: a record, or a unit, which may have several
    large: how many of these the largest cell has that is dominated or known
    apart: whether they are differences of cells
    """

    name: str
    cells: int
    dominated: int
    known: int
    smallest: int
    of: str = "record"
    large: int = 0
    apart: bool = False


@dataclass(frozen=True)
class CellsSeen:
    """What means and variances of the file, and totals of cells, give away.

    giants: columns in which one record has nearly all of the variance, that of the next one aside
    three: columns in which three have, and one of these reads another off
    shown: columns in which one record is far beyond all others, where shapes are kept
    """

    giants: tuple[str, ...] = ()
    factors: tuple[CellSummary, ...] = ()
    three: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @classmethod
    def of(cls, done: Protected, traits: tuple[str, ...], zeros: Array, shapes: bool = False) -> Self:
        """traits: columns of two values, whose totals are counts; zeros: cells of every column, and those at zero;
        shapes: whether the method nearly keeps them"""
        if not done.seen["cells"]:
            return cls()
        design, (whole, *rest) = done.design, done.seen["cells"]
        measure = CellMeasure(design, done.spread)
        names, crossings = design.confidential, measure.crossings
        counted = np.array([name in traits for name in names])
        amounts = ~counted[measure.far]
        alone, three = whole.alone & amounts, whole.three & amounts & (design.roles.weight is None)
        factors: list[CellSummary] = []
        for each, numbers, parts in zip(crossings, rest[: len(crossings)], rest[len(crossings) :], strict=True):
            if (numbers > 0).all():
                continue
            table = CellTable.together(parts.parts)
            told = {name: own for name, own in each.told(table, numbers > 0) if (own >= 0).any()}
            factors += _summaries(done, each, table, told, counted, zeros)
        kept = done.drawn is None and (shapes or all(each.anew for each in done.strata))
        flags = alone, three & ~alone, whole.shown & amounts & kept
        giant, others, shown = (tuple(names[j] for j in measure.far[each]) for each in flags)
        return cls(giant, tuple(factors), others, shown)


def _summaries(
    done: Protected,
    crossing: CellGrid,
    table: CellTable,
    told: dict[str, NDArray[np.int64]],
    counted: Flags,
    zeros: Array,
) -> Iterator[CellSummary]:
    units = _by_units(done, crossing, table, [*told.values()], counted) if done.design.roles.unit and told else []
    for place, (name, own) in enumerate(told.items()):
        cells = table.united(own)
        here = cells.records[:, None].astype(np.float64)
        news = np.hstack([np.ones((len(here), len(counted)), dtype=bool), unusual(here, *zeros)])
        dominated, known = (cells.dominated & ~counted).any(axis=1), (cells.known & news).any(axis=1)
        sizes, many = cells.records, int(cells.records[dominated | known].max(initial=0))
        counts = len(sizes), int(dominated.sum()), int(known.sum()), int(sizes.min())
        found = CellSummary(name, *counts, large=many, apart=bool((own < 0).any()))
        yield replace(found, dominated=units[place][0], large=units[place][1], of="unit") if units else found


def _by_units(
    done: Protected, crossing: CellGrid, table: CellTable, told: list[NDArray[np.int64]], counted: Flags
) -> list[tuple[int, int]]:
    """How many of the same cells are dominated by a unit, and units of the largest; in a pass of its own."""
    design, unit = done.design, done.design.roles.unit or ""

    def of(run: Run) -> Iterator[UnitTotals]:
        units = np.concatenate([unit_words(block, unit) for block in run])
        words = np.concatenate([cell_words(crossing.strata(block), crossing.codes(block)) for block in run])
        parts, w = [design.values(block) for block in run], [design.weights(block) for block in run]
        Y = np.vstack([A if v is None else A * v[:, None] for A, v in zip(parts, w, strict=True)])
        place = np.searchsorted(table.groups, words)
        for own in told:
            here = own[place]
            yield UnitTotals.of(here[here >= 0].astype(np.uint64), units[here >= 0], Y[here >= 0])

    tables = GroupTables.whole(done.rows, of, tuple(dict.fromkeys([*design.columns, unit])))
    cells = [each.concentration() for each in tables]
    dominated = [(read_off(c.total, c.first, c.second) & ~counted).any(axis=1) for c in cells]
    return [(int(own.sum()), int(c.sizes[own].max(initial=0))) for own, c in zip(dominated, cells, strict=True)]
