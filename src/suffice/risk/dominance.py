"""How much of each group's total is one record's: what a kept total, or a kept variance, says of the largest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.design.design import Design
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block, Rows
from suffice.statistics.domain import Domain

PRIOR, PAIR, WIDTH = 0.10, 0.90, 0.10
"""p % = 10; (2, 90 %); an interval narrower than 10 % of the largest gives it away."""


@dataclass(frozen=True, repr=False)
class Concentration:
    """Of every group and confidential column: the total of absolute values, its two largest, the sum of squares.

    Groups are told by words, the same in the same group; `+` merges.
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
        hole = np.isnan(Y)
        size, there = np.abs(np.where(hole, 0.0, Y)), np.asarray(~hole.all(axis=1)).astype(np.int64)
        return cls._merged(words, there, size, size**2, size, np.zeros_like(size))

    @classmethod
    def _merged(
        cls, words: NDArray[Any], sizes: NDArray[np.int64], total: Array, squares: Array, first: Array, second: Array
    ) -> Concentration:
        order = np.argsort(words, kind="stable")
        starts = np.flatnonzero(np.r_[True, words[order][1:] != words[order][:-1]])
        top, next_ = _two_largest(first[order], second[order], starts)
        return cls(
            words[order][starts],
            np.add.reduceat(sizes[order], starts),
            np.add.reduceat(total[order], starts, axis=0),
            np.add.reduceat(squares[order], starts, axis=0),
            top,
            next_,
        )

    @classmethod
    def learn(cls, rows: Rows, design: Design, level: Domain) -> Concentration:
        columns = tuple(dict.fromkeys([*level.by, *design.confidential]))

        def of(run: Sequence[Block]) -> Concentration:
            parts = [[as_float(block.columns[name]) for name in design.confidential] for block in run]
            words = [level.labels(block, np.array(Y), design) for block, Y in zip(run, parts, strict=True)]
            return cls.of(np.concatenate(words), np.hstack([np.array(Y) for Y in parts]).T)

        found = list(rows.map(of, columns, "looking at groups"))
        return found[0] if len(found) == 1 else cls._together(found)

    @classmethod
    def _together(cls, parts: Sequence[Concentration]) -> Concentration:
        return cls._merged(
            np.concatenate([part.groups for part in parts]),
            np.concatenate([part.sizes for part in parts]),
            np.vstack([part.total for part in parts]),
            np.vstack([part.squares for part in parts]),
            np.vstack([part.first for part in parts]),
            np.vstack([part.second for part in parts]),
        )

    def __add__(self, other: Concentration) -> Concentration:
        return self._together([self, other])

    @property
    def dominated(self) -> Flags:
        """Groups and columns whose total gives the largest record away, to the second largest or to anyone."""
        rest = self.total - self.first - self.second
        told = rest < PRIOR * self.first * (1 - 1e-12)
        pair = self.first + self.second > PAIR * self.total * (1 + 1e-12)
        return np.asarray((told | pair) & (self.first > 0))

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


def _two_largest(first: Array, second: Array, starts: NDArray[np.intp]) -> tuple[Array, Array]:
    """Of rows that hold the two largest of their own, those of each stretch of rows."""
    top = np.maximum.reduceat(first, starts)
    label = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(first)]))
    others = first.copy()
    for j, column in enumerate(others.T):
        largest = np.flatnonzero(column == top[label, j])
        where = np.unique(label[largest], return_index=True)[1]
        column[largest[where]] = -np.inf  # the largest itself, once
    return top, np.maximum(np.maximum.reduceat(others, starts), np.maximum.reduceat(second, starts))
