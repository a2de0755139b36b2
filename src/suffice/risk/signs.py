"""Released values below zero, in columns that had none and in those that had fewer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.algebra.moments import Spread
from suffice.protection.aligned import AlignedBlock
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block, Rows

ERRORS = 3.3
"""Counts that differ by as many standard errors are not those of two samples."""
FEW, SHARE, MANY = 5, 0.05, 15
"""New negatives that releases of a request have on average, where they are no luck: so many, or this share, of a small
file, and of any other."""


def least(n: int) -> float:
    """New negatives among n records that are warned of.

    >>> least(40), least(200), least(1000)
    (5, 10.0, 15)
    """
    return min(max(FEW, SHARE * n), MANY)


@dataclass(frozen=True, repr=False, eq=False)
class SignCounts:
    """Cells below zero by column, before and after."""

    table: NDArray[np.int64]

    def __add__(self, other: Self) -> SignCounts:
        return SignCounts(self.table + other.table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SignCounts) and np.array_equal(self.table, other.table)

    def new(self, names: tuple[str, ...]) -> dict[str, int]:
        """Columns that had no negative value and have some: how many."""
        return {name: int(after) for name, (before, after) in self._by(names) if after and not before}

    def multiplied(self, names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
        """Columns that had some and have more than twice as many, beyond chance: how many before and after."""
        return {
            name: (int(before), int(after))
            for name, (before, after) in self._by(names)
            if before and after > 2 * before and after - before > ERRORS * sqrt(before + after)
        }

    def usual(self, names: tuple[str, ...], n: int) -> tuple[str, ...]:
        """Columns that had no negative value and have so many that all releases have some; n: records."""
        return tuple(name for name, number in self.new(names).items() if number >= least(n))

    def doubtful(self, n: int) -> bool:
        """Whether another key might have so many more or less that it is judged otherwise; n: records."""
        before, after = self.table.astype(float)
        error = np.sqrt(before + after)
        beyond = after - np.maximum(2 * before, before + ERRORS * error)
        near = np.abs(after - least(n)) < 3 * sqrt(least(n))
        return bool(np.where(before > 0, np.abs(beyond) < 2 * error, near & (after > 0)).any())

    @classmethod
    def mean(cls, several: Sequence[SignCounts]) -> SignCounts:
        """The counts of one of several releases."""
        return cls(np.rint(np.mean([each.table for each in several], axis=0)).astype(np.int64))

    def of_drawn(self, original: Rows, names: tuple[str, ...]) -> SignCounts:
        """With those of the original before, which records that are drawn anew do not stand beside."""

        def below(block: Block) -> NDArray[np.int64]:
            return np.array([np.count_nonzero(as_float(block.columns[name]) < 0) for name in names])

        return SignCounts(np.array([original.fold(below, names, "judging"), self.table[1]]))

    def among(self, n: int, drawn: int) -> SignCounts:
        """With what n of the records that were drawn anew have on average; 0: they stand for those of the original."""
        if not drawn:
            return self
        before, after = self.table
        return SignCounts(np.array([before, np.rint(after * (n / drawn)).astype(np.int64)]))

    def counts(self, chosen: Iterable[str], names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
        """Of columns that were chosen by all releases: how many this one has before and after."""
        known = dict(self._by(names))
        return {name: (int(known[name][0]), int(known[name][1])) for name in chosen}

    def _by(self, names: tuple[str, ...]) -> zip[tuple[str, NDArray[np.int64]]]:
        return zip(names, self.table.T, strict=True)


@dataclass(frozen=True, repr=False)
class SignMeasure:
    """Counts, column by column; `still`: columns that do not change."""

    spread: Spread
    still: Flags

    def of(self, aligned: AlignedBlock) -> SignCounts:
        table = np.zeros((2, aligned.Ystar.shape[1]), dtype=np.int64)
        for j in np.flatnonzero(~self.still):
            if self.spread.low[j] < 0:
                table[0, j] = np.count_nonzero(aligned.Y[:, j] < 0)
            table[1, j] = np.count_nonzero(aligned.Ystar[:, j] < 0)
        return SignCounts(table)
