"""Skewness and kurtosis of a release beside the original's (Calvino 2017, Table 4)."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import LOSS, Measure


def skewness(Y: Array) -> Array:
    """m3 / m2^1.5 of each column; 0 of one that does not vary."""
    return _standard_moment(Y, 3)


def kurtosis(Y: Array) -> Array:
    """m4 / m2^2 of each column (3 for a normal one); 0 of one that does not vary."""
    return _standard_moment(Y, 4)


def shape_bias(Y: Array, Ystar: Array) -> tuple[float, float]:
    """Mean over columns of |b* - b| / |b|, b the skewness, and b the kurtosis."""
    return _bias(skewness(Y), skewness(Ystar)), _bias(kurtosis(Y), kurtosis(Ystar))


def _standard_moment(Y: Array, power: int) -> Array:
    Z = Y - Y.mean(axis=0)
    sd = np.sqrt((Z * Z).mean(axis=0))
    return np.asarray(((Z / np.where(sd > 0, sd, 1.0)) ** power).mean(axis=0))


def _bias(b: Array, after: Array) -> float:
    there = b != 0
    return float(np.mean(np.abs(after[there] - b[there]) / np.abs(b[there]))) if there.any() else 0.0


def _measure(name: str, place: int, moment: str) -> Measure:
    return Measure(
        name,
        lambda pair: shape_bias(pair.Y, pair.Ystar)[place],
        frozenset({"numbers"}),
        LOSS,
        "lower is better",
        f"mean over columns of |b* - b|/|b|, b = {moment}",
        "Calvino (2017), Table 4",
    )


MEASURES = (_measure("skewness-bias", 0, "m3/m2^1.5"), _measure("kurtosis-bias", 1, "m4/m2^2"))
