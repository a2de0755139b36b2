"""How many tables of whole numbers fit an adjusted one, whose statistics are exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array
from suffice.statistics.cell_moments import CellMoments
from suffice.tables.table import Table

PLACES = 4
"""Decimals of cells that are multiples of something."""
DIGITS = 48.0
"""Bits of a number with all its digits."""
DENSE = 800
"""Changed cells up to which their dimensions are counted; of more, equations are taken for independent."""


def bits_left(table: Table, changes: Mapping[str, Array], kept: CellMoments | None) -> float:
    """Bits of the original's cells that an adjusted table leaves open; infinite where no second moment is kept.

    Changed cells show by their digits. They are whole multiples of a unit, which equations and means leave some
    dimensions, and each could be some times its change away. A slope tells a number with all digits, of which the
    sum of squared changes hides some; a variance or a covariance is a whole number too, and tells where it lies among
    those that could be.
    """
    if kept is None or kept.keep == "means":
        return np.inf
    a = np.concatenate([table.values[name] for name in changes])
    y = np.concatenate([*changes.values()])
    unit = np.concatenate([np.full(len(table), _unit(table.values[name])) for name in changes])
    moved = np.flatnonzero(y)
    if not len(moved):
        return np.inf
    open_bits = np.where(unit > 0, np.log2(1 + 4 * np.abs(y) / np.where(unit > 0, unit, 1)), DIGITS)[moved].mean()
    unknown = _dimensions(table, len(changes), moved, [*kept.sets.values()]) * open_bits
    told = 0.0
    if kept.keep == "slope":  # b'y = y'y: linear in whole numbers but for the sum of squares, one whole number more
        sets = [(y[each] ** 2, unit[each].max() or 1.0) for each in kept.sets.values()]
        squares = [float(np.log2(1 + each.sum() / step**2)) for each, step in sets]
        return float(unknown - sum(max(0.0, DIGITS - each) for each in squares))
    for one, two in kept.pairs:
        i, j = kept.sets[one], kept.sets[two]
        size = [np.linalg.norm(x) for x in (a[i] - a[i].mean(), a[j] - a[j].mean(), y[i], y[j])]
        spread = size[0] * size[3] + size[1] * size[2] + size[2] * size[3]
        step = unit[i].max() * unit[j].max()
        told += min(DIGITS, np.log2(1 + spread / step)) if step > 0 else DIGITS
    return float(unknown - told)


def _unit(values: Array) -> float:
    """What all cells are multiples of: 1, .1 and so on; 0 where they have many digits."""
    return next(
        (10.0**-d for d in range(PLACES + 1) if np.allclose(values, np.round(values, d), rtol=1e-12, atol=0)), 0
    )


def _dimensions(table: Table, count: int, moved: np.ndarray, sets: Sequence[np.ndarray]) -> int:
    """Of the changes that keep all equations and means."""
    rows = sparse.block_diag([table.relations] * count, format="csc")[:, moved].tocsr()
    means = sparse.csr_array(np.array([np.isin(moved, each) for each in sets], dtype=float))
    every = sparse.csr_array(sparse.vstack([rows, means]))
    every = every[np.diff(every.indptr) > 0]
    if len(moved) > DENSE:
        return max(0, len(moved) - int(every.shape[0]))
    return len(moved) - int(np.linalg.matrix_rank(every.toarray()))
