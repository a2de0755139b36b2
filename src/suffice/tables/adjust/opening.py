"""More cells change where exact statistics of few would tell the original: how many could, and which do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.algebra.array import Array
from suffice.tables.adjust.information import bits_left
from suffice.tables.adjust.kernel import TableKernel
from suffice.tables.adjust.moments import HOLDS, CellSets, exactly, newton
from suffice.tables.adjust.problem import Problem
from suffice.tables.adjust.request import AdjustmentRequest

OPEN = 16.0
"""Bits that an adjustment leaves open where it can."""
SHARES = (1 / 32, 0.25), (1 / 32, 0.5), (1 / 32, 1.0), (1 / 8, 1.0), (1 / 2, 1.0), *[(1.0, 1.0)] * 9
"""Of the mean level, what cells change by that need not, where too little is left open; and the share of cells."""


def open_at_best(asked: AdjustmentRequest, problem: Problem, family: CellSets, keep: str) -> float:
    """Bits that are open where all cells change by what they have room for: a number of the request, not of the key.

    problem: with all the room above the sizes
    """
    room = np.minimum(_levels(asked) / 2, (problem.high - problem.low) / 4)  # what the key draws, on average and half
    upper = np.concatenate([each.upper for each in asked.given])
    return _left(asked, np.where(problem.sensitive, upper, np.where(problem.movable, room, 0.0)), family, keep)


def opened(
    asked: AdjustmentRequest,
    problem: Problem,
    family: CellSets,
    keep: str,
    kernels: Sequence[TableKernel],
    y: Array,
) -> Array:
    """Changes that leave enough open, where there is room for that; sensitive cells stay where they are."""
    level, best, bits = _levels(asked), y, _left(asked, y, family, keep)
    for number, (share, some) in enumerate(SHARES):
        if bits >= OPEN:
            break
        draws = 2 * asked.draws(f"more {number}") - 1
        stay = problem.sensitive | ~problem.movable | ((asked.draws("some") > some) & (y == 0))
        for _ in range(HOLDS):
            more = np.clip(draws * share * level, (problem.low - y) / 2, (problem.high - y) / 2)
            found = newton(problem, family, keep, kernels, y, (np.where(stay, 0.0, more), stay))
            beyond = (found < problem.low) | (found > problem.high)
            if not (beyond & ~stay).any():
                break
            stay = stay | beyond  # these stay as they were
        if exactly(problem, family, keep, kernels, found) and (left := _left(asked, found, family, keep)) > bits:
            best, bits = found, left
    return best


def _left(asked: AdjustmentRequest, changes: Array, family: CellSets, keep: str) -> float:
    own = dict(zip(asked.names, np.split(changes, len(asked.given)), strict=True))
    return bits_left(asked.table, own, asked.given, family.promise(keep))


def _levels(asked: AdjustmentRequest) -> Array:
    """Of each cell, the mean level of its value."""
    means = [each.upper[each.sensitive].mean() if each.sensitive.any() else 0.0 for each in asked.given]
    return np.repeat(means, len(asked.table))
