"""Decimal numbers in place of suppressed cells, that add up to everything published (Langsrud 2019, section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import lsmr

from suffice.algebra.array import Array, Flags
from suffice.errors import GuardError, InfeasibleError, InputError, UsageError, count_of
from suffice.rows.threads import one_blas_thread
from suffice.seed import Seed
from suffice.tables.axis import Axis
from suffice.tables.columns import codes_of, columns_of_file, numbers_of
from suffice.tables.connected import parts_of
from suffice.tables.dimensions import Total
from suffice.tables.sensitivity import value_of
from suffice.tables.table import Table

WHOLE = 1e-6
"""A number this near to a whole one, in two draws, is one."""
DENSE, LARGEST = 500, 4000
"""Inner cells that hang together and are solved as one dense matrix, and where iteration does not end: at most."""
ROUNDS = 8
"""Solutions of what is still left of the equations, at most."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Decimals:
    """Inner cells of a table, those that were suppressed as decimal numbers; every total follows by adding up.

    inner: the cells that are no sums
    draws: two draws x inner cells x values, the second, which stays here, twice as wide
    residuals: what was drawn in each: a sum that both leave as it is follows from the published cells
    holding: cells x inner cells
    accepted: rules that would have stopped it, each with the reason
    rounded: after a modulo operation: suppressed inner counts that rounding makes true, that it makes without, and all
    """

    table: Table
    values: tuple[str, ...]
    suppressed: Flags
    inner: NDArray[np.int64]
    draws: Array
    residuals: Array
    holding: sparse.csr_array
    accepted: Mapping[str, str]
    rounded: tuple[int, int, int] | None = None

    @property
    def cells(self) -> Array:
        """All cells, from the first draw (23): a column for every value, where there are several."""
        found = np.asarray(self.holding @ self.draws[0])
        return found if len(self.values) > 1 else found[:, 0]

    def frame(self) -> pa.Table:
        """The inner cells alone: any total is a sum of them."""
        codes = self.table.grid.codes[self.inner]
        columns = {axis.name: [axis.codes[k] for k in codes[:, n]] for n, axis in enumerate(self.table.grid.axes)}
        return pa.table({**columns, **dict(zip(self.values, self.draws[0].T, strict=True))})

    def ask(self, cells: Sequence[int], value: str | None = None) -> tuple[str, float]:
        """Whether the sum of some cells is published, publishable - it follows from what is published - or hidden."""
        if value is not None and value not in self.values:
            raise UsageError(f"{value!r} is none of the values: {', '.join(self.values)}.")
        rows = np.asarray(self.holding[list(cells)].sum(axis=0), dtype=np.float64)
        told = float(rows @ self.draws[0][:, self.values.index(value) if value else 0])
        if not (self.suppressed | self.table.hidden)[list(cells)].any():
            return "published", told
        return self.status(rows), told

    def status(self, times: Array | Flags, cell: int = -1) -> str:
        """What is told of a sum of inner cells, each so many times, which may be a cell of the table."""
        if cell >= 0 and not (self.suppressed | self.table.hidden)[cell]:
            return "published"
        return "publishable" if self._unmoved(np.asarray(times, dtype=np.float64)[None, :])[0] else "hidden"

    def told(self) -> Flags:
        """Suppressed cells that follow from the published ones: there the suppression has failed."""
        return self.suppressed & self._unmoved(self.holding)

    def _unmoved(self, rows: Any) -> Flags:
        """Sums of inner cells that no draw moves: neither of two does, so that none is told by chance."""
        room = WHOLE * np.abs(self.residuals).max(initial=0.0)
        return np.asarray(np.all([np.abs(rows @ each).max(axis=1) <= room for each in self.residuals], axis=0))

    @property
    def error(self) -> float:
        """The largest error of a published cell, relative to the cells that it is the sum of."""
        shown = ~self.suppressed & ~self.table.hidden
        true = np.column_stack([self.table.values[name] for name in self.values])
        off = np.abs(self.holding @ self.draws[0] - true)[shown]
        room = np.asarray(self.holding @ np.abs(self.draws[0]))[shown]
        return float(np.max(off / np.where(room > 0, room, 1.0), initial=0.0))


