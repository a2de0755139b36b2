"""Products and quotients of two columns that leave: hours times their rate, a share beside what it is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.risk.matches import near

SOME = 200
"""Values of a column that pairs are compared by; fewer where there are many columns."""
LEAST = 40
"""These, at least."""
HOPE = 1 / 3
"""Share of some records that their own fit must be near, where that of half of all records is asked for."""
SPAN = 1e-7
"""A product of length one that is as near as this to what is fitted already adds nothing."""


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
        guess = _both(first, second, power)
        with np.errstate(all="ignore"):
            ratios = y[rows] / guess[rows]
            ratios = ratios[np.isfinite(ratios) & (ratios != 0)]
            guess = np.where(np.isfinite(guess), guess * np.median(ratios), np.nan) if len(ratios) else guess * np.nan
        return cls((columns[one][0], columns[two][0]), guess)


def saying_most(plain: Array, columns: Sequence[Array], Y: Array, most: int) -> Iterator[Array | None]:
    """Of all products and quotients of two columns the few that go with what a fit to `plain` leaves of each y.

    Some records are looked at; a quotient by zero is not a number. None where even their own fit is near too few.
    """
    some = slice(None, None, 1 + len(Y) // max(SOME, 30 * SOME // len(columns)))
    Q = np.linalg.qr(plain[some])[0]
    E = Y[some] - Q @ (Q.T @ Y[some])
    found: list[list[tuple[float, int, int, int]]] = [[] for _ in Y.T]
    for one, x in enumerate(columns):
        for power in (1, -1):
            others = [two for two in range(one if power > 0 else 0, len(columns)) if power > 0 or two != one]
            if others:
                C = np.column_stack([_both(x[some], columns[two][some], power) for two in others])
                C = np.where(np.isfinite(C), C, 0.0)
                C /= np.maximum(np.linalg.norm(C, axis=0), 1e-300)
                left = C - Q @ (Q.T @ C)
                size = np.linalg.norm(left, axis=0)
                goes = np.abs(E.T @ left) / np.where(size > SPAN, size, np.inf)
                for own, shares in zip(found, goes.tolist(), strict=True):
                    own += [(share, one, two, power) for share, two in zip(shares, others, strict=True) if share]
    for y, own in zip(Y.T, found, strict=True):
        pairs = [(columns[one], columns[two], power) for _, one, two, power in sorted(own, reverse=True)[:most]]
        hopeful = bool(pairs) and _hopeful(y[some], np.hstack([Q, _stacked(pairs, some)]))
        yield _stacked(pairs, slice(None)) if hopeful else None


def _stacked(pairs: Sequence[tuple[Array, Array, int]], some: slice) -> Array:
    return np.column_stack([_both(one[some], two[some], power) for one, two, power in pairs])


def _hopeful(y: Array, X: Array) -> bool:
    """Whether some records' own fit is near enough of them for a fit that is near half of all records."""
    usable = np.isfinite(X).all(axis=1)
    Q = np.linalg.qr(X[usable])[0]
    gap = np.abs(y[usable] - Q @ (Q.T @ y[usable]))
    return bool(np.count_nonzero(gap <= near(y[usable])) >= HOPE * len(gap)) and len(gap) > 0


def _both(first: Array, second: Array, power: int) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(first * second if power > 0 else first / second)


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
