"""Angles that no limit forbids, in closed form: of numbers, or of many at once."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def"
from __future__ import annotations

import numpy as np

from suffice.algebra.array import EPS
from suffice.algorithms.rotation.trigonometry import choose, turns

ROUND = 4.0
"""A whole turn, in the measure of `bearing`."""
ROUNDING = 4 * EPS
"""A cell beyond its bound by this share of its size is put on the bound: it got there by rounding."""


def bearing(x, y):
    """A number in [0, 4] that grows with the angle of (x, y), without trigonometry: for comparing directions.

    >>> bearing(np.array([1.0, 0, -1, 0]), np.array([0.0, 1, 0, -1])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    p = x / (abs(x) + abs(y))
    return choose(y >= 0, 1.0 - p, 3.0 + p)


def limiting(b, d, h, terms):
    """Whether b cos t + d sin t <= h fails anywhere; what turns by the rounding of its terms alone limits nothing."""
    squared, noise = b * b + d * d, ROUNDING * terms
    return (h * abs(h) < squared) & (squared > noise * noise)


def forbidden(b, d, h):
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
    return choose(start > middle, 0.0, start), choose(end < middle, ROUND, end)


def draw(left, right, uniform):
    """An angle, in turns, drawn uniformly from gaps; 0 if there are none.

    left, right: the bearings where each gap begins and ends, in order; they are overwritten.
    uniform: a number in [0, 1).

    >>> float(draw(np.array([0.0, 3.0]), np.array([0.5, 4.0]), 0.25))  # an eighth, a quarter
    0.09375
    """
    free, reach, drawn = 0.0 * uniform, 0.0 * uniform, 0.0 * uniform
    for i in range(len(left)):
        left[i], right[i] = turns(left[i]), turns(right[i]) - turns(left[i])
        free = free + right[i]
    place = uniform * free
    for i in range(len(left)):
        reach = reach + right[i]
        before = reach - right[i]
        drawn = choose((place >= before) & (place < reach), left[i] + (place - before), drawn)
    return drawn
