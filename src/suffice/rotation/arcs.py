"""Angles that no limit forbids, in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

TURN = 2 * np.pi
APART = 8.0
"""Groups lie this far apart on one line, so that one sort serves all of them."""


def forbidden(b: Array, d: Array, h: Array) -> tuple[Array, Array]:
    """The angles at which b cos + d sin <= h fails, as intervals within [0, 2 pi]; 0 itself is allowed.

    b cos t + d sin t = R cos(t - phi), so it fails where |t - phi| < arccos(h / R). What rounding would put on the
    other side of 0 is cut off there.

    >>> start, end = forbidden(np.array([0.0]), np.array([1.0]), np.array([0.0]))  # sin t <= 0
    >>> bool(np.isclose(start, 0)), bool(np.isclose(end, np.pi))
    (True, True)
    """
    half = np.arccos(np.clip(h / np.hypot(b, d), -1.0, 1.0))
    phi = np.arctan2(d, b)
    ahead = phi > 0
    start = np.where(ahead, phi - half, phi - half + TURN)
    end = np.where(ahead, np.minimum(phi + half, TURN), np.minimum(phi + half, 0.0) + TURN)
    return np.maximum(start, 0.0), end


def draw(group: Rows, start: Array, end: Array, uniform: Array) -> Array:
    """For each group an angle drawn uniformly from what its intervals leave; 0 if they leave nothing.

    group: whose each interval is, from 0, in ascending order.
    uniform: a number in [0, 1) for each group.

    >>> group, start, end = np.array([0, 0]), np.array([1.0, 0.5]), np.array([2.0, 1.5])
    >>> draw(group, start, end, np.array([0.25 / (2 * np.pi - 1.5)]))
    array([0.25])
    """
    start, end = _sorted_rows(group, start, end, len(uniform))
    left = np.zeros_like(start)  # where each gap begins
    np.maximum.accumulate(end[:, :-1], axis=1, out=left[:, 1:])
    gap = np.maximum(start - left, 0.0)
    reach = np.cumsum(gap, axis=1)
    free = reach[:, -1]
    place = uniform * free
    which = np.minimum((reach <= place[:, None]).sum(axis=1), gap.shape[1] - 1)
    row = np.arange(len(uniform))
    before = np.where(which > 0, reach[row, which - 1], 0.0)
    return np.where(free > 0, left[row, which] + (place - before), 0.0)


def _sorted_rows(group: Rows, start: Array, end: Array, count: int) -> tuple[Array, Array]:
    """Intervals as one row per group, by start; each row ends with an interval of no length at 2 pi."""
    size = np.bincount(group, minlength=count)
    place = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size)
    order = np.argsort(APART * group + start)  # one sort serves all groups
    starts = np.full((count, size.max(initial=0) + 1), TURN)
    ends = starts.copy()
    starts[group, place], ends[group, place] = start[order], end[order]
    return starts, ends
