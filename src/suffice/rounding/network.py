"""The rounding that always exists: totals of nested groups, and conditions in which each column occurs once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.rounding.cells import Array, Cells, Labels, Rule
from suffice.rounding.circulation import NEAR, settle
from suffice.rounding.pairs import pair_off

GROUND = 0


@dataclass(frozen=True, repr=False)
class Equations:
    """One equation for each record: the signed sum of some columns, and of a slack where it was an inequality.

    sign: +1 or -1 for each column and then each slack, its coefficient
    equation: the number of its equation, -1 where it is in none
    slack: the fractions of the slacks, n x as many as there are
    """

    sign: NDArray[np.int64]
    equation: NDArray[np.int64]
    slack: Array

    @classmethod
    def of(cls, cells: Cells) -> Equations:
        """Conditions with coefficients +1 and -1, equalities first, taken in order while their columns are free."""
        sign, equation, slack = [1] * len(cells.columns), [-1] * len(cells.columns), []
        conditions = [(rule, c) for rule in cells.rules for c in range(len(rule.C))]
        for rule, c in sorted(conditions, key=lambda condition: not condition[0].equality):
            columns = np.flatnonzero(rule.C[c]).tolist()
            if not all(abs(rule.C[c, j]) == 1 and equation[j] < 0 for j in columns):
                continue
            number = max(equation) + 1
            for j in columns:
                sign[j], equation[j] = int(rule.C[c, j]), number
            if not rule.equality:
                slack.append((number, _slack(cells, rule, c)))
        return cls(
            np.array(sign + [1] * len(slack)),
            np.array(equation + [number for number, _ in slack]),
            np.column_stack([np.empty((len(cells.base), 0)), *(fraction for _, fraction in slack)]),
        )


def _slack(cells: Cells, rule: Rule, c: int) -> Array:
    """The fraction of s in C z + s = h: s rounded down is 0 or more where it was, so the inequality holds."""
    room = np.floor(rule.h[:, c] + rule.allowance[:, c]) - (cells.base + cells.part) @ rule.C[c]
    fraction: Array = room - np.floor(room)
    return np.where((fraction > NEAR) & (fraction < 1 - NEAR), fraction, 0.0)


def flow(cells: Cells, generator: np.random.Generator) -> Array:
    """Whole numbers that keep every total and the conditions of `Equations`; the others are not looked at.

    A cell is an edge from its record's equation (or from the ground) to its column's finest group; a slack is one
    from its record's equation to the ground; each group whose total is not whole has an edge to the group above it.
    Two laminar families: a network, so a rounding exists.
    """
    equations = Equations.of(cells)
    part = np.hstack([cells.part, equations.slack])
    pair_off(part, cells.leaf, equations.sign.tolist(), equations.equation.tolist(), generator)
    record, column = np.nonzero((part > 0) & (part < 1))
    value, tail, head = _edges(cells, equations, record, column)
    value[: len(record)] = part[record, column]
    settled = settle(value.tolist(), tail.tolist(), head.tolist(), generator)
    part[record, column] = settled[: len(record)]
    return cells.base + part[:, : len(cells.columns)]


def _edges(cells: Cells, equations: Equations, record: Labels, column: Labels) -> tuple[Array, Labels, Labels]:
    """Fractions, tails and heads: the cells first, then the groups whose totals are fractions."""
    q, sign, equation = len(cells.columns), equations.sign, equations.equation
    sizes = [int(label.max(initial=-1)) + 1 for label in cells.family]
    first = 1 + q * np.concatenate([[0], np.cumsum(sizes)])  # the node of each level's first group
    deepest = len(sizes) - 1
    of_record = first[-1] + record * q + equation[column]
    value = [np.empty(len(record))]
    tail = [np.where(equation[column] >= 0, of_record, GROUND)]
    head = [np.where(column < q, first[deepest] + cells.leaf[record] * q + column, GROUND)]
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
