"""Columns drawn by their frequencies: of values that records share, and of intervals between round ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array

FEW = 20
"""Different values, at most, of a column that is drawn by its frequencies."""
OWN = 3
"""A value of fewer records is somebody's own, and is not handed on."""
RARE = 0.05
"""Records with such values, at most, of a column that is drawn by its frequencies."""
INTERVALS = (8, 20)
"""Of a column that no family fits: at least, and at most."""
CLOSE = 1e-12


@dataclass(frozen=True, repr=False)
class Frequencies:
    """Values, or intervals between `low` and `high`, with their shares; overflow of an interval is discarded."""

    low: Array
    high: Array
    share: Array

    def draw(self, count: int, draws: np.random.Generator) -> Array:
        exact = self.share * count
        many = np.floor(exact + CLOSE).astype(np.int64)
        rest = count - int(many.sum())
        many[np.argsort(many - exact, kind="stable")[:rest]] += 1
        place = np.repeat(np.arange(len(many)), many)
        values = self.low[place] + draws.random(count) * (self.high - self.low)[place]
        return np.asarray(draws.permutation(values))


def of_few_values(x: Array) -> bool:
    """Whether nearly all records share one of few values."""
    many = np.unique(x, return_counts=True)[1]
    return bool(len(many) <= FEW and many[many < OWN].sum() <= RARE * len(x))


def shares(x: Array) -> Frequencies | None:
    """Those of the levels of a category; levels of one or two records are left out, and none may be left."""
    values, many = np.unique(x, return_counts=True)
    there = many >= OWN
    return Frequencies(values[there], values[there], many[there] / many[there].sum()) if there.any() else None


def frequencies(x: Array) -> Frequencies:
    """The values of a column of few, those of one or two records as the nearest other; else shares of intervals, beside
    values that a twentieth of the records share, which stay what they are.

    The interval with most records times its width is halved, until there are as many as n tells, 8 to 20; one with one
    or two records, which would tell where these are, is then joined to the neighbour with fewer.

    >>> frequencies(np.array([0.0] * 50 + [10.0] * 49 + [700.0])).share.tolist()
    [0.5, 0.5]
    >>> found = frequencies(np.append(np.zeros(50), np.arange(1.0, 51.0)))
    >>> [float(each[-1]) for each in (found.low, found.high, found.share)]
    [0.0, 0.0, 0.5]
    """
    values, many = np.unique(x, return_counts=True)
    shared = values[many >= OWN] if of_few_values(x) else values[many >= max(OWN, len(x) / INTERVALS[1])]
    rest = np.sort(x[~np.isin(x, shared)])
    if len(values) == 1:
        return Frequencies(values, values, np.ones(1))
    if len(shared) and (of_few_values(x) or len(rest) < OWN):
        nearest = np.abs(values[:, None] - shared).argmin(axis=1)
        return Frequencies(shared, shared, np.bincount(nearest, many, len(shared)) / len(x))
    count = int(np.clip(np.ceil(1 + np.log2(len(rest))), *INTERVALS))
    for more in range(count, 4 * INTERVALS[1], 4):
        ends, place = _joined(rest, _halved(rest, more))
        if len(ends) > INTERVALS[0]:
            break
    many = np.append(np.diff(place), many[np.isin(values, shared)])
    return Frequencies(np.append(ends[:-1], shared), np.append(ends[1:], shared), many / len(x))


def _halved(x: Array, count: int) -> Array:
    """Ends of intervals, of which always the one with most records times its width was halved; x: in order."""
    ends = np.array(round_ends(x))
    while len(ends) <= count:
        widest = int(np.argmax(np.diff(np.searchsorted(x, ends)) * np.diff(ends)))
        ends = np.insert(ends, widest + 1, ends[widest : widest + 2].mean())
    return ends


def _joined(x: Array, ends: Array) -> tuple[Array, NDArray[np.int64]]:
    """The same without intervals of one or two records, and how many records are below each end.

    Each is joined to the neighbour with fewer records, since these are then drawn where few of them were.

    >>> _joined(np.array([0.0, 1, 1, 2, 2, 3, 15, 20, 20, 20]), np.array([0.0, 5.0, 18.0, 21.0]))[0].tolist()
    [0.0, 5.0, 21.0]
    """
    place = np.append(np.searchsorted(x, ends[:-1]), len(x))  # the largest value is inside
    while len(few := np.flatnonzero(((many := np.diff(place)) > 0) & (many < OWN))) and len(place) > 2:
        beside = np.pad(many, 1, constant_values=len(x) + 1)[few[-1] : few[-1] + 3 : 2]
        gone = int(few[-1]) + int(beside[1] < beside[0])  # the end that is between them
        ends, place = np.delete(ends, gone), np.delete(place, gone)
    return ends, place


def round_ends(x: Array, beyond: bool = False) -> tuple[float, float]:
    """Round numbers around all values, which do not tell the largest: a twentieth to an eighth of the range apart.

    Ends at the values themselves, or at a known distance from them, would leave with enough draws.

    >>> round_ends(np.array([0.0, 3.0, 93.7]))
    (0.0, 100.0)
    """
    step = round_step(float(np.ptp(x)))
    low, high = step * np.floor(x.min() / step), step * np.ceil(x.max() / step)
    return float(low - step * (beyond and low == x.min())), float(high + step * (beyond and high == x.max()))


def round_step(size: float) -> float:
    """1, 2 or 5 times a power of ten, a twentieth to an eighth of a size."""
    power = 10.0 ** np.floor(np.log10(size / 8))
    return float(power * max(digit for digit in (1, 2, 5) if digit * power <= size / 8 * (1 + CLOSE)))
