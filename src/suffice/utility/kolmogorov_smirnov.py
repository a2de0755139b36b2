"""Kolmogorov-Smirnov distance: how far the distribution of a released column is from the original's."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair


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


def _largest(pair: FilePair) -> Value:
    found = kolmogorov_smirnov(pair.Y, pair.Ystar)
    return Value(float(found.max()), dict(zip(pair.numbers, found.tolist(), strict=True)))


MEASURES = (
    Measure(
        "kolmogorov-smirnov",
        _largest,
        frozenset({"numbers"}),
        SHARE,
        "lower is better",
        "largest difference between the files of the share of values at or below any number: the largest over columns",
        "Smirnov (1939)",
    ),
)
