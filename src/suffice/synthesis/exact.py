"""Files with tables and second moments of the original: records chosen among many draws, few of their cells moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algorithms.second_moments import in_moments
from suffice.algorithms.selection import selected
from suffice.errors import InfeasibleError, count_of

POOLS = (3, 5, 10)
"""Times as many records as the original has are drawn, to choose among; more where fewer do not do."""
SPIKE = 0.1
"""A value that so many records have is a spike, and no cell leaves it."""


def chosen(original: Array, draw: Callable[[int], Array], tables: Sequence[int], rng: np.random.Generator) -> Array:
    """New records with every one- and two-way table of some columns, at `tables`, as the original has them.

    draw: as many records as the original has, the i-th time
    """
    pool, wanted = np.empty((0, original.shape[1])), original[:, tables].astype(np.int64)
    for size in POOLS:
        pool = np.vstack([pool, *(draw(i) for i in range(len(pool) // len(original), size))])
        try:
            return np.asarray(pool[selected(pool[:, tables].astype(np.int64), wanted, 2, rng)])
        except InfeasibleError as found:
            last = found
    raise last


def restored(
    original: Array, made: Array, tables: Sequence[int], low: Array, high: Array, rng: np.random.Generator
) -> tuple[Array, str]:
    """With the Gram matrix of [1, levels at `tables`, other columns] of the original, and how many cells were moved.

    low, high: of the other columns
    """
    numbers = [j for j in range(original.shape[1]) if j not in {*tables}]
    D0, D = (_levels(each, original, tables) for each in (original, made))
    Y0, Y = original[:, numbers], made[:, numbers]
    low = np.maximum(low, np.where(Y0.min(axis=0) >= 0, 0.0, -np.inf))
    free = np.column_stack([_free(y0, y) for y0, y in zip(Y0.T, Y.T, strict=True)]) & (low < Y) & (high > Y)
    out = made.copy()
    out[:, numbers] = in_moments(D, Y, D0, Y0, free, low, high, rng)
    moved = int((out != made).sum())
    return out, f"{count_of(moved, 'cell')} of {Y.size:,} moved until second moments were those of the original"


def _levels(codes: Array, original: Array, tables: Sequence[int]) -> Array:
    """A constant, and a dummy for every level of the original but the first."""
    found = [codes[:, j] == level for j in tables for level in np.unique(original[:, j])[1:]]
    return np.column_stack([np.ones(len(codes)), *found]).astype(np.float64)


def _free(before: Array, after: Array) -> Flags:
    """Cells that are at no spike: zero, or what many records have."""
    values, times = np.unique(before, return_counts=True)
    spikes = values[times >= SPIKE * len(before)]
    return np.asarray(~np.isin(after, spikes) & (after != 0.0))
