"""Rank interval disclosure: how narrowly a released value tells an original one (Calvino 2017, section 4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from suffice.algebra.array import Array
from suffice.measure.measure import DEALT, SHARE, Measure, Value
from suffice.measure.numbers import Numbers, by_column, pieces_of

PERCENT = range(1, 11)


def interval_disclosure(Y: Numbers, Ystar: Numbers, around: NDArray[np.intp] | None = None) -> float:
    """The share of original values between the released values p % of the ranks below and above a released record's.

    The window is closed, floor(n p / 100) ranks to either side, and the share is averaged over columns and p = 1..10.
    Equal released values share the rank in their middle; from one between two ranks windows go as far to both sides.
    around: which released record an intruder takes for each original one: its own (none; Calvino's Table 7), or
        the nearest (`nearest(Y, Ystar)`; her Table 4).
    """
    return float(by_column(partial(_disclosed, around=around), Y, Ystar).mean())


def by_chance(Y: Numbers, Ystar: Numbers) -> float:
    """The share for an intruder who takes any released record for any original one."""
    return float(by_column(_agreeing, Y, Ystar).mean())


def _disclosed(y: Array, z: Array, around: NDArray[np.intp] | None) -> float:
    inorder, own, inside = np.sort(z), z if around is None else z[around], 0
    order = np.argsort(own)  # so that what is looked up lies side by side
    for here in pieces_of(len(y)):
        value, windows = y[order[here]], _windows(inorder, own[order[here]])
        inside += sum(int(((low <= value) & (high >= value)).sum()) for low, high in windows)
    return inside / (len(y) * len(PERCENT))


def _agreeing(y: Array, z: Array) -> float:
    values, inorder = np.sort(y), np.sort(z)
    some = inorder[:: max(1, len(z) // DEALT)]
    ends = _windows(inorder, some)
    inside = sum(int((np.searchsorted(values, b, "right") - np.searchsorted(values, a)).sum()) for a, b in ends)
    return inside / (len(y) * len(some) * len(PERCENT))


def _windows(inorder: Array, values: Array) -> Iterator[tuple[Array, Array]]:
    """For p = 1..10 the ends of the windows about some of the released values, all of which are given in order."""
    n = len(inorder)
    twice = np.searchsorted(inorder, values, "left") + np.searchsorted(inorder, values, "right") - 1  # middle ranks
    for p in PERCENT:
        width = n * p // 100
        yield inorder[np.maximum(twice // 2 - width, 0)], inorder[np.minimum((twice + 1) // 2 + width, n - 1)]


def nearest(Y: Array, Ystar: Array) -> NDArray[np.intp]:
    """For each original record the released one that is nearest, in columns divided by the original's sd.

    The tree is of sorted records: which of several that are equally near is taken does not follow from their order.
    """
    sd, order = Y.std(axis=0), np.lexsort(Ystar.T)
    scale = np.where(sd > 0, sd, 1.0)
    return np.asarray(order[KDTree(Ystar[order] / scale).query(Y / scale)[1]], dtype=np.intp)


def of_another(Y: Array) -> float:
    """The share where the nearest record is another of the same file: what a release of other such records gives."""
    Y = Y[np.lexsort(Y.T)]
    sd = Y.std(axis=0)
    Z = Y / np.where(sd > 0, sd, 1.0)
    found = np.asarray(KDTree(Z).query(Z, k=2)[1])
    other = np.where(found[:, 0] == np.arange(len(Y)), found[:, 1], found[:, 0])
    return interval_disclosure(Y, Y, np.asarray(other, dtype=np.intp))


WINDOWS = (
    "share of original values in the closed window of floor(n p / 100) ranks (equal released values share the middle "
    "one; where that is between two ranks, counted from both of them) to either side of "
)
MEASURES = (
    Measure(
        "interval-disclosure",
        lambda pair: Value(
            interval_disclosure(pair.original, pair.release), {}, by_chance(pair.original, pair.release)
        ),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        f"{WINDOWS}the own released record's, averaged over columns and p = 1..10",
        "Calvino (2017), section 4.1 and Table 7",
        whole=True,
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
