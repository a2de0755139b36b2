"""What contributors know of cells: those that they stand alone in, and of others their own part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from suffice.algebra.array import Array, Flags
from suffice.tables.table import COUNT, Table

LEADING = 2
"""The largest contributors of each suppressed cell who are asked: of a pair both."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Insiders:
    """Contributors of the unknown cells.

    alone: the one who stands alone behind each cell, and knows it; or -1
    parts: units x cells, what each contributes, which the cell is not less than; empty where that does not follow
    leading: the largest contributors of suppressed cells
    """

    alone: NDArray[np.int64]
    parts: sparse.csr_array
    leading: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, name: str, unknown: Flags, gaps: Flags, signed: bool) -> Insiders | None:
        """Of the cells that are unknown, gaps or hidden; None where it is not known who stands behind them.

        Who is counted, and not named, knows of no one else. Where some contribute less than nothing, a part tells
        nothing of a cell. Of a summary of cells the lone ones are known, and none of the others.
        """
        people, size = table.contributors, len(table)
        nobody = np.full(size, -1)
        none = cls(nobody, sparse.csr_array((size, size)), nobody[:0])
        if people is None or table.holding is None:
            if name in table.counts and (table.known is None or np.isnan(table.known.units).any()):
                return none
            return _of_summary(table, name, gaps)
        if name in table.counts and people.names is None:
            return none
        cells = np.flatnonzero(unknown)
        place, unit, part, one = people.behind(sparse.csr_array(table.holding[cells]), None if name == COUNT else name)
        nobody[cells] = one
        nobody[~gaps] = -1
        shape = (int(people.unit.max(initial=0)) + 1, size)
        if signed:
            return cls(nobody, sparse.csr_array(shape), nobody[:0])
        order = np.lexsort((unit, -part, place))
        rank = np.arange(len(order)) - np.searchsorted(place[order], place[order])
        first = order[(rank < LEADING) & gaps[cells[place[order]]]]
        first = first[part[first] > 0]
        parts = sparse.csr_array((part, (unit, cells[place])), shape=shape)
        return cls(nobody, parts, np.unique(unit[first]).astype(np.int64))

    @cached_property
    def everyone(self) -> NDArray[np.int64]:
        """All who are asked."""
        return np.union1d(self.leading, self.alone[self.alone >= 0])

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """Room for a number of every unit."""
        return np.arange(max(self.parts.shape[0], int(self.alone.max(initial=-1)) + 1))

    def together(self) -> Insiders:
        """One who knows what all lone contributors know."""
        one = np.where(self.alone >= 0, int(self.alone.max(initial=0)), -1)
        return Insiders(one, sparse.csr_array(self.parts.shape), self.leading[:0])

    def of_unit(self, unit: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Cells that one knows, and those of which it knows a part, with the part."""
        begin, end = self.parts.indptr[unit : unit + 2] if unit < self.parts.shape[0] else (0, 0)
        cells, part = self.parts.indices[begin:end].astype(np.int64), self.parts.data[begin:end]
        some = (self.alone[cells] != unit) & (part > 0)
        return np.flatnonzero(self.alone == unit), cells[some], part[some]

    def touching(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Who of those that are asked knows something of these cells."""
        some = np.unique(sparse.csc_array(self.parts[:, cells]).indices)
        return np.intersect1d(np.union1d(some, self.alone[cells]), self.everyone).astype(np.int64)


def known_to(table: Table, name: str, unit: int, signed: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Cells of the whole table that one knows, and those of which it knows a part, with the part."""
    people, every = table.contributors, ~table.hidden
    if people is None or table.holding is None:
        who = _of_summary(table, name, every)
        return who.of_unit(unit) if who is not None else (np.zeros(0, dtype=np.int64),) * 2 + (np.zeros(0),)
    part = people.of_unit(unit, table.holding, None if name == COUNT else name)
    touched = table.holding @ np.bincount(people.inner[people.unit == unit], minlength=table.holding.shape[1]) > 0
    maybe = touched & (table.makeup(name).units <= 1) & every
    who = Insiders.of(table, name, maybe, maybe, True)
    own = np.zeros(len(table), dtype=bool) if who is None else who.alone == unit
    some = np.zeros(0, dtype=np.int64) if signed else np.flatnonzero((part > 0) & ~own)
    return np.flatnonzero(own), some, part[some]


def _of_summary(table: Table, name: str, gaps: Flags) -> Insiders | None:
    """Whoever is alone in a total is alone in its parts; of other cells they are other ones."""
    if table.known is None or np.isnan(table.known.units).any():
        return None
    one, size = table.known.units == 1, len(table)
    total, part = _sums(table)
    same = one[total] & one[part]
    pairs = sparse.coo_array((same[same], (total[same], part[same])), shape=(size, size))
    alone = np.where(one & gaps, csgraph.connected_components(pairs, directed=False)[1], -1)
    rows = [_at_least(table.values[name], np.flatnonzero(alone == unit), total, part) for unit in _units(alone)]
    found = sparse.lil_array((size, size))
    for unit, row in zip(_units(alone), rows, strict=True):
        found[unit, np.flatnonzero(row)] = row[row != 0]
    return Insiders(alone, sparse.csr_array(found), np.zeros(0, dtype=np.int64))


def _units(alone: NDArray[np.int64]) -> Iterator[int]:
    yield from np.unique(alone[alone >= 0]).tolist()


def _at_least(x: Array, own: NDArray[np.int64], total: NDArray[np.int64], part: NDArray[np.int64]) -> Array:
    """What one contributes to every cell, by the totals of its own cells."""
    found = np.zeros(len(x))
    found[own] = x[own]
    while True:
        before = found.copy()
        np.maximum.at(found, total, found[part])
        if (found == before).all():
            return found


def _sums(table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Totals and their parts, of equations in which nothing is taken away."""
    rows = table.relations.tocoo()
    part = (rows.col != table.totals[rows.row]) & (rows.data != 0)
    plain = np.bincount(rows.row[part & (rows.data < 0)], minlength=rows.shape[0]) == 0
    part &= plain[rows.row]
    return table.totals[rows.row[part]], rows.col[part]
