"""The rounding that always exists: totals of nested groups, and equalities in which each column occurs once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.rounding.cells import Cells, Labels, Rule
from suffice.rounding.circulation import settle
from suffice.rounding.pairs import pair_off

Array = NDArray[np.float64]
GROUND = 0


@dataclass(frozen=True)
class Equations:
    """For each column its coefficient +1 or -1 and its equation; -1 where it is in none."""

    sign: tuple[int, ...]
    equation: tuple[int, ...]

    @classmethod
    def of(cls, rules: tuple[Rule, ...], q: int) -> Equations:
        """Equalities with coefficients +1 and -1, taken in order while their columns are free."""
        sign, equation = [1] * q, [-1] * q
        for row in (row for rule in rules if rule.equality for row in rule.C):
            columns = np.flatnonzero(row).tolist()
            if all(abs(row[j]) == 1 and equation[j] < 0 for j in columns):
                number = max(equation) + 1
                for j in columns:
                    sign[j], equation[j] = int(row[j]), number
        return cls(tuple(sign), tuple(equation))


def flow(cells: Cells, generator: np.random.Generator) -> Array:
    """Whole numbers that keep every total and every equality of `Equations`; other rules are not looked at.

    A cell is an edge from its record's equation (or from the ground) to its column's finest group; each group whose
    total is not whole has an edge to the group above it. Two laminar families: a network, so a rounding exists.
    """
    equations = Equations.of(cells.rules, len(cells.columns))
    part = cells.part.copy()
    pair_off(part, cells.leaf, equations.sign, equations.equation, generator)
    record, column = np.nonzero((part > 0) & (part < 1))
    value, tail, head = _edges(cells, equations, record, column)
    value[: len(record)] = part[record, column]
    settled = settle(value.tolist(), tail.tolist(), head.tolist(), generator)
    part[record, column] = settled[: len(record)]
    return cells.base + part


def _edges(cells: Cells, equations: Equations, record: Labels, column: Labels) -> tuple[Array, Labels, Labels]:
    """Fractions, tails and heads: the cells first, then the groups whose totals are fractions."""
    q, sign, equation = len(cells.columns), np.array(equations.sign), np.array(equations.equation)
    sizes = [int(label.max(initial=-1)) + 1 for label in cells.family]
    first = 1 + q * np.concatenate([[0], np.cumsum(sizes)])  # the node of each level's first group
    deepest = len(sizes) - 1
    of_record = first[-1] + record * q + equation[column]
    value = [np.empty(len(record))]
    tail = [np.where(equation[column] >= 0, of_record, GROUND)]
    head = [first[deepest] + cells.leaf[record] * q + column]
    turned = [sign[column] < 0]
    for level in range(deepest, -1, -1):
        low, high = cells.totals(level)
        group, j = np.nonzero(low < high)
        value.append(_fractions(cells, level)[group, j])
        tail.append(first[level] + group * q + j)
        head.append(first[level - 1] + _above(cells, level)[group] * q + j if level else np.full(len(group), GROUND))
        turned.append(sign[j] < 0)
    values, tails, heads, turns = (np.concatenate(pieces) for pieces in (value, tail, head, turned))
    return values, np.where(turns, heads, tails), np.where(turns, tails, heads)


def _fractions(cells: Cells, level: int) -> Array:
    label = cells.family[level]
    sums = np.column_stack([np.bincount(label, part) for part in cells.part.T])
    return np.asarray(sums - np.floor(sums))


def _above(cells: Cells, level: int) -> Labels:
    """For each group of a level the group that holds it."""
    above = np.zeros(int(cells.family[level].max(initial=-1)) + 1, dtype=np.int64)
    above[cells.family[level]] = cells.family[level - 1]
    return above
