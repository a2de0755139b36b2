"""How much of each group's total is one record's: what a kept total, or a kept variance, says of the largest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.group_moments import Grouping

PRIOR, PAIR, WIDTH = 0.10, 0.90, 0.10
"""p % = 10; (2, 90 %); an interval narrower than 10 % of the largest gives it away."""


@dataclass(frozen=True, repr=False)
class Concentration:
    """Of every group and confidential column: the total of absolute values, its two largest, the sum of squares.

    Groups are told by words, the same in the same group; `together` merges.
    """

    groups: NDArray[Any]
    sizes: NDArray[np.int64]
    total: Array
    squares: Array
    first: Array
    second: Array

    @classmethod
    def of(cls, words: NDArray[Any], Y: Array) -> Concentration:
        """Y: one row a record; a missing cell counts nothing, nor does a record without any."""
        size: Array = np.abs(Y.T)
        there: Array = np.ones(len(Y))
        hole = np.isnan(size)
        if hole.any():
            size, there = np.where(hole, 0.0, size), np.asarray(~hole.all(axis=0)).astype(np.float64)
        return cls._merged(Grouping.of(words), there, size, size**2, size, None)

    @classmethod
    def _merged(
        cls, groups: Grouping, sizes: Array, total: Array, squares: Array, first: Array, second: Array | None
    ) -> Concentration:
        """One row a column."""
        tops = [two_largest(y, None if second is None else second[j], groups) for j, y in enumerate(first)]
        sums = (np.array([groups.total(y) for y in Y]).T for Y in (total, squares))
        largest = (np.array([pair[place] for pair in tops]).T for place in (0, 1))
        return cls(groups.labels, groups.total(sizes).astype(np.int64), *sums, *largest)

    @classmethod
    def together(cls, parts: Sequence[Concentration]) -> Concentration:
        if len(parts) == 1:
            return parts[0]
        groups = Grouping.of(np.concatenate([part.groups for part in parts]))
        sizes = np.concatenate([part.sizes for part in parts]).astype(np.float64)
        tables = (
            np.hstack([getattr(part, name).T for part in parts]) for name in ("total", "squares", "first", "second")
        )
        return cls._merged(groups, sizes, *tables)

    def __add__(self, other: Concentration) -> Concentration:
        return self.together([self, other])

    @property
    def dominated(self) -> Flags:
        """Groups and columns whose total gives the largest record away, to the second largest or to anyone."""
        pair = self.first + self.second > PAIR * self.total * (1 + 1e-12)
        return read_off(self.total, self.first, self.second) | (pair & (self.first > 0))

    @property
    def few(self) -> Flags:
        """Groups and columns in which all that is not zero is one record's or two equal ones'."""
        return np.asarray((self.first > 0) & (self.total <= 2 * self.first))

    @property
    def narrow(self) -> Flags:
        """Groups and columns whose mean and variance give the largest record to within WIDTH of it.

        Of n values with mean m, standard deviation s, total T and sum of squares Q (absolute values) the largest is
        at least Q / T and m + s / sqrt(n - 1), and at most sqrt(Q) and m + s sqrt(n - 1). Where 2 Q >= T^2 it has half
        of the total or more, the squares of the others add up to (T - largest)^2 at most, and it is at least
        (T + sqrt(2 Q - T^2)) / 2. Its distance from the mean must be known as well as its size: of a year of birth
        any mean tells 1 %, and nothing of the person.
        """
        n = np.maximum(self.sizes[:, None], 1).astype(np.float64)
        mean = self.total / n
        sd = np.sqrt(np.maximum(self.squares / n - mean**2, 0.0))
        root = np.sqrt(np.maximum(n - 1, 1.0))
        low = np.maximum(self.squares / np.where(self.total > 0, self.total, 1.0), mean + sd / root)
        apart = 2 * self.squares - self.total**2
        low = np.where(apart >= 0, np.maximum(low, (self.total + np.sqrt(np.maximum(apart, 0.0))) / 2), low)
        high = np.minimum(np.sqrt(self.squares), mean + sd * root)
        return np.asarray((high - low < WIDTH * (self.first - mean)) & (n > 1))


def read_off(total: Array, first: Array, second: Array) -> Flags:
    """Where the second largest reads the largest off the total to within PRIOR."""
    return np.asarray((total - first - second < PRIOR * first * (1 - 1e-12)) & (first > 0))


def two_largest(first: Array, second: Array | None, groups: Grouping) -> tuple[Array, Array]:
    """The two largest values of every group, of records that bring one or two; alone, one has nothing beside it."""
    top = groups.largest(first)
    highest, rest = np.flatnonzero(first == groups.spread(top)), first.copy()
    rest[highest] = 0.0  # absolute values are no less
    tied = np.bincount(groups.place[highest], minlength=len(top)) > 1
    others = np.where(tied, top, groups.largest(rest))
    return top, others if second is None else np.maximum(others, groups.largest(second))
