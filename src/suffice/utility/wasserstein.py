"""Wasserstein distance: how far the values of a column would have to be carried to become the released ones."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import LOSS, Measure, largest
from suffice.measure.numbers import FileNumbers, Numbers, by_column
from suffice.utility.kolmogorov_smirnov import steps


def wasserstein(Y: Numbers, Ystar: Numbers) -> Array:
    """For each column: the area between the two distribution functions, in the original's standard deviations.

    A column that does not vary has its distance in its own units.

    >>> wasserstein(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]]))
    array([1.])
    """
    before = FileNumbers.of(Y)
    return np.asarray(by_column(_carried, before, Ystar) / before.scale)


def _carried(y: Array, z: Array) -> float:
    """Between a value and the next one the difference of the shares stays; the last has no next."""
    return sum(float(np.diff(at) @ apart[: len(at) - 1]) for at, apart in steps(y, z))


MEASURES = (
    Measure(
        "wasserstein",
        largest(wasserstein),
        frozenset({"numbers"}),
        LOSS,
        "lower is better",
        "area between the distribution functions of the two files, in standard deviations of the original's column: "
        "the largest over columns",
        "Vaserstein (1969)",
        whole=True,
    ),
)
