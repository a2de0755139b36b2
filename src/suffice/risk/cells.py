"""Cells of given factors, and the whole file: what their kept totals, means and variances say of single records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.protection.aligned import AlignedBlock
from suffice.protection.protected import Protected
from suffice.risk.dominance import PRIOR
from suffice.risk.group_summary import GroupTables
from suffice.risk.units import UnitTotals, unit_words
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block, Product, Run

MOST = 2**12
"""Cells of a factor that are looked at: where there are more, it is absorbed or an interaction."""
ALONE = 1 / (1 + PRIOR) ** 2
"""Share of a sum of squares from which on its root tells the one that has it to within PRIOR."""


@dataclass(frozen=True, repr=False)
class CellTable:
    """Of every cell the records, and of every cell and column the sum of values that are not negative, their two
    largest, and how many records stand at an end of the column's range that is not zero."""

    records: NDArray[np.int64]
    total: Array
    first: Array
    second: Array
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, code: NDArray[np.intp], cells: int, V: Array, at_end: Flags) -> CellTable:
        order = np.argsort(code.astype(np.uint16), kind="stable")  # which numpy does by digits
        records = np.bincount(code, minlength=cells)
        there = np.flatnonzero(records)
        starts, counts = np.cumsum(records[there]) - records[there], records[there]
        total, first, second = (np.zeros((cells, V.shape[1])) for _ in range(3))
        ends = np.zeros((cells, V.shape[1]), dtype=np.int64)
        for j in range(V.shape[1]):
            v = V[order, j]
            top = np.maximum.reduceat(v, starts)
            total[there, j], first[there, j] = np.add.reduceat(v, starts), top
            largest = np.flatnonzero(v == np.repeat(top, counts))
            once = np.diff(np.searchsorted(starts, largest, side="right"), prepend=0) > 0
            v[largest[once]] = 0.0
            second[there, j] = np.maximum.reduceat(v, starts)
            if at_end[:, j].any():
                ends[:, j] = np.bincount(code[at_end[:, j]], minlength=cells)
        return cls(records, total, first, second, ends)

    def __add__(self, other: CellTable) -> CellTable:
        return CellTable(
            self.records + other.records,
            self.total + other.total,
            np.maximum(self.first, other.first),
            np.maximum(np.minimum(self.first, other.first), np.maximum(self.second, other.second)),
            self.ends + other.ends,
        )

    @property
    def dominated(self) -> Flags:
        """Where the second largest reads the largest off the total to within PRIOR."""
        rest = self.total - self.first - self.second
        return np.asarray((rest < PRIOR * self.first * (1 - 1e-12)) & (self.first > 0))

    @property
    def known(self) -> Flags:
        """Where all records stand at an end: the mean says so."""
        return np.asarray((self.ends == self.records[:, None]) & (self.records[:, None] > 0))


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
class CellMeasure:
    """Folds a table for every factor, of values times weights, and one of the squares about the mean for the file."""

    design: Design
    spread: Spread

    @cached_property
    def far(self) -> NDArray[np.intp]:
        """Columns in which a record may have nearly all of the variance; a weight may let any."""
        spread = self.spread
        most = np.maximum(spread.high - spread.mean, spread.mean - spread.low) ** 2
        weighted = self.design.roles.weight is not None
        return np.flatnonzero((most > 0) & (weighted | (most >= 0.4 * spread.squares)))

    def of(self, aligned: AlignedBlock) -> Product:
        """The file's table, then those of the factors. Records that were drawn anew are nobody's."""
        block, spread, factors = aligned.block, self.spread, families(self.design)
        if not block.columns:
            return Product()
        Y, w = aligned.Y, self.design.weights(block)
        hole = np.zeros(Y.shape, dtype=bool) if aligned.hole is None else aligned.hole
        far = self.far
        squares = np.where(hole[:, far], 0.0, Y[:, far] - spread.mean[far]) ** 2
        sizes = np.abs(Y) if factors else Y
        if w is not None:
            squares, sizes = squares * w[:, None], sizes * w[:, None]
        at_end = (np.equal(Y, spread.low) | np.equal(Y, spread.high)) & (Y != 0) & ~hole if factors else hole
        whole = CellTable.of(np.zeros(len(Y), dtype=np.intp), 1, squares, hole[:, far])
        tables = []
        for by, n in factors.items():
            if _tells(self.design, block, by):
                tables.append(CellTable.of(_codes(self.design, block, by), n, sizes, at_end))
            else:
                none = np.zeros((n, Y.shape[1]))
                tables.append(CellTable(np.zeros(n, dtype=np.int64), none + np.inf, none, none, none.astype(np.int64)))
        return Product(whole, *tables)


