"""Tables of cells: records, totals and the largest of each, however many there are, and unions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.group_moments import Grouping
from suffice.risk.dominance import read_off, two_largest
from suffice.rows.multiset import Words, fingerprints, number_words


@dataclass(frozen=True, repr=False)
class CellTable:
    """Of every cell the records, and of every cell and column the sum of values that are not negative, their two
    largest, and how many records stand at an end of the column's range that is not zero, and at one that is.

    groups: a word for each cell; strata, codes: the stratum and the number that it is made of
    """

    groups: Words
    strata: Words
    codes: NDArray[np.int64]
    records: NDArray[np.int64]
    total: Array
    first: Array
    second: Array
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, strata: Words | None, codes: NDArray[np.int64], V: Array, at_end: Flags) -> CellTable:
        """One row a record."""
        words = cell_words(strata, codes)
        strata = np.zeros(len(codes), dtype=np.uint64) if strata is None else strata
        return cls._merged(words, strata, codes, np.ones(len(codes), dtype=np.int64), V, V, None, at_end)

    @classmethod
    def _merged(
        cls,
        words: NDArray[Any],
        strata: Words,
        codes: NDArray[np.int64],
        records: NDArray[np.int64],
        total: Array,
        first: Array,
        second: Array | None,
        ends: NDArray[Any],
    ) -> CellTable:
        groups = Grouping.of(words)
        one = groups.order[groups.starts]
        tops = [two_largest(y, None if second is None else second[:, j], groups) for j, y in enumerate(first.T)]
        sums = np.array([groups.total(v) for v in total.T]).T
        at_end = [groups.total(v.astype(np.float64)) if v.any() else np.zeros(len(one)) for v in ends.T]
        largest, next_to_it = (np.array([pair[place] for pair in tops]).T for place in (0, 1))
        sizes, ended = groups.total(records.astype(np.float64)).astype(np.int64), np.array(at_end).T.astype(np.int64)
        return cls(groups.labels, strata[one], codes[one], sizes, sums, largest, next_to_it, ended)

    @classmethod
    def together(cls, parts: Sequence[CellTable]) -> CellTable:
        names = ("groups", "strata", "codes", "records", "total", "first", "second", "ends")
        return (
            parts[0]
            if len(parts) == 1
            else cls._merged(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))
        )

    def united(self, labels: NDArray[np.int64]) -> CellTable:
        """Unions of cells, those of one label; below zero is none."""
        here = np.flatnonzero(labels >= 0)
        words = labels[here].astype(np.uint64)
        names = ("strata", "codes", "records", "total", "first", "second", "ends")
        return self._merged(words, *(getattr(self, name)[here] for name in names))

    @property
    def dominated(self) -> Flags:
        """Where the second largest reads the largest off the total to within PRIOR."""
        return read_off(self.total, self.first, self.second)

    @property
    def known(self) -> Flags:
        """Where all records stand at an end: the mean says so."""
        return np.asarray(self.ends == self.records[:, None])


def cell_words(strata: Words | None, codes: NDArray[np.int64]) -> Words:
    """A word for each record, the same in the same cell of a stratum."""
    own = number_words(codes)
    return own if strata is None else fingerprints(len(codes), [strata, own])


def left_over(outer: NDArray[np.int64], inner: NDArray[np.int64]) -> NDArray[np.int64]:
    """What cells of one kind have beyond those of another that lie in one of them: the outer's number, or -1.

    The total of what is left is the outer total less the inner ones.
    """
    order = np.lexsort((outer, inner))
    a, b = outer[order], inner[order]
    starts = np.flatnonzero(np.r_[True, b[1:] != b[:-1]])
    alone = np.maximum.reduceat(a, starts) == np.minimum.reduceat(a, starts)
    inside = np.empty(len(outer), dtype=bool)
    inside[order] = np.repeat(alone, np.diff(starts, append=len(a)))
    _, place = np.unique(outer, return_inverse=True)
    some = np.bincount(place, inside)[place] > 0
    return np.where(some & ~inside, outer, -1)


def told_alone(labels: Sequence[NDArray[np.int64]], strata: NDArray[np.int64], most: int) -> Flags:
    """Atoms whose indicator lies in the span of the cells of all kinds, in their stratum: whose total follows.

    labels: the cell of each atom, kind by kind; most: atoms of a stratum that are looked at
    """
    found = np.zeros(len(strata), dtype=bool)
    order = np.argsort(strata, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        if 2 < len(rows) <= most:
            dummies = [np.unique(each[rows], return_inverse=True)[1] for each in labels]
            A = np.hstack([np.eye(place.max() + 1)[place] for place in dummies])
            values, V = np.linalg.eigh(A.T @ A)
            Q = A @ (V[:, values > 1e-9] / np.sqrt(values[values > 1e-9]))
            found[rows] = (Q**2).sum(axis=1) > 1 - 1e-9
    return found
