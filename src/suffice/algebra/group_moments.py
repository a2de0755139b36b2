"""Moments within groups as a fold: sums, products and largest values by label, however many labels there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array

Codes = NDArray[np.intp]
Labels = NDArray[Any]

FEW = 1024
"""Records of a group that may be added one after the other; more are added in pairs, which keeps their digits."""
TINY = 24
"""Records of a group, on average, up to which one record at a time takes less than one group at a time."""
ROOM = 2**25
"""Sums that may wait to be merged; where the groups have more, as many as these: merging then costs little."""


def by_digits(keys: NDArray[Any], low: int, high: int) -> Codes:
    """Places in the order of some binary digits, equal ones in the order they had: sixteen at a time, with no sort."""
    order = np.argsort((keys >> keys.dtype.type(low)).astype(np.uint16), kind="stable")
    for shift in range(low + 16, high, 16):
        order = order[np.argsort((keys >> keys.dtype.type(shift)).astype(np.uint16)[order], kind="stable")]
    return order


def in_order(labels: Labels) -> Codes | None:
    """Places in the order of labels, equal ones in the order they had; None: so they stand.

    Words differ in their first digits already.
    """
    if (labels[1:] >= labels[:-1]).all():
        return None
    if labels.dtype != np.uint64:
        return np.argsort(labels, kind="stable")
    order = by_digits(labels, 32, 64)
    ranked = labels[order]
    return order if (ranked[1:] >= ranked[:-1]).all() else order[np.argsort(ranked, kind="stable")]


@dataclass(frozen=True, repr=False)
class Grouping:
    """Records sorted by label: the distinct labels, and where each one's records stand.

    >>> Grouping.of(np.array([7, 3, 7])).total(np.array([1.0, 2.0, 4.0])).tolist()
    [2.0, 5.0]
    """

    labels: Labels
    moved: Codes | None
    """Which record stands where; None: they stand side by side already."""
    starts: Codes
    records: int

    @classmethod
    def of(cls, labels: Labels) -> Grouping:
        order = in_order(labels)
        ranked = labels if order is None else labels[order]
        starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
        return cls(ranked[starts], order, starts, len(labels))

    def parts(self, size: int) -> Iterator[tuple[slice, Grouping]]:
        """Some groups at a time, with their records, which must stand side by side: `size` records or one group."""
        assert self.moved is None
        ends = np.append(self.starts[1:], self.records)
        first = 0
        while first < len(ends):
            start = self.starts[first]
            last = max(first + 1, int(np.searchsorted(ends, start + size, side="right")))
            here = slice(int(start), int(ends[last - 1]))
            starts = self.starts[first:last] - start
            yield here, Grouping(self.labels[first:last], None, starts, here.stop - here.start)
            first = last

    @cached_property
    def order(self) -> Codes:
        return np.arange(self.records) if self.moved is None else self.moved

    @cached_property
    def counts(self) -> Codes:
        return np.diff(self.starts, append=self.records)

    @cached_property
    def small(self) -> bool:
        """Whether the records of every group may be added one after the other."""
        return int(self.counts.max()) <= FEW

    @property
    def tiny(self) -> bool:
        return self.records <= TINY * len(self.labels)

    @cached_property
    def place(self) -> Codes:
        """The position of every record's label."""
        ranked = np.repeat(np.arange(len(self.labels)), self.counts)
        if self.moved is None:
            return ranked
        place = np.empty_like(ranked)
        place[self.moved] = ranked
        return place

    def sorted(self, a: NDArray[Any]) -> NDArray[Any]:
        """The records of a group side by side."""
        return a if self.moved is None else np.take(a, self.moved, mode="clip")  # to look at each place takes as long

    def total(self, a: Array) -> Array:
        if self.small and (self.moved is not None or self.tiny):
            return np.bincount(self.place, a, minlength=len(self.labels)).astype(np.float64, copy=False)
        return np.asarray(np.add.reduceat(self.sorted(a), self.starts))

    def spread(self, values: Array) -> Array:
        """To every record that of its group."""
        return np.repeat(values, self.counts) if self.moved is None else np.take(values, self.place, mode="clip")

    def largest(self, a: Array) -> Array:
        if not self.tiny:
            return np.asarray(np.maximum.reduceat(np.abs(self.sorted(a)), self.starts))
        found = np.zeros(len(self.labels))
        np.maximum.at(found, self.place, np.abs(a))
        return found


@dataclass(frozen=True, repr=False)
class Part:
    """One table: a row for everything that is added, a column for every label."""

    labels: Labels
    sums: Array
    size: Array

    @classmethod
    def merged(cls, parts: tuple[Part, ...]) -> Part:
        groups = Grouping.of(np.concatenate([part.labels for part in parts]))
        sums, size = (np.empty((len(table), len(groups.labels))) for table in (parts[0].sums, parts[0].size))
        for i in range(len(sums)):
            sums[i] = groups.total(np.concatenate([part.sums[i] for part in parts]))
        for i in range(len(size)):
            size[i] = groups.largest(np.concatenate([part.size[i] for part in parts]))
        return cls(groups.labels, sums, size)