def decimals(
    table: Table,
    suppressed: Sequence[bool] | Flags,
    value: str | Sequence[str] | None = None,
    *,
    seed: Seed | None = None,
    spread: float = 1.0,
    modulo: int | None = None,
    accept: Mapping[str, str] | None = None,
) -> Decimals:
    """Decimal numbers for the suppressed cells: fitted values (21) and a residual that no published cell sees.

    The fitted values are computed from the published cells alone, and the residuals have a size that does not come from
    the data: nothing is told that the published cells do not tell. A suppressed cell that follows from them is refused.

    value: one, or several, each with residuals of its own
    spread: root mean square of the residuals of suppressed inner cells, per degree of freedom; of one, on average
    modulo: fit what is left of suppressed counts after division by this number. That tells more than the published
        cells do, and is refused unless accepted: accept={"modulo": the reason}

    >>> table = Table.of_records({"a": list("xxyy"), "b": list("uvuv"), "n": [1, 9, 9, 9]}, ["a", "b"], frequency="n")
    >>> inner = [table.find(a, b) for a in "xy" for b in "uv"]
    >>> made = decimals(table, np.isin(np.arange(len(table)), inner))
    >>> made.error < 1e-14, made.ask(inner[:2])[0], made.ask(inner[:1])[0]
    (True, 'publishable', 'hidden')
    """
    names = tuple(value_of(table, name) for name in ([value] if value is None or isinstance(value, str) else value))
    gaps = table.gaps(suppressed) | (table.hidden & ~table.impossible)
    if not names or len(set(names)) < len(names):
        raise UsageError("Decimal numbers need values, and each once.")
    if set(accept or {}) - {"modulo"}:
        raise UsageError("Of decimals, 'modulo' is the one rule that can be accepted.")
    if not spread > 0:
        raise UsageError("The residuals need a positive spread: without them whole numbers may be true ones.")
    inner, holding = _inner(table)
    y, shown, open_ = np.column_stack([table.values[name] for name in names]), np.flatnonzero(~gaps), gaps[inner]
    known = np.where(open_[:, None], 0.0, y[inner])
    rows, rest = sparse.csr_array(holding[shown][:, open_]), y[shown] - holding[shown] @ known
    streams = [(seed or Seed()).derive("decimals", name) for name in names]
    normals = [s.generator("normals", number).standard_normal(len(inner)) for number in range(2) for s in streams]
    least, moved = _solved(rows, rest, np.column_stack(normals)[open_])
    rounded = None
    if modulo is not None:
        kept = _quotients(y[inner[open_]], modulo)
        fitted = kept + _solved(rows, rest - rows @ kept, moved)[0]
        true, chance = (int((np.rint(fit) == y[inner[open_]]).sum()) for fit in (fitted, least))
        least, rounded = fitted, (true, chance, int(open_.sum()))
        if not (accept or {}).get("modulo", "").strip():
            raise GuardError(
                f"modulo: {told_by_modulo(*rounded)}\n"
                "Leave the modulo out, or accept it with a reason: accept={'modulo': ...}."
            )
    draws, residuals = np.stack([known, known]), np.zeros((2, *known.shape))
    for number in range(2):
        residuals[number, open_] = (number + 1) * spread * moved[:, number * len(names) :][:, : len(names)]
        draws[number, open_] = least + residuals[number, open_]
    reasons = dict(accept or {}) if modulo else {}
    found = Decimals(table, names, gaps & ~table.hidden, inner, draws, residuals, holding, reasons, rounded)
    failed = np.flatnonzero(found.told())
    if len(failed):
        first, many = table.label(int(failed[0])), len(failed)
        follow = f"{count_of(many, 'suppressed cell')} {'follow' if many > 1 else 'follows'}"
        raise GuardError(
            f"{follow} from the published ones (the first: {first}).\n"
            "Suppress more cells around them: an audit says how well each is protected."
        )
    return found


def read_back(
    stored: Any,
    dims: Sequence[str],
    value: str = "count",
    *,
    hierarchies: Mapping[str, Axis | Sequence[Any]] | None = None,
    total: Total = "Total",
) -> tuple[Table, Flags]:
    """The table with gaps that stored inner cells stand for, and its pattern: what is no whole number is suppressed.

    stored: the inner cells of counts, as `Decimals.frame` gives them, or a file
    """
    file = columns_of_file(stored, [*dims, value])
    cells, name = {dim: codes_of(file, dim) for dim in dims}, "-".join(["decimals", *dims])  # none of the others'
    table = Table.of_records(
        {**cells, name: numbers_of(file, value)}, dims, [name], hierarchies=hierarchies, total=total
    )
    sums = table.values[name]
    gaps = np.abs(sums - np.rint(sums)) > WHOLE
    if gaps.all():
        raise InputError(f"No cell of {value!r} is a whole number.\nA pattern can be read back from counts only.")
    shown = {value: np.where(gaps, np.nan, np.rint(sums))}
    return replace(table, values=shown, counts=frozenset([value]), contributors=None, holding=None), gaps


def _quotients(counts: Array, modulo: int) -> Array:
    """What a division leaves out of the fit: the largest multiples up to the counts."""
    if modulo < 2 or counts.shape[1] > 1:
        raise UsageError("A modulo is a whole number from 2, and goes with one value.")
    if (counts < 0).any() or (counts != np.rint(counts)).any():
        raise UsageError("A modulo needs counts: whole numbers from zero.\nLeave it out.")
    return np.asarray(modulo * np.floor(counts / modulo))


