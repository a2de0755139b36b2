"""Skewness and kurtosis of a release beside the original's (Calvino 2017, Table 4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import LOSS, Measure
from suffice.measure.numbers import FileNumbers, Numbers, total


def skewness(Y: Numbers) -> Array:
    """m3 / m2^1.5 of each column; 0 of one that does not vary."""
    return _standard_moment(FileNumbers.of(Y), 3)


def kurtosis(Y: Numbers) -> Array:
    """m4 / m2^2 of each column (3 for a normal one); 0 of one that does not vary."""
    return _standard_moment(FileNumbers.of(Y), 4)


def shape_bias(Y: Numbers, Ystar: Numbers) -> tuple[float, float]:
    """Mean over columns of |b* - b| / |b|, b the skewness, and b the kurtosis."""
    return _bias(skewness(Y), skewness(Ystar)), _bias(kurtosis(Y), kurtosis(Ystar))


def _standard_moment(Y: FileNumbers, power: int) -> Array:
    mean, scale = Y.spread.mean, Y.scale
    return np.asarray(total(lambda A: (((A - mean) / scale) ** power).sum(axis=0), Y) / len(Y))


def _bias(b: Array, after: Array) -> float:
    there = b != 0
    return float(np.mean(np.abs(after[there] - b[there]) / np.abs(b[there]))) if there.any() else 0.0


def _measure(name: str, shape: Callable[[Numbers], Array], moment: str) -> Measure:
    return Measure(
        name,
        lambda pair: _bias(shape(pair.original), shape(pair.release)),
        frozenset({"numbers"}),
        LOSS,
        "lower is better",
        f"mean over columns of |b* - b|/|b|, b = {moment}",
        "Calvino (2017), Table 4",
        whole=True,
    )


MEASURES = (
    _measure("skewness-bias", skewness, "m3/m2^1.5"),
    _measure("kurtosis-bias", kurtosis, "m4/m2^2"),
)