@dataclass(frozen=True, repr=False)
class Cells:
    """Records, weight, sums and chosen products of columns within groups; `+` merges, and merges lazily.

    A block knows only the labels that it has, so its cost does not depend on how many there are in all.

    >>> a = Cells.of(np.array([[1.0, 2.0]]), Grouping.of(np.array([5, 9])))
    >>> b = Cells.of(np.array([[4.0]]), Grouping.of(np.array([9])))
    >>> (a + b).labels.tolist(), (a + b).moments(np.array([5, 9]), Pairs.none(1)).sums.tolist()
    ([5, 9], [[1.0, 6.0]])
    """

    parts: tuple[Part, ...]

    @classmethod
    def of(
        cls, W: Array, groups: Grouping, w: Array | None = None, pairs: Pairs | None = None, sized: bool = True
    ) -> Cells:
        """W: one row a column, centred as wished; where `sized`, the largest values are kept too."""
        p, G = len(W), len(groups.labels)
        known = Pairs.none(p) if pairs is None else pairs
        V = W if w is None else W * w
        sums = np.empty((2 + p + len(known.one), G))
        sums[0] = groups.counts if w is None else groups.total((w > 0).astype(np.float64))
        sums[1] = sums[0] if w is None else groups.total(w)
        for i in range(p):
            sums[2 + i] = groups.total(V[i])
        product = np.empty(W.shape[1])
        for row, i, j in zip(sums[2 + p :], known.one, known.two, strict=True):
            row[:] = groups.total(np.multiply(V[i], W[j], out=product))
        size = np.array([groups.largest(a) for a in W]) if sized else np.empty((0, G))
        return cls((Part(groups.labels, sums, size),))

    def __add__(self, other: Self) -> Cells:
        parts = (*self.parts, *other.parts)
        waiting = sum(part.sums.size for part in parts[1:])
        return Cells((Part.merged(parts),) if waiting > max(ROOM, parts[0].sums.size) else parts)

    @cached_property
    def _whole(self) -> Part:
        return self.parts[0] if len(self.parts) == 1 else Part.merged(self.parts)

    @property
    def labels(self) -> Labels:
        return self._whole.labels

    @property
    def records(self) -> Array:
        """How many records with a weight each label has."""
        return np.asarray(self._whole.sums[0])

    @property
    def size(self) -> Array:
        """The largest absolute value of every column in every group."""
        return self._whole.size

    def moments(self, labels: Labels, pairs: Pairs) -> GroupMoments:
        """As one column for each of the labels, which must be sorted; groups that have no record are zero."""
        table = self._whole.sums
        found, known = looked_up(self._whole.labels, labels)
        if len(labels) == len(found) and known.all():
            out = table
        else:
            out = np.zeros((len(table), len(labels)))
            out[:, found[known]] = table[:, known]
        last = 2 + pairs.columns
        return GroupMoments(out[0], out[1], out[2:last], out[last:], pairs)


def looked_up(labels: Labels, known: Labels) -> tuple[Codes, NDArray[np.bool_]]:
    """Where each label stands among the sorted `known` ones, and whether it does."""
    found = np.searchsorted(known, labels).clip(max=len(known) - 1)
    return found, known[found] == labels


@dataclass(frozen=True, repr=False)
class Pairs:
    """The products of columns that are kept: row i and row j of W."""

    columns: int
    one: Codes
    two: Codes

    @classmethod
    def none(cls, columns: int) -> Pairs:
        empty = np.empty(0, dtype=np.intp)
        return cls(columns, empty, empty)

    @classmethod
    def among(cls, columns: int, *wanted: tuple[Codes, Codes]) -> Pairs:
        """The squares of all columns, and the wanted products."""
        keep = np.eye(columns, dtype=bool)
        for one, two in wanted:
            keep[np.minimum(one, two), np.maximum(one, two)] = True
        one, two = np.nonzero(keep)
        return cls(columns, one, two)

    @cached_property
    def place(self) -> Codes:
        """Where a product stands among those kept."""
        place = np.full((self.columns, self.columns), -1, dtype=np.intp)
        place[self.one, self.two] = place[self.two, self.one] = np.arange(len(self.one))
        return place


@dataclass(frozen=True, repr=False)
class GroupMoments:
    """What `Moments` are for a whole file, for every group: the last axis is the groups."""

    rows: Array
    weight: Array
    sums: Array
    products: Array
    pairs: Pairs

    @cached_property
    def _divisor(self) -> Array:
        return np.where(self.weight > 0, self.weight, 1.0)  # a group without weight has sums of zero

    @cached_property
    def mean(self) -> Array:
        return np.asarray(self.sums / self._divisor)

    def second(self, one: Codes, two: Codes) -> Array:
        """Mean products about the centre."""
        return np.asarray(self.products[self.pairs.place[one, two]] / self._divisor)

    def part(self, groups: slice | NDArray[np.bool_]) -> GroupMoments:
        """Those of some groups."""
        return GroupMoments(
            self.rows[groups], self.weight[groups], self.sums[:, groups], self.products[:, groups], self.pairs
        )


def centred(labels: Labels, Y: Array) -> Array:
    """What the group means leave of each record."""
    return np.asarray(Y - averages(labels, Y, None)[labels])


def averages(labels: Labels, Y: Array, w: Array | None) -> Array:
    """The mean of each group, about the overall mean first, so that an offset costs no digits."""
    centre, total = Y.mean(axis=0), np.bincount(labels, weights=w)
    apart = Y - centre if w is None else (Y - centre) * w[:, None]
    sums = np.column_stack([np.bincount(labels, weights=y) for y in apart.T])
    return np.asarray(centre + sums / np.where(total > 0, total, 1.0)[:, None])
