"""Correlations of a release beside those of the original."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import Measure, Value
from suffice.measure.numbers import FileNumbers, Numbers, total
from suffice.measure.pair import FilePair


@dataclass(frozen=True)
class CorrelationLoss:
    """Differences of correlations over all pairs of columns, and of the diagonals of their inverses.

    inverse: sqrt(1 - cos) of the two diagonals as directions, 0 to 1, NaN where columns are dependent (Mlodak 2020)
    """

    mean: float
    largest: float
    inverse: float


def correlation_loss(Y: Numbers, Ystar: Numbers) -> CorrelationLoss:
    """A column that does not vary has correlation 0 with all others.

    >>> Y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 4.0]])
    >>> correlation_loss(Y, Y[:, ::-1]).largest
    0.0
    """
    before, after = correlation(Y), correlation(Ystar)
    apart = np.abs(after - before)[np.triu_indices(len(before), 1)]
    if not len(apart):
        return CorrelationLoss(0.0, 0.0, 0.0)
    return CorrelationLoss(float(apart.mean()), float(apart.max()), _between(before, after))


def correlation(Y: Numbers) -> Array:
    """The correlation matrix."""
    file = FileNumbers.of(Y)
    still, mean, size = file.spread.constant, file.spread.mean, np.sqrt(len(file)) * file.scale

    def of(A: Array) -> Array:
        Z = np.where(still, 0.0, (A - mean) / size)
        return np.asarray(Z.T @ Z)

    R = total(of, file)
    np.fill_diagonal(R, 1.0)
    return R


def _between(before: Array, after: Array) -> float:
    if max(np.linalg.cond(before), np.linalg.cond(after)) > 1e10:
        return float("nan")
    one, two = (np.diagonal(np.linalg.inv(R)) for R in (before, after))
    cosine = float(one @ two / np.sqrt((one @ one) * (two @ two)))
    return float(np.sqrt(max(1.0 - cosine, 0.0)))


def _measured(pair: FilePair) -> Value:
    found = correlation_loss(pair.original, pair.release)
    return Value(found.mean, {"largest": found.largest, "inverse": found.inverse})


MEASURES = (
    Measure(
        "correlations",
        _measured,
        frozenset({"two numbers"}),
        (0.0, 2.0),
        "lower is better",
        "mean over pairs of columns of the difference of their correlations; inverse: sqrt(1 - cos) of the angle "
        "between the diagonals of the two inverse correlation matrices",
        "Mlodak (2020) for the inverse",
        whole=True,
    ),
)
