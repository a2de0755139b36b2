"""Angles that no bound forbids, in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TURN = 2 * np.pi


def forbidden(b: Array, d: Array, h: Array) -> tuple[Array, Array]:
    """The angles at which b cos + d sin <= h fails, as intervals within [0, 2 pi]; 0 itself is allowed.

    b cos t + d sin t = R cos(t - phi), so it fails where |t - phi| < arccos(h / R). An interval of no length
    (start = end = 2 pi) stands for none. What rounding would put on the other side of 0 is cut off there.

    >>> start, end = forbidden(np.array([0.0]), np.array([1.0]), np.array([0.0]))  # sin t <= 0
    >>> bool(np.isclose(start, 0)), bool(np.isclose(end, np.pi))
    (True, True)
    """
    R = np.hypot(b, d)
    some = h < R
    half = np.arccos(np.clip(np.divide(h, R, out=np.ones_like(R), where=some), -1.0, 1.0))
    phi = np.arctan2(d, b)
    ahead = phi > 0
    start = np.where(ahead, np.maximum(phi - half, 0.0), phi - half + TURN)
    end = np.where(ahead, np.minimum(phi + half, TURN), np.minimum(phi + half, 0.0) + TURN)
    return np.where(some, np.maximum(start, 0.0), TURN), np.where(some, end, TURN)


def draw(start: Array, end: Array, uniform: Array) -> Array:
    """For each row of forbidden intervals: an angle drawn uniformly from what they leave; 0 if they leave nothing.

    >>> draw(np.array([[1.0, 0.5]]), np.array([[2.0, 1.5]]), np.array([0.25 / (2 * np.pi - 1.5)]))
    array([0.25])
    """
    order = np.argsort(start, axis=1)
    start, end = np.take_along_axis(start, order, 1), np.take_along_axis(end, order, 1)
    covered = np.maximum.accumulate(end, axis=1)
    edge = np.zeros((len(start), 1))
    left = np.hstack([edge, covered])  # where each gap begins
    gap = np.maximum(np.hstack([start, edge + TURN]) - left, 0.0)
    reach = np.cumsum(gap, axis=1)
    place = uniform * reach[:, -1]
    which = np.minimum((reach <= place[:, None]).sum(axis=1), gap.shape[1] - 1)[:, None]
    before = np.take_along_axis(reach - gap, which, 1)[:, 0]
    angle = np.take_along_axis(left, which, 1)[:, 0] + (place - before)
    return np.where(reach[:, -1] > 0, angle, 0.0)
