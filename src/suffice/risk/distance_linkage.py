"""Distance-based record linkage of two whole files (Pagliuca & Seri 1999; Calvino 2017, section 4.1)."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair, sample_places
from suffice.risk.linkage import SAME, LinkMeasure

SMALL = 2**22
"""Pairs of records that are compared one by one; more are looked for in a tree."""
TRIED = 100_000
"""Records that are looked for, at most, where a pair of files is assessed."""


def distance_linkage(Y: Array, Ystar: Array) -> float:
    """The share of records whose own released record is the nearest of all; m that are equally near count 1/m.

    Distances are Euclidean, in columns that are divided by the original's standard deviation. 1 / n is chance.

    >>> Y = np.arange(8.0).reshape(4, 2)
    >>> distance_linkage(Y, Y), distance_linkage(Y, Y[::-1]), distance_linkage(Y, 0 * Y)
    (1.0, 0.0, 0.25)
    """
    return float(links(Y, Ystar, np.arange(len(Y))).sum() / max(1, len(Y)))


def links(Y: Array, Ystar: Array, places: NDArray[np.int64]) -> Array:
    """For the records at some places 1/m where the own released one is among the m nearest of all, else 0."""
    sd = Y.std(axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    one, all_ = Y[places] / scale, Ystar / scale
    if len(places) * len(all_) <= SMALL:
        nearer, count = LinkMeasure(tuple(range(Y.shape[1])), scale, one, all_[places]).compared(all_)
        count = np.where(nearer == 0, count, 0)
    else:
        from suffice.algorithms.nearer import as_near  # compiled loops, where they are worth it

        count = as_near(one, all_, places, SAME)
    return np.where(count > 0, 1 / np.maximum(count, 1), 0.0)


def interval(share: float, tried: int, sure: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share among so many that were drawn.

    >>> [round(end, 3) for end in interval(0.0, 100)]
    [0.0, 0.037]
    """
    z = sure**2 / tried
    middle, half = (share + z / 2) / (1 + z), sqrt(share * (1 - share) * z + z**2 / 4) / (1 + z)
    return max(0.0, middle - half), min(1.0, middle + half)


def _looked_for(pair: FilePair) -> Value:
    n = len(pair.Y)
    if n <= TRIED:
        return Value(distance_linkage(pair.Y, pair.Ystar), chance=1 / n)
    share = float(links(pair.Y, pair.Ystar, sample_places(n, TRIED)).mean())
    low, high = interval(share, TRIED)
    said = f"{TRIED:,} records are looked for among {n:,} released ones; low and high: their 95 % interval"
    return Value(share, {"low": low, "high": high}, 1 / n, said)


MEASURES = (
    Measure(
        "distance-linkage",
        _looked_for,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records whose own released record is the nearest of all, by Euclidean distance in columns divided "
        "by the original's standard deviation; of m that are equally near each counts 1/m",
        "Pagliuca & Seri (1999); Calvino (2017), section 4.1",
    ),
)
