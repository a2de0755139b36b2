"""The rounding that always exists: totals of nested groups, and conditions that are joined like a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.rounding.cells import Labels, RoundingCells
from suffice.algorithms.rounding.circulation import settle
from suffice.algorithms.rounding.equations import RoundingEquations
from suffice.algorithms.rounding.pairing import pair_off

GROUND = 0


def flow(cells: RoundingCells, generator: np.random.Generator) -> Array:
    """Whole numbers that keep every total and the conditions of `RoundingEquations`; the others are not looked at.

    A cell is an edge from its record's equation (or from the ground) to its column's finest group, the cell of a
    subtotal one from one equation to another, a slack one to the ground; each group whose total is not whole has an
    edge to the group above it. A network, so a rounding exists.
    """
    equations = RoundingEquations.of(cells)
    part = paired(cells, equations, generator)
    record, column = np.nonzero((part > 0) & (part < 1))
    value, tail, head = _edges(cells, equations, record, column)
    value[: len(record)] = part[record, column]
    settled = settle(value.tolist(), tail.tolist(), head.tolist(), generator)
    part[record, column] = settled[: len(record)]
    return cells.base + part[:, : len(cells.columns)]


def paired(cells: RoundingCells, equations: RoundingEquations, generator: np.random.Generator) -> Array:
    """The fractions of cells and slacks after all that can be rounded in pairs of records; every total is as before."""
    part = np.hstack([cells.part, equations.slack])
    pair_off(part, cells.leaf, equations.circuits(), generator)
    return part


def _edges(
    cells: RoundingCells, equations: RoundingEquations, record: Labels, column: Labels
) -> tuple[Array, Labels, Labels]:
    """Fractions, tails and heads: the cells first, then the groups whose totals are fractions."""
    q, K, joins = len(cells.columns), equations.K, equations.joins
    sizes = [int(label.max(initial=-1)) + 1 for label in cells.family]
    first = 1 + q * np.concatenate([[0], np.cumsum(sizes)])  # the node of each level's first group
    deepest = len(sizes) - 1
    of_record = first[-1] + record * len(K)
    of_group = np.where(column < q, first[deepest] + cells.leaf[record] * q + column, GROUND)
    other = np.where(joins[column] == 0, GROUND, of_group)
    leaves, enters = (K == 1).sum(axis=0) > 0, (K == -1).sum(axis=0) > 0
    tail = [np.where(leaves[column], of_record + _row_of(K == 1)[column], other)]
    head = [np.where(enters[column], of_record + _row_of(K == -1)[column], of_group)]
    value = [np.empty(len(record))]
    for level in range(deepest, -1, -1):
        low, high = cells.totals(level)
        group, j = np.nonzero((low < high) & (joins[:q] < 2))
        below = first[level] + group * q + j
        above = first[level - 1] + _above(cells, level)[group] * q + j if level else np.full(len(group), GROUND)
        value.append(_fractions(cells, level)[group, j])
        tail.append(np.where(enters[j], above, below))
        head.append(np.where(enters[j], below, above))
    return np.concatenate(value), np.concatenate(tail), np.concatenate(head)


def _row_of(there: NDArray[np.bool_]) -> Labels:
    """The first row in which each column is there; 0 where it is in none."""
    return there.argmax(axis=0) if len(there) else np.zeros(there.shape[1], dtype=np.int64)


def _fractions(cells: RoundingCells, level: int) -> Array:
    label = cells.family[level]
    sums = np.column_stack([np.bincount(label, part) for part in cells.part.T])
    return np.asarray(sums - np.floor(sums))


def _above(cells: RoundingCells, level: int) -> Labels:
    """For each group of a level the group that holds it."""
    above = np.zeros(int(cells.family[level].max(initial=-1)) + 1, dtype=np.int64)
    above[cells.family[level]] = cells.family[level - 1]
    return above
