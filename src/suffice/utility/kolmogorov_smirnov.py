"""Kolmogorov-Smirnov distance: how far the distribution of a released column is from the original's."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array


def kolmogorov_smirnov(Y: Array, Ystar: Array) -> Array:
    """For each column: the largest difference of the two shares of values at or below any number.

    >>> kolmogorov_smirnov(np.array([[1.0], [2.0]]), np.array([[2.0], [3.0]]))
    array([0.5])
    """
    return np.array([_apart(np.sort(y), np.sort(z)) for y, z in zip(Y.T, Ystar.T, strict=True)])


def _apart(y: Array, z: Array) -> float:
    both = np.concatenate([y, z])
    below = [np.searchsorted(each, both, side="right") / len(each) for each in (y, z)]
    return float(np.abs(below[0] - below[1]).max(initial=0.0))
