"""Who stands behind cells: how many there are, and how much the largest of them contribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError
from suffice.tables.columns import codes_of, marks_of, numbers_of

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
        largest = np.zeros((len(value), 0)) if largest is None else -np.sort(-np.abs(largest), axis=1)
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

    def pooled(self, groups: sparse.csr_array, same: bool) -> Makeup:
        """Of sums of cells, a row of `groups` each: their contributors are different ones, or the same."""
        width = self.largest.shape[1]
        largest = np.zeros((groups.shape[0], width))
        for row in range(groups.shape[0]):
            cells = groups.indices[groups.indptr[row] : groups.indptr[row + 1]]
            some = self.largest[cells]
            top = some.sum(axis=0) if same else np.sort(some.ravel())[::-1][:width]
            largest[row, : len(top)] = top
        none = np.zeros(largest.shape, dtype=bool)
        value, size, records, units = (groups @ each for each in (self.value, self.size, self.records, self.units))
        if not same:
            return Makeup(value, size, records, units, largest, none, none)
        here, fewest = groups.tocoo(), np.zeros(groups.shape[0])
        with np.errstate(invalid="ignore"):  # how many there are may be unknown
            np.maximum.at(fewest, here.row, self.units[here.col])
        return Makeup(value, size, records, fewest, largest, none, none)

    def others(self) -> Makeup:
        """What stands behind each cell beside its largest contributor; the last one not known is as large as may be."""
        first, known = self.largest[:, 0], self.largest[:, 1:]
        size = np.maximum(self.size - first, 0.0)
        more = ~(self.units <= self.largest.shape[1])
        last = np.where(more, np.minimum(self.largest[:, -1], np.maximum(size - known.sum(axis=1), 0.0)), 0.0)
        none = np.zeros((len(first), 1), dtype=bool)
        marks = (np.hstack([each[:, 1:], none]) for each in (self.asked, self.waived))
        return Makeup(
            self.value - first, size, self.records - 1, self.units - 1, np.column_stack([known, last]), *marks
        )

    @classmethod
    def stacked(cls, several: Sequence[Makeup]) -> Makeup:
        """The cells of several, one after the other; of the largest as many as all know."""
        width = min(each.largest.shape[1] for each in several)
        columns = {name: [getattr(each, name) for each in several] for name in cls.__dataclass_fields__}
        return cls(**{name: np.concatenate([c[:, :width] if c.ndim > 1 else c for c in some])
                      for name, some in columns.items()})  # fmt: skip

    def __getitem__(self, cells: NDArray[np.int64]) -> Makeup:
        return replace(self, **{name: getattr(self, name)[cells] for name in self.__dataclass_fields__})


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Contributors:
    """Records behind the inner cells of a table.

    inner: the inner cell of every record
    unit: whose record it is: a contributor, or the holding that it belongs to
    names: of the units; None where nobody was named and every record is its own
    """

    inner: NDArray[np.int64]
    unit: NDArray[np.int64]
    frequency: Array
    weight: Array
    values: Mapping[str, Array]
    asked: Flags
    waived: Flags
    names: NDArray[np.str_] | None = None

    @classmethod
    def of(
        cls,
        records: pa.Table,
        inner: NDArray[np.int64],
        values: Sequence[str],
        *,
        frequency: str | None = None,
        contributor: str | None = None,
        holding: str | None = None,
        weight: str | None = None,
        asked: str | None = None,
        waived: str | None = None,
    ) -> Contributors:
        """From columns of a file; one record that asked speaks for all of a unit, a waiver must be on every one."""
        names, unit = _units(records, contributor, holding)
        every = np.bincount(unit)
        marks = [marks_of(records, name) if name else np.zeros(len(unit), dtype=bool) for name in (asked, waived)]
        speaks, waives = (np.bincount(unit, mark) for mark in marks)
        return cls(
            inner,
            unit,
            _from_zero(records, frequency, "counts"),
            _from_zero(records, weight, "weights"),
            {name: numbers_of(records, name) for name in values},
            speaks > 0,
            waives == every,
            names,
        )._settled()

    def _settled(self) -> Contributors:
        """In an order that is not the file's: sums of the same records are the same to the last bit, and so is all
        that the key draws for them."""
        named = self.names is not None
        who = [self.unit] if named else [self.asked, self.waived]  # without names every record is its own unit
        order = np.lexsort((*who, self.frequency, self.weight, *self.values.values(), self.inner))
        return replace(
            self,
            inner=self.inner[order],
            unit=self.unit[order] if named else self.unit,
            frequency=self.frequency[order],
            weight=self.weight[order],
            values={name: each[order] for name, each in self.values.items()},
            asked=self.asked if named else self.asked[order],
            waived=self.waived if named else self.waived[order],
        )

    @classmethod
    def joined(cls, several: Sequence[Contributors], values: Sequence[str]) -> Contributors | None:
        """Those of several files, the inner cells numbered on; None where a file does not name them."""
        named = [each.names for each in several if each.names is not None]
        if len(named) < len(several):
            return None
        names, back = np.unique(np.concatenate(named), return_inverse=True)
        homes = np.split(back, np.cumsum([len(some) for some in named])[:-1])
        begins = np.cumsum([0, *(int(each.inner.max(initial=-1)) + 1 for each in several)])
        asked, waived = np.zeros(len(names), dtype=bool), np.ones(len(names), dtype=bool)
        for each, home in zip(several, homes, strict=True):
            asked[home] |= each.asked
            waived[home] &= each.waived
        pairs = list(zip(several, homes, begins, strict=False))
        return cls(
            np.concatenate([each.inner + begin for each, _, begin in pairs]),
            np.concatenate([home[each.unit] for each, home, _ in pairs]),
            np.concatenate([each.frequency for each in several]),
            np.concatenate([each.weight for each in several]),
            {name: np.concatenate([each.values[name] for each in several]) for name in values},
            asked,
            waived,
            names,
        )

    def makeup(self, groups: sparse.csr_array, name: str | None, weights: str = "largest") -> Makeup:
        """Of sets of inner cells, a row of `groups` each; a value's contributions, or the records' own.

        weights: the `largest` values themselves against the weighted total, or each `repeated` as often as it weighs
        """
        if weights not in CONVENTIONS:
            raise UsageError(f"`weights` is {weights!r}; known are {' and '.join(CONVENTIONS)}.")
        inner, counted = groups.shape[1], np.where(self.weight > 0, self.frequency, 0.0)
        plain = self._plain(name)
        sums = [np.bincount(self.inner, each, inner) for each in (plain * self.weight, counted)]
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

    def _plain(self, name: str | None) -> Array:
        """Unweighted contributions of all records; those that weigh nothing contribute nothing."""
        return np.where(self.weight > 0, self.frequency if name is None else self.values[name], 0.0)

    def _by(self, inner: int) -> sparse.csr_array:
        """Inner cells x records."""
        count, order = len(self.inner), self._order
        begin = np.concatenate([[0], np.cumsum(np.bincount(self.inner, minlength=inner))])
        return sparse.csr_array((np.ones(count), order, begin), shape=(inner, count))

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self.inner, kind="stable")

    def _contributions(self, groups: sparse.csr_array, plain: Array) -> Sequence[NDArray[Any]]:
        """Every unit's absolute contribution to every group, unweighted and weighted, and whether it is any."""
        count = int(self.unit.max(initial=0)) + 1
        pairs = (groups @ self._by(groups.shape[1])).tocoo()
        keys, place = np.unique(pairs.row.astype(np.int64) * count + self.unit[pairs.col], return_inverse=True)
        x = np.abs(np.bincount(place, plain[pairs.col], len(keys))).astype(np.float64)
        weighed = np.abs(np.bincount(place, (plain * self.weight)[pairs.col], len(keys)))
        some = np.bincount(place, plain[pairs.col] != 0, len(keys)) > 0
        return [keys // count, keys % count, x, weighed, some]

    def behind(self, groups: sparse.csr_array, name: str | None) -> tuple[NDArray[Any], ...]:
        """Who contributes to which group, and how much; and the one unit behind each group, or -1.

        Units of zero do not count, unless there are no others.
        """
        group, unit, _, weighed, some = self._contributions(groups, self._plain(name))
        alone = np.full(groups.shape[0], -1, dtype=np.int64)
        for here in (np.ones(len(group), dtype=bool), some):
            one = np.bincount(group[here], minlength=groups.shape[0]) == 1
            mine = here & one[group]
            alone[group[mine]] = unit[mine]
        return group, unit, weighed, alone

    def of_unit(self, unit: int, groups: sparse.csr_array, name: str | None) -> Array:
        """What one unit contributes to each group."""
        here = self.unit == unit
        weighed = (self._plain(name) * self.weight)[here]
        return np.asarray(np.abs(groups @ np.bincount(self.inner[here], weighed, groups.shape[1])))


def _repeated(largest: Array, times: Array, asked: Flags, waived: Flags) -> tuple[Array, Flags, Flags]:
    """Each contribution as often as it weighs: the k-th is what lies between k - 1 and k of the running weight."""
    ends = np.cumsum(times, axis=1)
    steps = np.arange(LARGEST)[None, :, None]
    share = np.clip(np.minimum(ends[:, None], steps + 1) - np.maximum((ends - times)[:, None], steps), 0, None)
    first = np.argmax(share > 0, axis=2)
    marks = [np.take_along_axis(each, first, axis=1) & (share > 0).any(axis=2) for each in (asked, waived)]
    return np.einsum("gsk,gk->gs", share, largest), marks[0], marks[1]


def _units(
    records: pa.Table, contributor: str | None, holding: str | None
) -> tuple[NDArray[np.str_] | None, NDArray[np.int64]]:
    """Names, and whose record it is, as a number: the holding's where a contributor has one."""
    if contributor is None and holding is None:
        return None, np.arange(records.num_rows)
    own = codes_of(records, contributor) if contributor else np.arange(records.num_rows).astype(np.str_)
    if holding is not None:
        above = [None if word in (None, "") else str(word) for word in records[holding].to_pylist()]
        own = np.array([f"c{one}" if up is None else f"h{up}" for one, up in zip(own, above, strict=True)])
    names, unit = np.unique(own, return_inverse=True)
    return names, np.asarray(unit, dtype=np.int64)


def _from_zero(records: pa.Table, name: str | None, what: str) -> Array:
    """Weights or counts; one for each record where no column has them."""
    found = np.ones(records.num_rows) if name is None else numbers_of(records, name)
    if (found < 0).any() or (what == "counts" and (found % 1 != 0).any()):
        bad, are = {"counts": ("negative or fractional", "whole numbers")}.get(what, ("negative", "numbers"))
        raise InputError(f"Column {name!r} holds {bad} {what}.\n{what.capitalize()} are {are} from zero.")
    return found
