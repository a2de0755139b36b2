"""Kolmogorov-Smirnov distance: how far the distribution of a released column is from the original's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, largest
from suffice.measure.numbers import Numbers, by_column, pieces_of


def kolmogorov_smirnov(Y: Numbers, Ystar: Numbers) -> Array:
    """For each column: the largest difference of the two shares of values at or below any number.

    >>> kolmogorov_smirnov(np.array([[1.0], [2.0]]), np.array([[2.0], [3.0]]))
    array([0.5])
    """
    return by_column(lambda y, z: max((float(apart.max()) for _, apart in steps(y, z)), default=0.0), Y, Ystar)


def steps(y: Array, z: Array) -> Iterator[tuple[Array, Array]]:
    """The values of both columns in order, some at a time, with the difference of the shares at or below each."""
    y, z = np.sort(y), np.sort(z)
    both = np.sort(np.concatenate([y, z]))
    for here in pieces_of(len(both)):
        at = both[here]
        below = [np.searchsorted(each, at, side="right") / len(each) for each in (y, z)]
        yield both[here.start : here.stop + 1], np.abs(below[0] - below[1])


MEASURES = (
    Measure(
        "kolmogorov-smirnov",
        largest(kolmogorov_smirnov),
        frozenset({"numbers"}),
        SHARE,
        "lower is better",
        "largest difference between the files of the share of values at or below any number: the largest over columns",
        "Smirnov (1939)",
        whole=True,
    ),
)