def told_by_modulo(true: int, chance: int, cells: int) -> str:
    """Fits that know the quotients are functions of the suppressed counts: whole tables can be tried against them."""
    return (
        f"fits after a division tell what no published cell tells. Rounded, they are true in {true:,} of "
        f"{cells:,} suppressed inner cells, and in {chance:,} without it; whole tables can be tried."
    )


def _inner(table: Table) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """The lowest cells, and which of them every cell holds: X of (20), transposed."""
    leaf = np.ones(len(table), dtype=bool)
    for number, axis in enumerate(table.grid.axes):
        leaf &= np.isin(table.grid.codes[:, number], axis.leaves)
    bare = ~leaf & ~np.isin(np.arange(len(table)), table.totals)
    if bare.any():
        label = table.label(int(np.flatnonzero(bare)[0]))
        raise InputError(
            f"The cell {label} has no parts in the table, and decimal numbers need all lowest cells.\n"
            "Make linked tables as one, by a formula from records: region * industry + county * size."
        )
    inner = np.flatnonzero(leaf)
    return inner, table.grid.holding(table.grid.codes[inner])


def _solved(rows: sparse.csr_array, right: Array, normals: Array) -> tuple[Array, Array]:
    """Least solutions of rows y = right, and normals in the null space, of mean square one a dimension of several."""
    found, moved, free = np.zeros((rows.shape[1], right.shape[1])), np.zeros(normals.shape), 0.0
    for some, cells in parts_of(rows, np.ones(rows.shape[1], dtype=bool)):
        solve = _directly if len(cells) <= DENSE else _iterated
        found[cells], moved[cells], more = solve(sparse.csr_array(rows[some][:, cells]), right[some], normals[cells])
        free += more
    if round(free) == 1:  # of one size they would be half a spread away in each of four cells, and often whole numbers
        return found, moved
    size = np.linalg.norm(moved, axis=0)
    return found, moved * (np.sqrt(free) / np.where(size > 0, size, 1.0))


def _directly(rows: sparse.csr_array, right: Array, normals: Array) -> tuple[Array, Array, float]:
    """By one decomposition, in which redundant columns of X are last."""
    matrix, which = np.unique(rows.toarray(), axis=0, return_index=True)
    if not matrix.size:
        return np.zeros((rows.shape[1], right.shape[1])), normals, rows.shape[1]
    basis, upper, order = linalg.qr(matrix.T, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(upper)) > 1e-9).sum())
    basis, upper, order = basis[:, :rank], upper[:rank, :rank], order[:rank]
    found, moved = np.zeros((rows.shape[1], right.shape[1])), normals.copy()
    for _ in range(3):  # of what is left, once more
        found += basis @ linalg.solve_triangular(upper, (right[which] - matrix @ found)[order], trans="T")
        moved -= basis @ (basis.T @ moved)
    return found, moved if rank < len(moved) else np.zeros(normals.shape), len(moved) - rank


def _iterated(rows: sparse.csr_array, right: Array, normals: Array) -> tuple[Array, Array, float]:
    """By iteration from zero, which ends in the least solution; equations that agree may be scaled."""
    scale = 1 / np.sqrt(np.asarray((rows * rows).sum(axis=1)))
    matrix = sparse.csr_array(sparse.diags_array(scale) @ rows)
    targets = np.hstack([scale[:, None] * right, matrix @ normals])
    found = np.zeros((rows.shape[1], targets.shape[1]))
    for _ in range(ROUNDS):  # of what is left, once more
        left = targets - matrix @ found
        off = np.abs(left) > 1e-13 * (abs(matrix) @ np.abs(found) + np.abs(targets))
        with one_blas_thread():  # threads would wait for each other at every product
            for number in np.flatnonzero(off.any(axis=0)):
                found[:, number] += lsmr(matrix, left[:, number], atol=0, btol=1e-12, conlim=0, maxiter=5000)[0]
        if not off.any():
            break
    else:
        if rows.shape[1] <= LARGEST:
            return _directly(rows, right, normals)
        raise InfeasibleError(
            f"The equations of {rows.shape[1]:,} suppressed inner cells that hang together were not solved to 1e-12.\n"
            "Publish more cells between them, or make several tables."
        )
    moved = normals - found[:, right.shape[1] :]
    free = float((moved**2).sum(axis=0).mean())  # its mean is the number of dimensions
    none = free < 1e-14 * len(moved)
    return found[:, : right.shape[1]], np.zeros(moved.shape) if none else moved, 0.0 if none else free
