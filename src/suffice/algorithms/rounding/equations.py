"""The conditions that a network can hold: signed sums of columns, joined like the branches of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.rounding.cells import Labels, RecordRule, RoundingCells
from suffice.algorithms.rounding.circulation import NEAR


@dataclass(frozen=True, repr=False)
class RoundingEquations:
    """K z = whole numbers, in every record; each column has at most one +1 and one -1 in K.

    A column with both is a subtotal: it joins two equations, and its totals follow from those of the others.

    K: a row for each equation, a column for each column of the cells and then for each slack
    slack: the fractions of the slacks, n x as many as there are
    """

    K: Array
    slack: Array

    @classmethod
    def of(cls, cells: RoundingCells) -> RoundingEquations:
        """Conditions with coefficients +1 and -1, equalities first, taken in order while they are a network."""
        found = _Forest(len(cells.columns))
        conditions = [(rule, c) for rule in cells.rules for c in range(len(rule.C))]
        slacks = []
        for rule, c in sorted(conditions, key=lambda condition: not condition[0].equality):
            if found.take(rule.C[c], rule.equality) and not rule.equality:
                slacks.append(_slack(cells, rule, c))
        return cls(found.matrix(), np.column_stack([np.empty((len(cells.base), 0)), *slacks]))

    @property
    def joins(self) -> Labels:
        """How many equations each column is in: 0, 1 or 2."""
        return np.asarray(np.count_nonzero(self.K, axis=0), dtype=np.int64)

    def circuits(self) -> Iterator[tuple[Labels, Array]]:
        """Columns, and steps in them, by which one record can gain what another loses while K z stays."""
        for j, joins in enumerate(self.joins):
            if joins == 0:
                yield np.array([j]), np.array([1.0])
            elif joins == 1:
                yield from self._paths([j], [1.0], -1)

    def _paths(self, columns: list[int], steps: list[float], came: int) -> Iterator[tuple[Labels, Array]]:
        """From one column along subtotals to each later one that is in one equation."""
        here = columns[-1]
        for e in [e for e in np.flatnonzero(self.K[:, here]).tolist() if e != came]:
            for j in [j for j in np.flatnonzero(self.K[e]).tolist() if j != here]:
                path = [*columns, j], [*steps, -self.K[e, here] * steps[-1] * self.K[e, j]]
                if self.joins[j] == 2:
                    yield from self._paths(*path, e)
                elif j > columns[0]:
                    yield np.array(path[0]), np.array(path[1])


class _Forest:
    """Equations as they are taken: trees of equations joined by subtotals, with at most one inequality in each.

    From the leaves of a tree to its inequality, or to any equation, each equality gives the total of one subtotal.
    """

    def __init__(self, q: int) -> None:
        self.q = q
        self.rows: list[Array] = []
        self.trees: list[int] = []
        self.signs: list[float] = []
        self.open: list[bool] = []  # inequalities

    def take(self, row: Array, equality: bool) -> bool:
        shared = [j for j in np.flatnonzero(row).tolist() if any(taken[j] for taken in self.rows)]
        others = [self._others(j) for j in shared]
        trees = [self.trees[known[0]] for known in others]
        fits = bool((np.abs(row[row != 0]) == 1).all()) and all(len(known) == 1 for known in others)
        inequalities = sum(is_open for is_open, tree in zip(self.open, self.trees, strict=True) if tree in trees)
        if not fits or len(set(trees)) < len(trees) or inequalities + (not equality) > 1:
            return False
        for j, known in zip(shared, others, strict=True):
            if self.signs[known[0]] * self.rows[known[0]][j] == row[j]:
                self._turn(self.trees[known[0]])
        new = len(self.rows)
        self.trees = [new if tree in trees else tree for tree in self.trees] + [new]
        self.rows.append(row)
        self.signs.append(1.0)
        self.open.append(not equality)
        return True

    def _others(self, j: int) -> list[int]:
        return [e for e, taken in enumerate(self.rows) if taken[j]]

    def _turn(self, tree: int) -> None:
        """The same equations with all signs changed."""
        self.signs = [-sign if own == tree else sign for sign, own in zip(self.signs, self.trees, strict=True)]

    def matrix(self) -> Array:
        slacks = np.eye(len(self.rows))[:, np.array(self.open, dtype=bool)]
        rows = np.array(self.rows).reshape(len(self.rows), self.q)
        return np.asarray(np.hstack([rows, slacks]) * np.array(self.signs)[:, None])


def _slack(cells: RoundingCells, rule: RecordRule, c: int) -> Array:
    """The fraction of s in C z + s = h: s rounded down is 0 or more where it was, so the inequality holds."""
    room = np.floor(rule.h[:, c] + rule.allowance[:, c]) - (cells.base + cells.part) @ rule.C[c]
    fraction: Array = room - np.floor(room)
    return np.where((fraction > NEAR) & (fraction < 1 - NEAR), fraction, 0.0)
