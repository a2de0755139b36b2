"""What contributors know of suppressed cells: those that they stand alone in, and of others their own part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.tables.solver import Polytope
from suffice.tables.table import COUNT, Table

LEADING = 2
"""The largest contributors of each cell who are asked: of a pair both."""
Cells = tuple[tuple[int, int], ...]


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Inside:
    """What one of them knows of cells that hang together: bounds, and among these the cells that he knows."""

    low: Array
    high: Array
    fixed: NDArray[np.int64]
    shared: NDArray[np.int64]
    part: Array


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Insiders:
    """Contributors, by cell.

    alone: the one behind each cell, who knows it; or -1
    parts: what each contributes to each cell, which is no less; empty where that does not follow
    leading: the largest contributors of the cells
    """

    alone: NDArray[np.int64]
    parts: sparse.csr_array
    leading: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, name: str, unknown: NDArray[np.int64], gaps: Flags, signed: bool) -> Insiders | None:
        """Of the cells that are unknown, gaps or hidden; None where it is not known who stands behind them.

        Who is counted, and not named, knows of no one else. Where some contribute less than nothing, a part tells
        nothing of a cell.
        """
        people, size = table.contributors, len(table)
        alone, none = np.full(size, -1), np.zeros(0, dtype=np.int64)
        nobody = cls(alone, sparse.csr_array((size, size)), none)
        if people is None or table.holding is None:
            units = table.known.units if table.known is not None else np.full(size, np.nan)
            if np.isnan(units).any():
                return nobody if name in table.counts else None
            return replace(nobody, alone=np.where(gaps & (units == 1), np.arange(size), -1))  # each another one
        if name in table.counts and people.names is None:
            return nobody
        cell, unit, part, one = people.behind(sparse.csr_array(table.holding[unknown]), None if name == COUNT else name)
        alone[unknown] = one
        alone[~gaps] = -1
        if signed:
            return replace(nobody, alone=alone)
        order = np.lexsort((unit, -part, cell))
        rank = np.arange(len(order)) - np.searchsorted(cell[order], cell[order])
        first = order[(rank < LEADING) & gaps[unknown[cell[order]]]]
        shape = (int(people.unit.max(initial=0)) + 1, size)
        return cls(alone, sparse.csr_array((part, (unit, unknown[cell])), shape=shape), np.unique(unit[first]))

    @cached_property
    def everyone(self) -> NDArray[np.int64]:
        """All who are asked."""
        return np.union1d(self.leading, self.alone[self.alone >= 0])

    @cached_property
    def _own(self) -> dict[int, NDArray[np.int64]]:
        cells = np.flatnonzero(self.alone >= 0)
        cells = cells[np.argsort(self.alone[cells], kind="stable")]
        units, begin = np.unique(self.alone[cells], return_index=True)
        return dict(zip(units.tolist(), np.split(cells, begin[1:]), strict=True)) if len(units) else {}

    def own(self, unit: int) -> NDArray[np.int64]:
        """Cells that one knows."""
        return self._own.get(unit, np.zeros(0, dtype=np.int64))

    def shared(self, unit: int) -> tuple[NDArray[np.int64], Array]:
        """Cells that one knows a part of, and the part."""
        begin, end = self.parts.indptr[unit : unit + 2]
        cells, part = self.parts.indices[begin:end].astype(np.int64), self.parts.data[begin:end]
        some = (self.alone[cells] != unit) & (part > 0)
        return cells[some], part[some]

    def down(self, unit: int, x: Array, target: Cells) -> float:
        """How far a target may go down for one who knows parts of it."""
        known = dict(zip(*(each.tolist() for each in self.shared(unit)), strict=True))
        if not any(cell in known for cell, _ in target) or min(sign for _, sign in target) < 0:
            return np.inf
        return max(float(sum(x[cell] - known.get(cell, 0.0) for cell, _ in target)), 0.0)

    def touching(self, cells: NDArray[np.int64]) -> Iterator[int]:
        """Who knows something of these cells."""
        some = np.unique(sparse.csc_array(self.parts[:, cells]).indices)
        yield from np.intersect1d(np.union1d(some, self.alone[cells]), self.everyone).tolist()

    def inside(self, unit: int, space: Polytope, cells: NDArray[np.int64]) -> Inside:
        """What one knows of the cells of a polytope, which are in order."""
        fixed = np.flatnonzero(np.isin(cells, self.own(unit)))
        known, part = self.shared(unit)
        shared = np.flatnonzero(np.isin(cells, known))
        part = np.minimum(part[np.searchsorted(known, cells[shared])], space.start[shared])
        low, high = space.low.copy(), space.high.copy()
        low[shared] = np.maximum(low[shared], part)
        low[fixed] = high[fixed] = space.start[fixed]
        return Inside(low, high, fixed, shared, part)

    def equations(self, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Equations with a cell that somebody knows, and who that is."""
        cells = np.flatnonzero(self.alone >= 0)
        found = table.relations.tocsc()[:, cells].tocoo()
        pairs = np.unique(np.column_stack([self.alone[cells][found.col], found.row]).astype(np.int64), axis=0)
        return pairs[:, 1], pairs[:, 0]
