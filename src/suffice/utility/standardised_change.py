"""IL1s: how far the values of records have moved, in standard deviations (Mateo-Sanz et al. 2004)."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import LOSS, Measure


def standardised_change(Y: Array, Ystar: Array) -> float:
    """The mean over records and columns of |y* - y| / (sqrt 2 sd), sd that of the original (n - 1).

    IL1s of sdcMicro is the sum. Rows are aligned; columns that do not vary are left out.

    >>> round(standardised_change(np.array([[0.0], [2.0]]), np.array([[1.0], [1.0]])), 12)
    0.5
    """
    sd = Y.std(axis=0, ddof=1) if len(Y) > 1 else np.zeros(Y.shape[1])
    moves = sd > 0
    return float(np.mean(np.abs(Ystar - Y)[:, moves] / (np.sqrt(2) * sd[moves]))) if moves.any() else 0.0


MEASURES = (
    Measure(
        "standardised-change",
        lambda pair: standardised_change(pair.Y, pair.Ystar),
        frozenset({"aligned rows", "numbers"}),
        LOSS,
        "lower is better",
        "mean over records and columns of |y* - y|/(sqrt 2 sd), sd that of the original's column",
        "Mateo-Sanz, Domingo-Ferrer & Sebé (2005); sdcMicro: IL1s is the sum of these",
    ),
)
