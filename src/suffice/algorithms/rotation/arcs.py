"""Angles that no limit forbids, in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.rotation.trigonometry import turns

Rows = NDArray[np.int64]

ROUND = 4.0
"""A whole turn, in the measure of `bearing`."""


def bearing(x: Array, y: Array) -> Array:
    """A number in [0, 4] that grows with the angle of (x, y), without trigonometry: for comparing directions.

    >>> bearing(np.array([1.0, 0, -1, 0]), np.array([0.0, 1, 0, -1])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    p = x / (np.abs(x) + np.abs(y))
    return np.asarray(np.where(y >= 0, 1.0 - p, 3.0 + p))


def forbidden(b: Array, d: Array, h: Array) -> tuple[Array, Array]:
    """The bearings at which b cos t + d sin t <= h fails, as intervals within [0, 4]; 0 itself is allowed.

    The limit is met where (cos t, sin t) is (b h -+ d q, d h +- b q) / R^2, with R^2 = b^2 + d^2 = h^2 + q^2; it fails
    between these two, around the direction (b, d). What rounding would put on the other side of 0 is cut off there.

    >>> start, end = forbidden(np.array([0.0]), np.array([1.0]), np.array([0.0]))  # sin t <= 0
    >>> turns(start).tolist(), turns(end).tolist()
    ([0.0], [0.5])
    """
    q = np.sqrt(np.maximum(b * b + d * d - h * h, 0.0))
    middle = bearing(b, d)
    start = bearing(b * h + d * q, d * h - b * q)
    end = bearing(b * h - d * q, d * h + b * q)
    return np.where(start > middle, 0.0, start), np.where(end < middle, ROUND, end)


def draw(group: Rows, start: Array, end: Array, uniform: Array) -> Array:
    """For each group an angle, in turns, drawn uniformly from what its intervals leave; 0 if they leave nothing.

    group: whose each interval is, from 0, in ascending order.
    uniform: a number in [0, 1) for each group.

    >>> group, start, end = np.array([0, 0]), np.array([1.0, 0.5]), np.array([3.0, 1.5])  # an eighth, a quarter
    >>> draw(group, start, end, np.array([0.25]))
    array([0.09375])
    """
    start, end = _sorted_rows(group, start, end, len(uniform))
    left = np.zeros_like(start)  # where each gap begins
    np.maximum.accumulate(end[:, :-1], axis=1, out=left[:, 1:])
    row, column = np.nonzero(start > left)
    first, size = _angles(left[row, column], start[row, column])
    free = np.bincount(row, size, len(uniform))
    place = uniform * free
    gap = np.zeros_like(start)
    gap[row, column] = size
    reach = np.cumsum(gap, axis=1)[row, column]
    here = (place[row] >= reach - size) & (place[row] < reach)
    drawn = np.zeros(len(uniform))
    drawn[row[here]] = first[here] + (place[row] - (reach - size))[here]
    return drawn


def _angles(left: Array, right: Array) -> tuple[Array, Array]:
    """Where each gap begins, and how long it is."""
    first = turns(left)
    return first, turns(right) - first


def _sorted_rows(group: Rows, start: Array, end: Array, count: int) -> tuple[Array, Array]:
    """Intervals as one row per group, by start; each row ends with an interval of no length at the end."""
    size = np.bincount(group, minlength=count)
    place = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size)
    starts = np.full((count, int(size.max(initial=0)) + 1), ROUND)
    ends = starts.copy()
    starts[group, place], ends[group, place] = start, end
    order = np.argsort(starts, axis=1)
    return np.take_along_axis(starts, order, 1), np.take_along_axis(ends, order, 1)
