"""An original and what was released of it: records in memory, and where these are a sample all of them in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.design.roles import Roles
from suffice.errors import count_of
from suffice.measure.numbers import FileNumbers, sample_places
from suffice.rows.arrow import as_float
from suffice.rows.bridge import arrow
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Kind, Rows

Columns = Mapping[str, Any]
"""Columns of a file: arrays of numbers, and Arrow arrays of text."""


@dataclass(frozen=True, repr=False)
class FilePair:
    """Original and released records, with what is known of their columns.

    aligned: whether record i of every release was made of record i of the original
    aside: the hold-out
    numbers: confidential columns of numbers, those aside that do not vary
    categories: given, kept and confidential columns that are categories, in all files
    analyses: formulas of the analyst
    sampled: how many records are looked at and of how many, where not all are
    dates: columns of numbers that count days, or what their type counts: 10 % of such a number means nothing
    past: what the ledger tells of this release with the earlier ones, as the guards judge it
    rows: all records of the original and of every release, where those above are a sample
    holed: all records with those that lack a number, where missing cells are kept and the others leave them out
    """

    roles: Roles
    before: Columns
    after: tuple[Columns, ...]
    numbers: tuple[str, ...]
    categories: tuple[str, ...] = ()
    aligned: bool = False
    aside: Columns | None = None
    analyses: tuple[str, ...] = ()
    sampled: str = ""
    past: Mapping[str, float] = field(default_factory=dict)
    dates: tuple[str, ...] = ()
    rows: tuple[Rows, ...] = ()
    holed: tuple[Rows, ...] = ()

    @classmethod
    def of_arrays(
        cls,
        Y: Array,
        *Ystar: Array,
        aligned: bool = True,
        holdout: Array | None = None,
        analyses: Sequence[str] = (),
        keys: Columns | None = None,
        released_keys: Sequence[Columns] = (),
    ) -> FilePair:
        """Of matrices whose columns are x0, x1, ..., and of categories beside them: what a test makes."""

        def named(A: Array, more: Columns | None = None) -> dict[str, Any]:
            return {**{f"x{j}": column for j, column in enumerate(A.T)}, **(more or {})}

        names, known = tuple(f"x{j}" for j in range(Y.shape[1])), tuple(keys or ())
        after = tuple(named(A, more) for A, more in zip(Ystar, released_keys or [keys or {}] * len(Ystar), strict=True))
        roles, aside = Roles(confidential=names, keep=known), None if holdout is None else named(holdout)
        return cls(roles, named(Y, keys), after, names, known, aligned, aside, tuple(analyses))

    @cached_property
    def original(self) -> FileNumbers:
        """All confidential numbers of the original, in memory or not."""
        return FileNumbers(self.all_rows[0], self.numbers)

    @cached_property
    def release(self) -> FileNumbers:
        """Those of the release; of several, the first one's."""
        return FileNumbers(self.all_rows[1], self.numbers)

    @cached_property
    def all_rows(self) -> tuple[Rows, ...]:
        """All records of the original and of every release: of a sample in memory that has no others, these."""
        return self.rows or tuple(map(as_rows, (self.before, *self.after)))

    def whole(self, name: str, holes: bool = False) -> tuple[Columns, Columns]:
        """One column of all records, of the original and of its first release; with holes, if these are kept."""
        before, after = (rows.gather([name]) for rows in ((holes and self.holed) or self.all_rows)[:2])
        return before, after

    @cached_property
    def Y(self) -> Array:
        """The confidential numbers of the original."""
        return self.matrix(self.before)

    @cached_property
    def Ystar(self) -> Array:
        """Those of the release; of several, the first one's."""
        return self.matrix(self.after[0])

    @cached_property
    def holdout(self) -> Array:
        """Those of the hold-out."""
        assert self.aside is not None
        return self.matrix(self.aside)

    @property
    def weight(self) -> Array | None:
        """The original's survey weights."""
        name = self.roles.weight
        return as_float(self.before[name]) if name is not None and name in self.before else None

    @property
    def known(self) -> tuple[str, ...]:
        """Categories that an intruder may know of a record: those that are not confidential."""
        return tuple(name for name in self.categories if name not in self.roles.confidential)

    def matrix(self, columns: Columns, names: Sequence[str] | None = None) -> Array:
        """Numbers, a column each."""
        return np.column_stack([as_float(columns[name]) for name in (self.numbers if names is None else names)])

    def reach(self, share: float, names: Sequence[str] | None = None) -> Array:
        """For every number of the original this share of its size; of a date, of its column's standard deviation."""
        names = self.numbers if names is None else names
        X = self.matrix(self.before, names)
        return np.asarray(share * np.where(np.isin(names, self.dates), np.nanstd(X, axis=0), np.abs(X)))

    def table(self, columns: Columns, names: Sequence[str] | None = None) -> pa.Table:
        """Columns as a table: all of them, or those that are named."""
        wanted = columns if names is None else {name: columns[name] for name in names}
        return pa.table({n: c if isinstance(c, pa.Array | pa.ChunkedArray) else arrow(c) for n, c in wanted.items()})

    def each(self) -> Iterator[FilePair]:
        """The pair with every one of its releases alone."""
        if len(self.after) == 1:
            return iter([self])
        rows, holed = (
            [(*files[:1], each) for each in files[1:]] or [()] * len(self.after) for files in (self.rows, self.holed)
        )
        own = zip(self.after, rows, holed, strict=True)
        return (replace(self, after=(one,), rows=two, holed=three) for one, two, three in own)

    def some(self, most: int | None) -> FilePair:
        """The pair with at most so many records of each file: of aligned files the same of all."""
        if most is None or max(map(length, self._files())) <= most:
            return self
        if self.aligned:
            places = sample_places(length(self.before), most)
            before, after = taken(self.before, places), tuple(taken(each, places) for each in self.after)
        else:
            before, *rest = (taken(each, sample_places(length(each), most)) for each in (self.before, *self.after))
            after = tuple(rest)
        aside = None if self.aside is None else taken(self.aside, sample_places(length(self.aside), most))
        said = f"{most:,} of {self.sampled.partition(' of ')[2] or count_of(length(self.before), 'record')}"
        return replace(self, before=before, after=after, aside=aside, sampled=said, rows=(), holed=())

    def _files(self) -> Iterator[Columns]:
        yield from (self.before, *self.after)
        if self.aside is not None:
            yield self.aside


def as_rows(file: Columns | Rows) -> Rows:
    """Columns in memory as rows."""
    return file if isinstance(file, Rows) else ArrayRows(file, _kinds(file))


def _kinds(columns: Columns) -> dict[str, Kind]:
    def kind(column: Any) -> Kind:
        if isinstance(column, pa.Array):
            return "category"
        return "integer" if column.dtype.kind in "iu" else "float"

    return {name: kind(column) for name, column in columns.items()}


def taken(columns: Columns, places: NDArray[np.int64]) -> dict[str, Any]:
    """Some of the records."""
    return {name: column.take(places) for name, column in columns.items()}


def length(columns: Columns) -> int:
    """How many records."""
    return next((len(column) for column in columns.values()), 0)
