"""Eigenvalues of the correlation matrix: whether the components of a release weigh what the original's do."""

from __future__ import annotations

import numpy as np

from suffice.measure.measure import LOSS, Measure
from suffice.measure.numbers import Numbers
from suffice.utility.correlations import correlation

NOTHING = 1e-10
"""An eigenvalue, as a share of all, below which columns are dependent: differences are no share of it."""


def eigenvalue_loss(Y: Numbers, Ystar: Numbers) -> float:
    """The sum of |l* - l| / l over the eigenvalues of the original's correlation matrix, in falling order.

    Eigenvalues that are 0, of dependent columns, are left out (sdcMicro divides by their rounding errors).

    >>> Y = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 4.0]])
    >>> eigenvalue_loss(Y, Y)
    0.0
    """
    before, after = (np.linalg.eigvalsh(correlation(each))[::-1] for each in (Y, Ystar))
    there = before > NOTHING * before.sum()
    return float((np.abs(after - before)[there] / before[there]).sum())


MEASURES = (
    Measure(
        "eigenvalues",
        lambda pair: eigenvalue_loss(pair.original, pair.release),
        frozenset({"two numbers"}),
        LOSS,
        "lower is better",
        "sum of |l* - l|/l over the eigenvalues l of the original's correlation matrix, those that are 0 aside",
        "sdcMicro: dUtility, eigen",
        whole=True,
    ),
)
