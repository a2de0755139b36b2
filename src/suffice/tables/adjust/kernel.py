"""Every cell as a whole-number sum of a few free ones: what is computed so adds up to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from scipy import sparse

from suffice.algebra.array import EPS, Array
from suffice.tables.grid import Places
from suffice.tables.table import Table

FINE, FINEST = 36, 52
"""Binary digits below the largest cell that changes are rounded to: beyond the solver's, and the last ones."""
OWN, SOME = 4096, 128
"""Parts that the least level is to have in changes that are plain decimals, and that it has at least."""
DIGITS = 15
"""Significant decimal digits that a number has and text repeats."""


@dataclass(frozen=True)
class Grain:
    """What all changes are multiples of, so that cells have few decimals, which add up as they are written.

    places: decimals, where cells are decimal fractions; binary ones have as many without rounding
    """

    step: float
    places: int | None = None

    @classmethod
    def of(cls, a: Array, least: float) -> Grain | None:
        """For cells and the least level; None where cells have too many digits for it.

        >>> Grain.of(np.array([300.0, 200.0]), 40.0), Grain.of(np.array([0.25, 3.1]), 40.0)
        (Grain(step=0.0078125, places=None), Grain(step=0.01, places=2))
        """
        most = DIGITS - len(str(int(2 * np.abs(a).max(initial=1.0))))
        if not (0 < least < np.inf and most > 0):
            return None
        binary = min(max(ceil(log2(OWN / least)), 0), most)
        if (a * 2**most % 1 == 0).all():  # sums are exact as numbers, too
            return cls(2.0**-binary) if least * 2**binary >= SOME and (a * 2**binary % 1 == 0).all() else None
        for places in range(most + 1):
            near = np.abs(np.round(a, places) - a) <= 16 * EPS * np.abs(a).max()  # sums have rounding digits
            if least * 10**places >= OWN / 10 and near.all():
                return cls(10.0**-places, places)
        return None

    def above(self, size: Array) -> Array:
        return self.step * np.ceil(size / self.step - 1e-9)

    def below(self, size: Array) -> Array:
        return self.step * np.floor(size / self.step + 1e-9)


class TableKernel:
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


def steps(originals: Sequence[Array], digits: int) -> list[float]:
    """Of each value, the power of two so many binary digits below its largest cell."""
    sizes = [np.abs(a).max(initial=0.0) or 1.0 for a in originals]
    return [float(2.0 ** (np.ceil(np.log2(size)) - digits)) for size in sizes]


def rounded(kernels: Sequence[TableKernel], y: Array, by: Sequence[float]) -> Array:
    """Changes of one value after the other whose free cells are multiples of a step, and the rest sums of these.

    In floating point the sums are exact where the steps are powers of two and no sum is too large.
    """
    parts = zip(kernels, np.split(y, len(kernels)), by, strict=True)
    return np.concatenate([(kernel.sums @ np.rint(part[kernel.free] / step)) * step for kernel, part, step in parts])


def drift(kernels: Sequence[TableKernel], by: Sequence[float]) -> Array:
    """How far `rounded` may take each cell off a bound: half a step for each free cell that it is the sum of."""
    return np.concatenate([step / 2 * abs(kernel.sums).sum(axis=1) for kernel, step in zip(kernels, by, strict=True)])


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
