"""Every cell as a whole-number sum of a few free ones: what is computed so adds up to the last bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array
from suffice.tables.grid import Places
from suffice.tables.table import Table

FINE, FINEST = 36, 52
"""Binary digits below the largest cell that changes are rounded to: beyond the solver's, and the last ones."""


class Kernel:
    """All y with T y = 0, as y = K f.

    free: the cells of f
    """

    def __init__(self, table: Table) -> None:
        leaf = np.ones(len(table), dtype=bool)
        for number, axis in enumerate(table.grid.axes):
            leaf &= np.isin(table.grid.codes[:, number], axis.leaves)
        sums = np.zeros(len(table), dtype=bool)
        sums[table.totals] = True
        if (leaf | sums).all() and not (leaf & sums).any():
            self.free: Places = np.flatnonzero(leaf)
            self.sums = table.grid.holding(table.grid.codes[self.free])
        else:
            self.free, self.sums = _eliminated(table.relations)


def rounded(kernels: Sequence[Kernel], y: Array, original: Array, digits: int = FINE) -> Array:
    """Changes of one value after the other whose free cells are those given but for the last digits, and the rest sums.

    In floating point these sums are exact: all are multiples of one power of two, and none is too large.
    """
    found = []
    for kernel, part, a in zip(kernels, np.split(y, len(kernels)), np.split(original, len(kernels)), strict=True):
        step = 2.0 ** (np.ceil(np.log2(np.abs(a).max(initial=0.0) or 1.0)) - digits)
        found.append(kernel.sums @ (step * np.rint(part[kernel.free] / step)))
    return np.concatenate(found)


def _eliminated(relations: sparse.csr_array) -> tuple[Places, sparse.csr_array]:
    """Equations solved one after the other for a cell with the sign 1 or -1, where no inner cells stand behind all."""
    solved: dict[int, dict[int, int]] = {}
    users: dict[int, set[int]] = {}
    for row in range(relations.shape[0]):
        begin, end = relations.indptr[row : row + 2]
        left: dict[int, int] = {}
        for cell, sign in zip(relations.indices[begin:end].tolist(), relations.data[begin:end].tolist(), strict=True):
            for other, times in solved.get(cell, {cell: 1}).items():
                left[other] = left.get(other, 0) + int(sign) * times
        left = {cell: times for cell, times in left.items() if times}
        least = sorted(left, key=lambda cell: len(users.get(cell, ())))
        pivot = next((cell for cell in least if abs(left[cell]) == 1), None)
        if pivot is None:
            assert not left, "an equation of a table has no cell with the sign 1"
            continue
        sign = left.pop(pivot)
        line = {cell: -sign * times for cell, times in left.items()}
        for user in users.pop(pivot, set()):
            times = solved[user].pop(pivot)
            for cell, more in line.items():
                solved[user][cell] = solved[user].get(cell, 0) + times * more
                users.setdefault(cell, set()).add(user)
                if not solved[user][cell]:
                    del solved[user][cell]
                    users[cell].discard(user)
        solved[pivot] = line
        for cell in line:
            users.setdefault(cell, set()).add(pivot)
    free = [cell for cell in range(relations.shape[1]) if cell not in solved]
    at = {cell: number for number, cell in enumerate(free)}
    triples = [(cell, number, 1) for cell, number in at.items()]
    triples += [(cell, at[other], times) for cell, line in solved.items() for other, times in line.items()]
    rows, columns, value = np.array(triples, dtype=np.int64).reshape(-1, 3).T
    shape = (relations.shape[1], len(free))
    return np.array(free, dtype=np.int64), sparse.csr_array((value.astype(float), (rows, columns)), shape=shape)
