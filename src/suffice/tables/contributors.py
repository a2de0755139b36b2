"""Who stands behind cells: how many there are, and how much the largest of them contribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import UsageError

CONVENTIONS = ("largest", "repeated")
LARGEST = 8
"""Largest contributions that are looked at; a waiver of more than that many is not seen."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Makeup:
    """What the rules know of cells, a row for each.

    value: what the cell shows
    size: the sum of absolute contributions, with weights
    records: unweighted number of records, or the frequency
    units: number of contributors; not a number where unknown
    largest: contributions of the largest, in order, by absolute value
    asked, waived: whether these have asked for protection, or do without it
    """

    value: Array
    size: Array
    records: Array
    units: Array
    largest: Array
    asked: Flags
    waived: Flags

    @classmethod
    def bare(cls, value: Array, records: Array | None, units: Array | None, largest: Array | None) -> Makeup:
        """What a file of cells says, and nothing beyond."""
        unknown = np.full(len(value), np.nan)
        units = unknown if units is None else units
        largest = np.zeros((len(value), 0)) if largest is None else np.abs(largest)
        none = np.zeros(largest.shape, dtype=bool)
        return cls(value, np.abs(value), unknown if records is None else records, units, largest, none, none)

    def top(self, count: int) -> Array:
        """The sum of the largest contributions."""
        if self.largest.shape[1] < count and (np.nan_to_num(self.units, nan=np.inf) > self.largest.shape[1]).any():
            raise UsageError(
                f"The rule needs the {count} largest contributions of cells, and {self.largest.shape[1]} are known.\n"
                "Make the table from records, or name columns of the largest contributions."
            )
        return np.asarray(self.largest[:, :count].sum(axis=1))

    def __getitem__(self, cells: NDArray[np.int64]) -> Makeup:
        return replace(self, **{name: getattr(self, name)[cells] for name in self.__dataclass_fields__})


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Contributors:
    """Records behind the inner cells of a table.

    inner: the inner cell of every record
    unit: whose record it is: a contributor, or the holding that it belongs to
    named: whether contributors were named; else every record is its own
    """

    inner: NDArray[np.int64]
    unit: NDArray[np.int64]
    frequency: Array
    weight: Array
    values: Mapping[str, Array]
    asked: Flags
    waived: Flags
    named: bool = False

    def makeup(self, groups: sparse.csr_array, name: str | None, weights: str = "largest") -> Makeup:
        """Of sets of inner cells, a row of `groups` each; a value's contributions, or the records' own.

        weights: the `largest` values themselves against the weighted total, or each `repeated` as often as it weighs
        """
        if weights not in CONVENTIONS:
            raise UsageError(f"`weights` is {weights!r}; known are {' and '.join(CONVENTIONS)}.")
        inner = groups.shape[1]
        plain = self.frequency if name is None else self.values[name]
        sums = [np.bincount(self.inner, each, inner) for each in (plain * self.weight, self.frequency)]
        value, records = (np.asarray(groups @ each) for each in sums)
        group, unit, x, weighed, some = self._contributions(groups, plain)
        units = np.bincount(group, some, groups.shape[0]).astype(np.float64)
        size = np.bincount(group, weighed, groups.shape[0]).astype(np.float64)
        order = np.lexsort((unit, -x, group))
        group, unit, x, weighed = (each[order] for each in (group, unit, x, weighed))
        rank = np.arange(len(group)) - np.searchsorted(group, group)
        seen = rank < LARGEST
        shape = (groups.shape[0], LARGEST)
        largest, times = np.zeros(shape), np.zeros(shape)
        asked, waived = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        at = (group[seen], rank[seen])
        largest[at], times[at] = x[seen], np.divide(weighed, x, out=np.ones_like(x), where=x > 0)[seen]
        asked[at], waived[at] = self.asked[unit[seen]], self.waived[unit[seen]]
        if weights == "repeated":
            largest, asked, waived = _repeated(largest, times, asked, waived)
        return Makeup(value, size, records, units, largest, asked, waived)

    def _contributions(self, groups: sparse.csr_array, plain: Array) -> Sequence[NDArray[Any]]:
        """Every unit's absolute contribution to every group, unweighted and weighted, and whether it is any."""
        count = int(self.unit.max(initial=0)) + 1
        by = sparse.csr_array(
            (np.ones(len(self.inner)), (self.inner, np.arange(len(self.inner)))),
            shape=(groups.shape[1], len(self.inner)),
        )
        pairs = (groups @ by).tocoo()
        keys, place = np.unique(pairs.row.astype(np.int64) * count + self.unit[pairs.col], return_inverse=True)
        x = np.abs(np.bincount(place, plain[pairs.col], len(keys))).astype(np.float64)
        weighed = np.abs(np.bincount(place, (plain * self.weight)[pairs.col], len(keys)))
        some = np.bincount(place, plain[pairs.col] != 0, len(keys)) > 0
        return [keys // count, keys % count, x, weighed, some]

    def alone(self, groups: sparse.csr_array) -> NDArray[np.int64]:
        """The one unit behind each group, or -1."""
        group, unit = self._contributions(groups, self.frequency)[:2]
        units = np.bincount(group, minlength=groups.shape[0])
        found = np.full(groups.shape[0], -1, dtype=np.int64)
        found[group] = unit
        return np.where(units == 1, found, -1)


def _repeated(largest: Array, times: Array, asked: Flags, waived: Flags) -> tuple[Array, Flags, Flags]:
    """Each contribution as often as it weighs: the k-th is what lies between k - 1 and k of the running weight."""
    ends = np.cumsum(times, axis=1)
    steps = np.arange(LARGEST)[None, :, None]
    share = np.clip(np.minimum(ends[:, None], steps + 1) - np.maximum((ends - times)[:, None], steps), 0, None)
    first = np.argmax(share > 0, axis=2)
    marks = [np.take_along_axis(each, first, axis=1) & (share > 0).any(axis=2) for each in (asked, waived)]
    return np.einsum("gsk,gk->gs", share, largest), marks[0], marks[1]
