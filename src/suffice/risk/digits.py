"""What digits tell: cells that leave as they are among cells that do not, and values that hide behind others."""

from __future__ import annotations

from math import ceil, floor, log10
from statistics import NormalDist

import numpy as np

from suffice.algebra.array import EPS, Array, Flags
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.sample import RecordSample

FINEST = 4
"""Decimals that a column may have to lie on a lattice."""
FEWEST = 3
"""Cells that must show: one may be chance."""
LAST, LUCK = 1e3 * EPS, 0.001
"""Of the largest value: digits below this are rounding. How often chance alone correlates as much."""


def digits(sample: RecordSample) -> dict[str, tuple[int, int]]:
    """Columns of few decimals: sampled cells, zeros aside, that leave unchanged while the others get many decimals."""
    found: dict[str, tuple[int, int]] = {}
    for j, name in enumerate(sample.names):
        there = ~np.isnan(sample.Y[:, j]) & (sample.Y[:, j] != 0)
        y, released = sample.Y[there, j], sample.Ystar[there, j]
        decimals = next((d for d in range(FINEST + 1) if on_lattice(y, d).all()), None)
        if decimals is None:
            continue
        same, fine = np.abs(y - released) <= LAST * np.abs(y).max(initial=0.0), ~on_lattice(released, decimals)
        if same.sum() >= FEWEST and fine.sum() >= FEWEST and on_lattice(released, decimals).sum() <= 2 * same.sum():
            found[name] = (int(same.sum()), len(y))
    return found


def on_lattice(values: Array, decimals: int) -> Flags:
    """Which values have no more than so many decimals."""
    return np.asarray(np.round(values, decimals) == values)


def digit_correlation(Y: Array, Ystar: Array) -> tuple[float, float, int]:
    """The largest rank correlation of an original column with a released one, the same below any digit, and how many.

    >>> Y = np.random.default_rng(1).normal(size=(99, 1))
    >>> whole, hidden, _ = digit_correlation(Y, np.round(Y[::-1], 2) + 1e-4 * (Y - Y.min()) / np.ptp(Y))
    >>> whole < 0.5, hidden > 0.99
    (True, True)
    """
    before, found, tried = _scores(Y), [], 0
    for column in Ystar.T:
        size = max(float(np.abs(column).max()), 1e-300)
        top, rounded = log10(size), column + 8 * EPS * size  # what is a hair below a digit has that digit
        units = 10.0 ** np.arange(floor(top), ceil(top + log10(LAST)) - 1, -1.0)
        below = np.column_stack([column, *(np.mod(rounded, unit) for unit in units)])
        found.append(np.abs(before.T @ _scores(below)).max(axis=0))
        tried += below.shape[1] * Y.shape[1]
    return max(float(each[0]) for each in found), max(float(each[1:].max()) for each in found), tried


def _scores(A: Array) -> Array:
    """Ranks of every column, centred, of length one; of one that does not vary nothing."""
    from scipy.stats import rankdata  # where it is used: it loads much

    S = rankdata(A, axis=0) - (len(A) + 1) / 2
    size = np.linalg.norm(S, axis=0)
    return np.asarray(S / np.where(size > 0, size, 1.0))


def _genuine(pair: FilePair) -> Value:
    moves = [j for j in range(len(pair.numbers)) if (pair.Y[:, j] != pair.Ystar[:, j]).any()]
    names = tuple(pair.numbers[j] for j in moves)
    sample = RecordSample(names, pair.Y[:, moves], pair.Ystar[:, moves], np.zeros(len(pair.Y), dtype=np.int64))
    found = {name: same / of for name, (same, of) in digits(sample).items()}
    return Value(max(found.values(), default=0.0), found)


def _hidden(pair: FilePair) -> Value:
    whole, below, tried = digit_correlation(pair.Y, pair.Ystar)
    chance = NormalDist().inv_cdf(1 - LUCK / (2 * tried)) / (len(pair.Y) - 1) ** 0.5
    return Value(min(max(whole, below), 1.0), {"whole": whole, "below a digit": below}, min(chance, 1.0))


MEASURES = (
    Measure(
        "digits",
        _genuine,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of cells, zeros aside, that leave unchanged in a column of up to four decimals, where nearly all other "
        "cells get more decimals, so that the digits tell which are genuine: of the column where it is largest",
    ),
    Measure(
        "digit-correlation",
        _hidden,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "largest rank correlation of an original column with a released one, or with what is left of it below any of "
        "its digits, where a value can hide; by chance: the 99.9 % point of as many correlations of what is unrelated",
        "Spearman (1904)",
        most=20_000,
    ),
)
