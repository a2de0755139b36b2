"""Wasserstein distance: how far the values of a column would have to be carried to become the released ones."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import LOSS, Measure, Value
from suffice.measure.pair import FilePair


def wasserstein(Y: Array, Ystar: Array) -> Array:
    """For each column: the area between the two distribution functions, in the original's standard deviations.

    A column that does not vary has its distance in its own units.

    >>> wasserstein(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]]))
    array([1.])
    """
    sd = Y.std(axis=0)
    apart = np.array([_carried(np.sort(y), np.sort(z)) for y, z in zip(Y.T, Ystar.T, strict=True)])
    return np.asarray(apart / np.where(sd > 0, sd, 1.0))


def _carried(y: Array, z: Array) -> float:
    if len(y) == len(z):
        return float(np.abs(y - z).mean())
    both = np.sort(np.concatenate([y, z]))
    below = [np.searchsorted(each, both[:-1], side="right") / len(each) for each in (y, z)]
    return float(np.abs(below[0] - below[1]) @ np.diff(both))


def _largest(pair: FilePair) -> Value:
    found = wasserstein(pair.Y, pair.Ystar)
    return Value(float(found.max()), dict(zip(pair.numbers, found.tolist(), strict=True)))


MEASURES = (
    Measure(
        "wasserstein",
        _largest,
        frozenset({"numbers"}),
        LOSS,
        "lower is better",
        "area between the distribution functions of the two files, in standard deviations of the original's column: "
        "the largest over columns",
        "Vaserstein (1969)",
    ),
)
