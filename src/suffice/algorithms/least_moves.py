"""Values moved as little as can be until sums are as they are wanted: a linear programme."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array


def least_moves(
    A: Array, y: Array, sums: Array, ends: tuple[float, float] | tuple[Array, Array], cost: Array
) -> Array | None:
    """z with A'z = sums inside the ends and the least sum of cost |z - y|; None where there is none.

    z = y + up - down. A vertex is found: no more values move than there are sums.

    >>> least_moves(np.ones((3, 1)), np.zeros(3), np.array([2.0]), (0.0, 1.5), np.array([1.0, 2.0, 3.0])).tolist()
    [1.5, 0.5, 0.0]
    """
    room = np.concatenate([np.maximum(ends[1] - y, 0.0), np.maximum(y - ends[0], 0.0)])
    x = _solved(np.concatenate([cost, cost]), np.column_stack([A.T, -A.T]), sums - A.T @ y, np.zeros(len(room)), room)
    return None if x is None else np.asarray(np.clip(y + x[: len(y)] - x[len(y) :], *ends))


def unmet(A: Array, sums: Array, ends: tuple[float, float]) -> int:
    """Which of the sums is furthest from what values inside the ends can have, all others being met where they can.

    >>> unmet(np.array([[1.0, 0], [1, 1], [1, 1]]), np.array([3.0, 2.5]), (0.0, 1.0))
    1
    """
    n, k = A.shape
    missed = np.concatenate([np.zeros(n), np.ones(2 * k)])
    low, high = (np.where(missed, other, end) for end, other in zip(ends, (0.0, np.inf), strict=True))
    x = _solved(missed, np.column_stack([A.T, np.eye(k), -np.eye(k)]), sums, low, high)
    return 0 if x is None else int(np.argmax(x[n : n + k] + x[n + k :]))


def _solved(cost: Array, A: Array, wanted: Array, low: Array, high: Array) -> Array | None:
    """x with A x = wanted between low and high, of the least cost."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    return milp(cost, bounds=Bounds(low, high), constraints=LinearConstraint(A, wanted, wanted)).x
