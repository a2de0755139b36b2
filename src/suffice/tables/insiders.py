"""Who stands alone behind cells and so knows them, and what it contributes to all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from suffice.algebra.array import Array
from suffice.tables.table import COUNT, Table


def alone(table: Table, name: str) -> NDArray[np.int64] | None:
    """For every cell a number of the one who stands behind it, or -1; None: how many there are is not known.

    Of a summary of each cell: whoever is alone in a total is alone in its parts; of other cells they are other ones.
    """
    if table.contributors is not None and table.holding is not None:
        return table.contributors.alone(table.holding, None if name == COUNT else name)
    if table.known is None or np.isnan(table.known.units).any():
        return None
    one = table.known.units == 1
    total, part = _sums(table)
    same = one[total] & one[part]
    pairs = sparse.coo_array((same[same], (total[same], part[same])), shape=(len(table), len(table)))
    return np.where(one, csgraph.connected_components(pairs, directed=False)[1], -1)


def contributed(table: Table, name: str, insider: int, own: NDArray[np.int64]) -> Array:
    """What an insider contributes to every cell; of a summary at least, by the totals of its own cells."""
    if table.contributors is not None and table.holding is not None:
        return table.contributors.of_unit(insider, table.holding, None if name == COUNT else name)
    found = np.zeros(len(table))
    found[own] = table.values[name][own]
    total, part = _sums(table)
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
