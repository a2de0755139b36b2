"""Whether sums that records keep among themselves give one of them away: guards see those of the file alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import gqr

LEVERAGE, PRIOR, PAIR, WIDTH = 0.5 - 1e-9, 0.10, 0.90, 0.10
"""As guards judge a group: leverage; p % = 10; (2, 90 %); mean and variance that give the largest within 10 %."""
SURE = 1e-9


def telling(X: Array, root: Array, Y: Array, cells: NDArray[np.int64] | None) -> bool:
    """Of these records X'Y and Y'Y are kept.

    X: sqrt(w) times the given columns. root: sqrt(w). cells: where records share every factor.
    """
    Q, size = gqr(X).Q, np.abs(Y) * root[:, None] ** 2
    if (Q * Q).sum(axis=1).max(initial=0.0) >= LEVERAGE:
        return True
    every = np.zeros(len(Y), dtype=np.int64)
    if any(dominated(y, every).any() or _narrow(y) for y in size.T):
        return True
    if cells is None:
        return False
    cell = np.unique(cells, return_inverse=True)[1]
    sums = np.stack([np.bincount(cell, root * q) for q in Q.T], axis=1)
    kept = (sums * sums).sum(axis=1) >= (1 - SURE) * np.bincount(cell, root * root)  # its total is told
    return any(bool((dominated(y, cell) & kept).any()) for y in size.T)


def dominated(y: Array, cell: NDArray[np.int64]) -> Flags:
    """Cells whose total gives the largest value away, to the second largest or to anyone.

    >>> dominated(np.array([100.0, 5, 1, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1]))
    array([ True, False])
    """
    order = np.lexsort((-y, cell))
    sorted_, start = y[order], np.flatnonzero(np.diff(cell[order], prepend=-1))
    first, total = sorted_[start], np.bincount(cell, y)
    more = np.bincount(cell) > 1
    second = np.where(more, sorted_[np.minimum(start + 1, len(y) - 1)], 0.0)
    pair = first + second > PAIR * total * (1 + SURE)
    return np.asarray((first > 0) & (pair | (total - first - second < PRIOR * first * (1 - SURE))))


def _narrow(y: Array) -> bool:
    """The largest is at least Q / T and m + s / sqrt(n - 1), and at most sqrt(Q) and m + s sqrt(n - 1)."""
    n, total, squares = len(y), float(y.sum()), float(y @ y)
    if n < 2 or not total > 0:
        return False
    mean, sd, root = total / n, float(y.std()), np.sqrt(n - 1)
    low = max(squares / total, mean + sd / root)
    if (apart := 2 * squares - total**2) >= 0:
        low = max(low, (total + np.sqrt(apart)) / 2)
    return bool(min(np.sqrt(squares), mean + sd * root) - low < WIDTH * (y.max() - mean))
