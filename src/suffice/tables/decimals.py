"""Decimal numbers in place of suppressed cells, that add up to everything published (Langsrud 2019, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import linalg, sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import GuardError, InputError, UsageError
from suffice.seed import Seed
from suffice.tables.audit import parts_of
from suffice.tables.sensitivity import value_of
from suffice.tables.table import Table

WHOLE = 1e-6
"""A number this near to a whole one, in two draws, is one."""
DENSE = 4000
"""Inner cells that hang together and are still solved as one dense matrix."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Decimals:
    """Inner cells of a table, those that were suppressed as decimal numbers; every total follows by adding up.

    inner: the cells that are no sums
    draws: two draws x inner cells, the second, which stays here, twice as wide: what both agree on is told by the
        published cells, whatever is drawn
    holding: cells x inner cells
    """

    table: Table
    value: str
    suppressed: Flags
    inner: NDArray[np.int64]
    draws: Array
    holding: sparse.csr_array

    @property
    def cells(self) -> Array:
        """All cells, from the first draw (23)."""
        return np.asarray(self.holding @ self.draws[0])

    def frame(self) -> pa.Table:
        """The inner cells alone: any total is a sum of them."""
        codes = self.table.grid.codes[self.inner]
        columns = {axis.name: [axis.codes[k] for k in codes[:, n]] for n, axis in enumerate(self.table.grid.axes)}
        return pa.table({**columns, self.value: self.draws[0]})

    def ask(self, cells: Sequence[int]) -> tuple[str, float]:
        """Whether the sum of some cells is published, publishable - it follows from what is published - or hidden."""
        sums = np.asarray((self.holding[list(cells)] @ self.draws.T).sum(axis=0))
        if not (self.suppressed | self.table.hidden)[list(cells)].any():
            return "published", float(sums[0])
        return ("publishable" if self._same(sums[0], sums[1]) else "hidden"), float(sums[0])

    def told(self) -> Flags:
        """Suppressed cells that follow from the published ones: there the suppression has failed."""
        first, second = (np.asarray(self.holding @ draw) for draw in self.draws)
        return self.suppressed & self._same(first, second)

    def _same(self, first: Array | float, second: Array | float) -> Flags:
        size = float(np.abs(self.draws[0] - self.draws[1]).max(initial=0.0))
        return np.asarray(np.abs(np.subtract(first, second)) <= WHOLE * size)

    @property
    def error(self) -> float:
        """The largest error of a published cell, relative to the cells that it is the sum of."""
        shown = ~self.suppressed & ~self.table.hidden
        off = np.abs(self.cells - self.table.values[self.value])[shown]
        room = np.asarray(self.holding @ np.abs(self.draws[0]))[shown]
        return float(np.max(off / np.where(room > 0, room, 1.0), initial=0.0))


def decimals(
    table: Table,
    suppressed: Sequence[bool] | Flags,
    value: str | None = None,
    *,
    seed: Seed | None = None,
    spread: float = 1.0,
) -> Decimals:
    """Decimal numbers for the suppressed cells: fitted values (21) and a residual that no published cell sees.

    The fitted values are computed from the published cells alone, and the residuals have a size that does not come from
    the data: nothing is told that the published cells do not tell. A suppressed cell that follows from them is refused.

    spread: root mean square of the residuals of suppressed inner cells, per degree of freedom

    >>> table = Table.of_records({"a": list("xxyy"), "b": list("uvuv"), "n": [1, 9, 9, 9]}, ["a", "b"], frequency="n")
    >>> inner = [table.find(a, b) for a in "xy" for b in "uv"]
    >>> made = decimals(table, np.isin(np.arange(len(table)), inner))
    >>> made.error < 1e-14, made.ask(inner[:2])[0], made.ask(inner[:1])[0]
    (True, 'publishable', 'hidden')
    """
    name = value_of(table, value)
    gaps = (np.asarray(suppressed, dtype=bool) | table.hidden) & ~table.impossible
    if not spread > 0:
        raise UsageError("The residuals need a positive spread: without them whole numbers may be true ones.")
    inner, holding = _inner(table)
    values = table.values[name]
    open_ = gaps[inner]
    stream = (seed or Seed()).derive("decimals", name)
    draws = np.tile(np.where(open_, 0.0, values[inner]), (2, 1))
    shown = np.flatnonzero(~gaps)
    normals = np.vstack([stream.generator("normals", number).standard_normal(len(inner)) for number in range(2)])
    rest = values[shown] - holding[shown] @ draws[0]
    draws[:, open_] = _solved(sparse.csr_array(holding[shown][:, open_]), rest, normals[:, open_], spread)
    found = Decimals(table, name, gaps & ~table.hidden, inner, draws, holding)
    failed = np.flatnonzero(found.told())
    if len(failed):
        first = table.label(int(failed[0]))
        raise GuardError(
            f"{len(failed):,} suppressed cells follow from the published ones (the first: {first}).\n"
            "Suppress more cells around them: an audit says how well each is protected."
        )
    return found


def _inner(table: Table) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """The lowest cells, and which of them every cell holds: X of (20), transposed."""
    leaf = np.ones(len(table), dtype=bool)
    for number, axis in enumerate(table.grid.axes):
        leaf &= np.isin(table.grid.codes[:, number], axis.leaves)
    bare = ~leaf & ~np.isin(np.arange(len(table)), table.totals)
    if bare.any():
        label = table.label(int(np.flatnonzero(bare)[0]))
        raise InputError(f"The cell {label} has no parts in the table.\nDecimal numbers need all lowest cells.")
    inner = np.flatnonzero(leaf)
    return inner, table.grid.holding(table.grid.codes[inner])


def _solved(rows: sparse.csr_array, right: Array, normals: Array, spread: float) -> Array:
    """Least solutions of rows y = right, and residuals in the null space; cells that do not hang together apart."""
    found, moved, free = np.zeros(rows.shape[1]), np.zeros(normals.shape), 0
    for some, cells in parts_of(rows, np.ones(rows.shape[1], dtype=bool)):
        if len(cells) > DENSE:
            raise InputError(f"{len(cells):,} suppressed inner cells hang together, and {DENSE:,} are possible.")
        part = np.unique(rows[some][:, cells].toarray(), axis=0, return_index=True)
        matrix, which = part[0], some[part[1]]
        basis, upper, _ = linalg.qr(matrix.T, mode="economic", pivoting=True)  # redundant columns of X are last
        rank = int((np.abs(np.diag(upper)) > 1e-9).sum()) if matrix.size else 0
        basis = basis[:, :rank]
        found[cells] = linalg.lstsq(matrix, right[which])[0] if rank else 0.0
        for _ in range(2):  # of what is left, once more
            found[cells] += linalg.lstsq(matrix, right[which] - matrix @ found[cells])[0] if rank else 0.0
        moved[:, cells] = normals[:, cells]
        for _ in range(2):
            moved[:, cells] -= (moved[:, cells] @ basis) @ basis.T
        free += len(cells) - rank
    size = np.linalg.norm(moved, axis=1, keepdims=True)
    wide = np.arange(1, len(normals) + 1)[
        :, None
    ]  # draws of one size would agree by chance where there is one direction
    scale = wide * spread * np.sqrt(free) / np.where(size > 0, size, 1.0)
    return np.asarray(found + scale * moved if free else np.tile(found, (2, 1)))
