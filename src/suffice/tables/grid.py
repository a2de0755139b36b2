"""Cells of a table by their codes, and the equations between them as one sparse matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.errors import InputError
from suffice.tables.axis import Axis

Places = NDArray[np.int64]
MOST = 20_000_000
"""Cells that a table may have."""


@dataclass(frozen=True)
class Grid:
    """Cells, each a place on every axis.

    codes: cells x axes
    """

    axes: tuple[Axis, ...]
    codes: Places

    @classmethod
    def crossed(cls, axes: Sequence[Axis], parts: Sequence[Sequence[Sequence[int]]]) -> Grid:
        """The cells of some products of codes, each once, in the order of the products."""
        size = sum(int(np.prod([float(len(some)) for some in part])) for part in parts)
        if size > MOST:
            raise InputError(f"The table would have {size:,} cells, and at most {MOST:,} are possible.\nCross less.")
        blocks = [np.stack(np.meshgrid(*part, indexing="ij"), axis=-1).reshape(-1, len(axes)) for part in parts]
        codes = np.concatenate(blocks).astype(np.int64)
        keys = cls(tuple(axes), codes).keys
        return cls(tuple(axes), codes[np.sort(np.unique(keys, return_index=True)[1])])

    @property
    def strides(self) -> Places:
        sizes = [len(axis.codes) for axis in self.axes]
        if np.prod([float(size) for size in sizes]) > 2.0**62:
            raise InputError("The table has too many dimensions and codes to number its cells.\nCross less.")
        return np.array(
            [int(np.prod(sizes[place + 1 :], dtype=np.int64)) for place in range(len(sizes))], dtype=np.int64
        )

    @cached_property
    def keys(self) -> Places:
        return np.asarray(self.codes @ self.strides, dtype=np.int64)

    @cached_property
    def _sorted(self) -> tuple[Places, Places]:
        order = np.argsort(self.keys, kind="stable")
        return self.keys[order], order

    def find(self, keys: Places) -> Places:
        """The cells with these keys; -1 where there is none."""
        known, order = self._sorted
        if not len(known):
            return np.full(keys.shape, -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[at] == keys, order[at], -1)

    def label(self, cell: int) -> str:
        """A cell in words."""
        pairs = zip(self.axes, self.codes[cell], strict=True)
        return ", ".join(f"{axis.name}={axis.codes[place]}" for axis, place in pairs)

    def inner(self) -> Grid:
        """The products of leaves."""
        return Grid.crossed(self.axes, [[axis.leaves for axis in self.axes]])

    def holding(self, leaves: Places) -> sparse.csr_array:
        """Cells x combinations of leaves: 1 where a cell holds the combination.

        leaves: combinations x axes
        """
        which, keys = np.arange(len(leaves)), np.zeros(len(leaves), dtype=np.int64)
        for number, (axis, stride) in enumerate(zip(self.axes, self.strides, strict=True)):
            above = sparse.csr_array(axis.member.T)
            leaf = np.full(len(axis.codes), -1)
            leaf[axis.leaves] = np.arange(len(axis.leaves))
            row = leaf[leaves[which, number]]
            times = np.diff(above.indptr)[row]
            begin = np.repeat(above.indptr[row] - np.cumsum(times) + times, times)
            keys = np.repeat(keys, times) + above.indices[begin + np.arange(len(begin))] * stride
            which = np.repeat(which, times)
        cell = self.find(keys)
        here = cell >= 0
        shape = (len(self.codes), len(leaves))
        return sparse.csr_array((np.ones(here.sum()), (cell[here], which[here])), shape=shape)

    def _families(self) -> Iterator[tuple[Places, Places, Places]]:
        """For every sum of an axis: the places of the sums and of their parts, and the parts' signs."""
        for number, axis in enumerate(self.axes):
            stride, here = self.strides[number], self.codes[:, number]
            for parent, children in axis.sums:
                parts, signs = np.array(children, dtype=np.int64).T
                cells = np.flatnonzero(here == parent)
                yield cells, self.find(self.keys[cells, None] + (parts - parent) * stride), signs

    def complete(self) -> sparse.csr_array:
        """T of T x = 0: all sums whose parts are cells, and any other cell as the sum of its inner ones."""
        rows = _Rows(len(self.codes))
        for cells, parts, signs in self._families():
            whole = (parts >= 0).all(axis=1)
            rows.add(cells[whole], parts[whole], signs)
        sums = np.zeros(len(self.codes), dtype=bool)
        sums[rows.totals] = True
        leaf = np.ones(len(self.codes), dtype=bool)
        for number, axis in enumerate(self.axes):
            leaf &= np.isin(self.codes[:, number], axis.leaves)
        for cell in np.flatnonzero(~sums & ~leaf):
            rows.add(np.array([cell]), self._below(int(cell))[None, :], np.ones(1, dtype=np.int64))
        return rows.matrix()

    def _below(self, cell: int) -> Places:
        """The inner cells of a cell."""
        some = [
            [axis.leaves[leaf] for leaf in axis.member[[place]].indices]
            for axis, place in zip(self.axes, self.codes[cell], strict=True)
        ]
        return self.find(np.array(list(product(*some)), dtype=np.int64) @ self.strides)

    def listed(self) -> sparse.csr_array:
        """T of T x = 0 for cells as a file has them: what is absent is empty, but no total may be."""
        rows = _Rows(len(self.codes))
        for cells, parts, signs in self._families():
            some = (parts >= 0).any(axis=1)
            rows.add(cells[some], parts[some], signs)
        self._refuse_missing_totals()
        return rows.matrix()

    def _refuse_missing_totals(self) -> None:
        for number, axis in enumerate(self.axes):
            stride, here = self.strides[number], self.codes[:, number]
            for parent, children in axis.sums:
                cells = np.flatnonzero(np.isin(here, [child for child, _ in children]))
                above = self.keys[cells] + (parent - here[cells]) * stride
                lost = np.flatnonzero(self.find(above) < 0)
                if len(lost):
                    codes = self.codes[cells[lost[0]]].copy()
                    codes[number] = parent
                    label, many = Grid(self.axes, codes[None, :]).label(0), len(np.unique(above[lost]))
                    raise InputError(
                        f"A total is missing: there is no cell {label}, though there are parts of it "
                        f"({many:,} such totals of {axis.name}).\nAdd these cells, or name the code of the totals."
                    )


class _Rows:
    """Equations, gathered."""

    def __init__(self, cells: int) -> None:
        self.cells, self.count = cells, 0
        self.totals: list[int] = []
        self.row, self.column, self.sign = ([np.zeros(0, dtype=np.int64)] for _ in range(3))

    def add(self, totals: Places, parts: Places, signs: Places) -> None:
        """A row each: parts, those that are -1 left out, less their total."""
        rows = np.arange(self.count, self.count + len(totals))
        here = parts >= 0
        self.row += [rows, np.broadcast_to(rows[:, None], parts.shape)[here]]
        self.column += [totals, parts[here]]
        self.sign += [np.full(len(totals), -1), np.broadcast_to(signs, parts.shape)[here]]
        self.totals += totals.tolist()
        self.count += len(totals)

    def matrix(self) -> sparse.csr_array:
        row, column, sign = (np.concatenate(each) for each in (self.row, self.column, self.sign))
        return sparse.csr_array((sign.astype(np.float64), (row, column)), shape=(self.count, self.cells))
