"""Most fractions are rounded two records at a time, all pairs at once: what one record gains, the other loses."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.rounding.circulation import NEAR

Labels = NDArray[np.int64]


def pair_off(
    part: Array, leaf: Labels, circuits: Iterable[tuple[Labels, Array]], generator: np.random.Generator
) -> None:
    """Moves fractions until no two records of one group can be moved against each other; totals stay.

    Two records of a group exchange d in a column of no equation, or in columns that keep the equations, up or down by
    chance in proportion: each time at least one cell becomes whole, and the expectation of every cell stays.

    part: fractions of n records x q columns, changed in place
    leaf: the finest group of each record
    circuits: columns that two records can exchange in, and the steps of the first record
    """
    for columns, steps in circuits:
        while True:
            first, second = _couples(_live(part, columns), leaf, generator)
            if not len(first):
                break
            _exchange(part, columns, steps, first, second, generator)


def _live(part: Array, columns: Labels) -> Labels:
    """Records whose cells in these columns are all fractions."""
    cells = part[:, columns]
    return np.flatnonzero(((cells > 0) & (cells < 1)).all(axis=1))


def _couples(rows: Labels, leaf: Labels, generator: np.random.Generator) -> tuple[Labels, Labels]:
    """Pairs of records of the same group, by chance."""
    rows = generator.permutation(rows)
    rows = rows[np.argsort(leaf[rows], kind="stable")]
    group = leaf[rows]
    begins = np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else np.empty(0, np.int64)
    within = np.arange(len(rows)) - np.repeat(begins, np.diff(np.r_[begins, len(rows)]))
    ahead = np.flatnonzero((within[:-1] % 2 == 0) & (group[1:] == group[:-1]))
    return rows[ahead], rows[ahead + 1]


def _exchange(
    part: Array, columns: Labels, steps: Array, first: Labels, second: Labels, generator: np.random.Generator
) -> None:
    values = np.hstack([part[np.ix_(first, columns)], part[np.ix_(second, columns)]])
    towards = np.concatenate([steps, -steps])
    above, below = 1 - values, values
    up = np.where(towards > 0, above, below).min(axis=1)
    down = np.where(towards > 0, below, above).min(axis=1)
    by = np.where(generator.random(len(up)) * (up + down) < down, up, -down)
    values = values + by[:, None] * towards
    values = np.where((values > NEAR) & (values < 1 - NEAR), values, np.rint(values))
    part[np.ix_(first, columns)], part[np.ix_(second, columns)] = np.hsplit(values, 2)
