"""Rank interval disclosure: how narrowly a released value tells an original one (Calvino 2017, section 4.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value

PERCENT = range(1, 11)


def interval_disclosure(Y: Array, Ystar: Array, around: NDArray[np.intp] | None = None) -> float:
    """The share of original values between the released values p % of the ranks below and above a released record's.

    The window is closed, floor(n p / 100) ranks to either side, and the share is averaged over columns and p = 1..10.
    around: which released record an intruder takes for each original one: its own (none; Calvino's Table 7), or
        the nearest (`nearest(Y, Ystar)`; her Table 4).
    """
    ranks = np.argsort(np.argsort(Ystar, axis=0, kind="stable"), axis=0)
    taken = ranks if around is None else ranks[around]
    shares = [float(((low[taken, at] <= Y) & (high[taken, at] >= Y)).mean()) for low, high, at in _windows(Ystar)]
    return sum(shares) / len(shares)


def by_chance(Y: Array, Ystar: Array) -> float:
    """The share for an intruder who takes any released record for any original one."""
    values, shares = np.sort(Y, axis=0), []
    for low, high, at in _windows(Ystar):
        inside = (
            np.searchsorted(values[:, j], high[:, j], "right") - np.searchsorted(values[:, j], low[:, j]) for j in at
        )
        shares.append(float(np.mean([each.mean() for each in inside])) / len(Y))
    return sum(shares) / len(shares)


def _windows(Ystar: Array) -> Iterator[tuple[Array, Array, NDArray[np.intp]]]:
    """For p = 1..10 the ends of the window of every rank in every column, and the numbers of the columns."""
    n, values, at = len(Ystar), np.sort(Ystar, axis=0), np.arange(Ystar.shape[1])
    for p in PERCENT:
        width = n * p // 100
        yield values[np.maximum(np.arange(n) - width, 0)], values[np.minimum(np.arange(n) + width, n - 1)], at


def nearest(Y: Array, Ystar: Array) -> NDArray[np.intp]:
    """For each original record the released one that is nearest, in columns divided by the original's sd."""
    sd = Y.std(axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    return np.asarray(KDTree(Ystar / scale).query(Y / scale)[1], dtype=np.intp)


def of_another(Y: Array) -> float:
    """The share where the nearest record is another of the same file: what a release of other such records gives."""
    sd = Y.std(axis=0)
    Z = Y / np.where(sd > 0, sd, 1.0)
    found = np.asarray(KDTree(Z).query(Z, k=2)[1])
    other = np.where(found[:, 0] == np.arange(len(Y)), found[:, 1], found[:, 0])
    return interval_disclosure(Y, Y, np.asarray(other, dtype=np.intp))


WINDOWS = "share of original values in the closed window of floor(n p / 100) ranks to either side of "
MEASURES = (
    Measure(
        "interval-disclosure",
        lambda pair: Value(interval_disclosure(pair.Y, pair.Ystar), {}, by_chance(pair.Y, pair.Ystar)),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        f"{WINDOWS}the own released record's, averaged over columns and p = 1..10",
        "Calvino (2017), section 4.1 and Table 7",
    ),
    Measure(
        "interval-disclosure-nearest",
        lambda pair: Value(
            interval_disclosure(pair.Y, pair.Ystar, nearest(pair.Y, pair.Ystar)), {}, of_another(pair.Y)
        ),
        frozenset({"numbers"}),
        SHARE,
        "higher is riskier",
        f"{WINDOWS}the nearest released record's, averaged over columns and p = 1..10; by chance: of the nearest other "
        "original record's, as in a release of other records of the same law",
        "Calvino (2017), section 4.1 and Table 4",
        most=20_000,
    ),
)
