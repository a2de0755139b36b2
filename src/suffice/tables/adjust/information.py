"""How many tables fit an adjusted one, whose statistics are exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.linalg import null_space

from suffice.algebra.array import EPS, Array, Flags
from suffice.statistics.cell_moments import CellMoments
from suffice.statistics.safe_cells import SHORT
from suffice.tables.grid import Places
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table

PLACES = 9
"""Decimals of cells that are multiples of something."""
DIGITS = 50.0
"""Bits of a number with all its digits."""
DENSE = 800
"""Changed cells up to which their dimensions are counted; of more, equations are taken for independent."""
FEW = 10.0
"""Bits that an adjustment must leave open: a thousand tables."""
BEYOND = 80.0
"""Bits of cells that nobody tries, not by two halves either; a slope is linear, and lattices do without trying."""
PAIRED = 12
"""Sets up to which every two are looked at together."""


def bits_left(
    table: Table, changes: Mapping[str, Array], given: Sequence[Sensitivity], kept: CellMoments | None
) -> float:
    """Bits of the original's cells that an adjusted table leaves open; infinite where no second moment is kept.

    Changed cells show by their digits. They are multiples of a unit, and equations and means leave them some
    dimensions: as many cells, those that are known best, tell all others. Of a sensitive one its level leaves half of
    that up and down (sizes are drawn there), of any other what it changed by, both ways; each other cell that must fit
    takes a bit (as counted in small tables). A variance or covariance of multiples is one, too, and tells where it
    lies among those that could be; a slope tells that to its last digit. What few sets tell of their own cells is not
    hidden by others: the least of each, of pairs and of all counts.
    """
    if kept is None or kept.keep == "means":
        return np.inf
    a = np.concatenate([table.values[name] for name in changes])
    y = np.concatenate([*changes.values()])
    unit = np.concatenate([np.full(len(table), _unit(table.values[name])) for name in changes])
    level = np.concatenate([np.where(each.sensitive, (each.lower + each.upper) / 2, 0.0) for each in given])
    moved = np.flatnonzero(np.abs(y) > np.maximum(unit / 2, SHORT * np.abs(a)))  # else rounding tells them
    reach = np.where(level > 0, level, 2 * np.abs(y))
    size = np.where(unit > 0, np.log2(np.maximum(1, reach / np.where(unit > 0, unit, 1))), DIGITS)[moved]
    rows = _equations(table, len(changes), moved, [*kept.sets.values()])
    N = null_space(rows.toarray()) if len(moved) <= DENSE else None
    names = [name for name, cells in kept.sets.items() if y[cells].any()]
    families = [[name] for name in names] + [names] * (len(names) > 1)
    families += [list(pair) for pair in combinations(names, 2)] if 2 < len(names) <= PAIRED else []
    found = [np.inf]
    for family in families:
        here = np.isin(moved, np.concatenate([kept.sets[name] for name in family]))
        told = [
            _told(a, y, unit, kept.sets[one], kept.sets[two], kept.keep == "slope")
            for one, two in kept.pairs
            if {one, two} <= set(family) and (kept.keep == "moments" or one == two)
        ]
        bits, fitting = _open(N, rows, here, size)
        if kept.keep == "slope" or bits < BEYOND:
            found.append(bits - fitting - sum(told))
    return float(min(found))


def _told(a: Array, y: Array, unit: Array, i: Places, j: Places, slope: bool) -> float:
    """Bits of one variance, covariance or slope: among how many it could be."""
    one, two = (np.linalg.norm(a[each] - a[each].mean()) for each in (i, j))
    spread = one * np.linalg.norm(y[j]) + two * np.linalg.norm(y[i]) + np.linalg.norm(y[i]) * np.linalg.norm(y[j])
    step = 0.0 if slope else unit[i].max() * unit[j].max()
    return float(np.log2(1 + spread / max(step, EPS * one * two, np.finfo(float).tiny)))


def _unit(values: Array) -> float:
    """What all cells are multiples of: 1000, 1, .1 and so on; 0 where they have many digits."""
    for d in range(PLACES + 1):
        whole = np.rint(values * 10.0**d)
        if np.abs(whole).max(initial=0.0) < 2**53 and np.allclose(whole, values * 10.0**d, rtol=1e-12, atol=0):
            return float(np.gcd.reduce(whole.astype(np.int64), initial=0)) / 10.0**d
    return 0.0


def _equations(table: Table, count: int, moved: Places, sets: Sequence[Places]) -> sparse.csr_array:
    """Of the changed cells: all sums and means."""
    rows = sparse.block_diag([table.relations] * count, format="csc")[:, moved].tocsr()
    means = sparse.csr_array(np.array([np.isin(moved, each) for each in sets], dtype=float))
    every = sparse.csr_array(sparse.vstack([rows, means]))
    return sparse.csr_array(every[np.diff(every.indptr) > 0])


def _open(N: Array | None, rows: sparse.csr_array, here: Flags, size: Array) -> tuple[float, int]:
    """Bits of the cells that tell all of these, the best known ones first; and how many others must fit, too."""
    order = np.flatnonzero(here)[np.argsort(size[here], kind="stable")]
    if N is None:
        free = max(0, len(order) - int((abs(rows) @ here.astype(float) > 0).sum()))
        return float(size[order[:free]].sum()), len(order) - free
    basis, bits = np.zeros((0, N.shape[1])), 0.0
    for cell in order:
        left = N[cell] - basis.T @ (basis @ N[cell])
        left = left - basis.T @ (basis @ left)
        length = np.linalg.norm(left)
        if length > 1e-8:
            basis, bits = np.vstack([basis, left / length]), bits + float(size[cell])
    return bits, len(order) - len(basis)
