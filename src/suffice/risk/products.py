"""Products and quotients of two columns that leave: hours times their rate, a share beside what it is of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.risk.matches import near

SOME = 200
"""Values of a column that pairs are compared by; fewer where there are many columns."""
LEAST = 40
"""These, at least."""


@dataclass(frozen=True, repr=False)
class NearestPair:
    """What comes nearest to one confidential column in proportion.

    names: the two columns
    guess: their product or quotient times the middle ratio, which puts half of the records above
    """

    names: tuple[str, str]
    guess: Array

    @classmethod
    def of(cls, y: Array, columns: Sequence[tuple[str, Array]], date: bool = False) -> NearestPair | None:
        """Of all pairs of columns the one that most values are near; None where there is no pair, or no value."""
        rows = np.flatnonzero(np.isfinite(y) & (y != 0))
        if len(columns) < 2 or len(rows) < 2:
            return None
        step = 1 + len(rows) // max(LEAST, min(SOME, 10 * SOME // len(columns)))
        some, far = rows[::step], near(y[rows], date)[::step] / np.abs(y[rows[::step]])
        size, sizes = np.log(np.abs(y[some])), np.array([log_size(x[some]) for _, x in columns]).T
        pair = max(_tried(size, sizes, far), default=None)
        if pair is None or not pair[0]:
            return None
        _, one, two, power = pair
        first, second = columns[one][1], columns[two][1]
        with np.errstate(all="ignore"):
            guess = np.asarray(first * second if power > 0 else first / second)
            ratios = y[rows] / guess[rows]
            ratios = ratios[np.isfinite(ratios) & (ratios != 0)]
            guess = np.where(np.isfinite(guess), guess * np.median(ratios), np.nan) if len(ratios) else guess * np.nan
        return cls((columns[one][0], columns[two][0]), guess)


def _tried(size: Array, sizes: Array, far: Array) -> Iterable[tuple[float, int, int, int]]:
    """By first column the share of values that are near, with the second and its power: logarithms that differ by one
    number.
    """
    count = sizes.shape[1]
    for one in range(count):
        for power, others in ((1, np.arange(one + 1, count)), (-1, np.delete(np.arange(count), one))):
            if len(others):
                gap = size[:, None] - sizes[:, one : one + 1] - power * sizes[:, others]
                share = (np.abs(gap - _middle(gap)) <= far[:, None]).mean(axis=0)
                best = int(share.argmax())
                yield float(share[best]), one, int(others[best]), power


def _middle(gap: Array) -> Array:
    """Medians of the columns, what is not there aside."""
    count: NDArray[np.intp] = np.isfinite(gap).sum(axis=0)
    return np.asarray(np.sort(gap, axis=0)[np.maximum(count - 1, 0) // 2, np.arange(gap.shape[1])])


def log_size(x: Array) -> Array:
    """Not a number where it is zero, missing or has no end."""
    there = np.isfinite(x) & (x != 0)
    return np.where(there, np.log(np.abs(np.where(there, x, 1.0))), np.nan)