def _codes(design: Design, block: Block, by: tuple[str, ...]) -> NDArray[np.intp]:
    code = np.zeros(len(block), dtype=np.intp)
    for name in by:
        category = design.categories.get(name)
        own = (as_float(block.columns[name]) != 0).astype(np.intp) if category is None else category.codes(block)
        code = code * (2 if category is None else category.size) + own
    return code


def _tells(design: Design, block: Block, by: tuple[str, ...]) -> bool:
    """Whether a column tells cells: a factor, or zeros and ones."""
    if by[0] in design.categories:
        return True
    x = as_float(block.columns[by[0]])
    return x[0] in (0, 1) and bool(((x == 0) | (x == 1)).all())


@dataclass(frozen=True)
class CellSummary:
    """Cells of a factor, in counts.

    dominated: whose total tells the second largest the largest, in some column
    known: whose records all stand at an end of a column's range
    smallest: records of the smallest
    of: what the largest is: a record, or a unit, which may have several
    """

    name: str
    cells: int
    dominated: int
    known: int
    smallest: int
    of: str = "record"


@dataclass(frozen=True)
class CellsSeen:
    """What means and variances of the file, and totals of cells, give away.

    giants: columns in which one record has nearly all of the variance, that of the next one aside
    """

    giants: tuple[str, ...] = ()
    factors: tuple[CellSummary, ...] = ()

    @classmethod
    def of(cls, done: Protected, traits: tuple[str, ...]) -> Self:
        """traits: columns of two values, whose totals are counts"""
        if not done.seen["cells"]:
            return cls()
        design, (whole, *tables) = done.design, done.seen["cells"]
        measure = CellMeasure(design, done.spread)
        names = design.confidential
        counted = np.array([name in traits for name in names])
        left = (1 - 1 / whole.records[0]) * whole.total[0] - whole.second[0]
        giants = measure.far[(whole.first[0] >= ALONE * left) & (whole.first[0] > 0) & ~counted[measure.far]]
        every = zip(families(design), tables, strict=True)
        told = {by: table for by, table in every if np.isfinite(table.total).all()}  # others were no cells
        factors = tuple(
            CellSummary(
                " and ".join(by),
                int((table.records > 0).sum()),
                int((table.dominated & ~counted).any(axis=1).sum()),
                int(table.known.any(axis=1).sum()),
                int(table.records[table.records > 0].min()),
            )
            for by, table in told.items()
        )
        giant = tuple(names[j] for j in giants)
        return cls(giant, factors if not design.roles.unit else _by_units(done, tuple(told), factors, counted))


def _by_units(
    done: Protected, told: tuple[tuple[str, ...], ...], factors: tuple[CellSummary, ...], counted: Flags
) -> tuple[CellSummary, ...]:
    """The same cells, of units, in a pass of its own."""
    design, unit = done.design, done.design.roles.unit or ""

    def of(run: Run) -> Iterator[UnitTotals]:
        units, parts = (
            np.concatenate([unit_words(block, unit) for block in run]),
            [design.matrix(block) for block in run],
        )
        w = [design.weights(block) for block in run]
        Y = np.vstack(
            [A[:, design.m :] if v is None else A[:, design.m :] * v[:, None] for A, v in zip(parts, w, strict=True)]
        )
        for by in told:
            codes = np.concatenate([_codes(design, block, by) for block in run])
            yield UnitTotals.of(codes.astype(np.uint64), units, Y)

    tables = GroupTables.whole(done.rows, of, tuple(dict.fromkeys([*design.columns, unit]))) if factors else []
    cells = [table.concentration() for table in tables]
    flags = [(c.total - c.first - c.second < PRIOR * c.first * (1 - 1e-12)) & (c.first > 0) & ~counted for c in cells]
    found = zip(factors, flags, strict=True)
    return tuple(replace(each, dominated=int(own.any(axis=1).sum()), of="unit") for each, own in found)
