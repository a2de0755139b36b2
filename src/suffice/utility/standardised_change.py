"""IL1s: how far the values of records have moved, in standard deviations (Mateo-Sanz et al. 2004)."""

from __future__ import annotations

import numpy as np

from suffice.measure.measure import LOSS, Measure
from suffice.measure.numbers import FileNumbers, Numbers, total


def standardised_change(Y: Numbers, Ystar: Numbers) -> float:
    """The mean over records and columns of |y* - y| / (sqrt 2 sd), sd that of the original (n - 1).

    IL1s of sdcMicro is the sum. Rows are aligned; columns that do not vary are left out.

    >>> round(standardised_change(np.array([[0.0], [2.0]]), np.array([[1.0], [1.0]])), 12)
    0.5
    """
    before = FileNumbers.of(Y)
    moves = before.sd > 0
    change = total(lambda one, two: np.abs(two - one).sum(axis=0), before, Ystar)[moves]
    return float(np.mean(change / (np.sqrt(2) * before.sd[moves]))) / len(before) if moves.any() else 0.0


MEASURES = (
    Measure(
        "standardised-change",
        lambda pair: standardised_change(pair.original, pair.release),
        frozenset({"aligned rows", "numbers"}),
        LOSS,
        "lower is better",
        "mean over records and columns of |y* - y|/(sqrt 2 sd), sd that of the original's column",
        "Mateo-Sanz, Domingo-Ferrer & Sebé (2005); sdcMicro: IL1s is the sum of these",
        whole=True,
    ),
)
