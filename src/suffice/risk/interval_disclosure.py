"""Rank interval disclosure: how narrowly a released value tells an original one (Calvino 2017, section 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure

PERCENT = range(1, 11)


def interval_disclosure(Y: Array, Ystar: Array, around: NDArray[np.intp] | None = None) -> float:
    """The share of original values between the released values p % of the ranks below and above a released record's.

    The window is closed, floor(n p / 100) ranks to either side, and the share is averaged over columns and p = 1..10.
    around: which released record an intruder takes for each original one: its own (none; Calvino's Table 7), or
        the nearest (`nearest(Y, Ystar)`; her Table 4).
    """
    n, order = len(Ystar), np.argsort(Ystar, axis=0, kind="stable")
    values = np.take_along_axis(Ystar, order, axis=0)
    ranks = np.argsort(order, axis=0)[slice(None) if around is None else around]
    inside = 0.0
    for p in PERCENT:
        width = n * p // 100
        low, high = (np.take_along_axis(values, np.clip(ranks + step, 0, n - 1), axis=0) for step in (-width, width))
        inside += float(((low <= Y) & (high >= Y)).mean())
    return inside / len(PERCENT)


def nearest(Y: Array, Ystar: Array) -> NDArray[np.intp]:
    """For each original record the released one that is nearest, in columns divided by the original's sd."""
    sd = Y.std(axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    return np.asarray(KDTree(Ystar / scale).query(Y / scale)[1], dtype=np.intp)


WINDOWS = "share of original values in the closed window of floor(n p / 100) ranks to either side of "
MEASURES = (
    Measure(
        "interval-disclosure",
        lambda pair: interval_disclosure(pair.Y, pair.Ystar),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        f"{WINDOWS}the own released record's, averaged over columns and p = 1..10",
        "Calvino (2017), section 4.1 and Table 7",
    ),
    Measure(
        "interval-disclosure-nearest",
        lambda pair: interval_disclosure(pair.Y, pair.Ystar, nearest(pair.Y, pair.Ystar)),
        frozenset({"numbers"}),
        SHARE,
        "higher is riskier",
        f"{WINDOWS}the nearest released record's, averaged over columns and p = 1..10",
        "Calvino (2017), section 4.1 and Table 4",
        most=20_000,
    ),
)
