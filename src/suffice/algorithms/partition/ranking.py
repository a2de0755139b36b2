"""Groups of one column: neighbours in its order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.jit import loops
from suffice.algorithms.partition.checks import checked

Labels = NDArray[np.int64]


def ranking(y: Array, k: int) -> Labels:
    """Individual ranking: groups of k consecutive values, the last with up to 2k - 1; labels 0, 1, ... upwards.

        label = min(rank // k, n // k - 1)

    **Promises**: every group has k to 2k - 1 records; equal values are ranked by row.

    y: one column
    k: the least number of records in a group

    Defays & Nanopoulos (1993), 1992 Symposium on Design and Analysis of Longitudinal Surveys, 195-204.

    >>> ranking(np.array([5.0, 1.0, 4.0, 2.0, 9.0]), 2)
    array([1, 0, 1, 0, 1])
    """
    order = np.argsort(checked(y[:, None], k)[:, 0], kind="stable")
    return _along(order, np.minimum(np.arange(len(y)) // k, len(y) // k - 1))


def optimal(y: Array, k: int) -> Labels:
    """The partition of one column that loses least; labels 0, 1, ... upwards.

        F(j) = min over sizes m = k, ..., 2k - 1 of F(j - m) + SSE of the m sorted values up to the j-th

    **Promises**: no partition into groups of k or more has a smaller SSE; equal values are ranked by row. Time
    and memory are O(k n) after sorting.

    y: one column
    k: the least number of records in a group

    Hansen & Mukherjee (2003), IEEE TKDE 15, 1043-1044.

    >>> optimal(np.array([1.0, 2.0, 5.0, 4.5, 1.5, 4.0]), 2)  # ranking would split the threes
    array([0, 0, 1, 1, 0, 1])
    """
    y = checked(y[:, None], k)[:, 0]
    order = np.argsort(y, kind="stable")
    ends = _ends(_spread(y[order], k), k)  # type: ignore[no-untyped-call]
    return _along(order, np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)))


def _along(order: Labels, labels: Labels) -> Labels:
    """Labels of sorted records, back in the order of the rows."""
    back = np.empty_like(labels)
    back[order] = labels
    return back


def _spread(y: Array, k: int) -> Array:
    """SSE of y[i : i + m] at [m - k, i], m = k, ..., 2k - 1, infinite beyond the end; Welford's update."""
    spread = np.full((k, len(y)), np.inf)
    mean, squares = y.copy(), np.zeros(len(y))
    for m in range(1, min(2 * k, len(y) + 1)):
        last, starts = y[m - 1 :], len(y) - m + 1
        mean, squares = mean[:starts], squares[:starts]
        away = last - mean
        mean = mean + away / m
        squares = squares + away * (last - mean)
        if m >= k:
            spread[m - k, :starts] = squares
    return spread


@loops
def _ends(spread, k):  # type: ignore[no-untyped-def]
    """Where the groups of the cheapest partition end."""
    n = spread.shape[1]
    least, size, ends = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64), np.zeros(n // k, np.int64)
    least[0], j, groups = 0.0, n, 0
    for i in range(k, n + 1):
        for m in range(k, min(2 * k - 1, i) + 1):
            total = least[i - m] + spread[m - k, i - m]
            if total < least[i]:
                least[i], size[i] = total, m
    while j > 0:
        ends[groups] = j
        groups, j = groups + 1, j - size[j]
    return ends[:groups][::-1]
