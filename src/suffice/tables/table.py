"""A table: cells, their values, the equations that tie them together, and who stands behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError
from suffice.tables.axis import Axis
from suffice.tables.cells import EXACT, in_order, joined_axes, moved, once, placed
from suffice.tables.columns import codes_of, columns_of_file, marks_of, numbers_of
from suffice.tables.contributors import Contributors, Makeup
from suffice.tables.dimensions import Dimensions, Total
from suffice.tables.grid import Grid, Places

COUNT = "count"
"""The value of a table of counts."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Table:
    """Cells that add up.

    values: by name; not a number where a cell is suppressed and unknown
    counts: which of the values are counts
    relations: T of T x = 0, a row an equation, -1 at its total
    hidden: cells that are not asked for and tie others together: nobody publishes them
    impossible: cells that cannot be anything but zero, as everybody knows
    holding: cells x inner cells with records
    """

    grid: Grid
    values: Mapping[str, Array]
    counts: frozenset[str]
    relations: sparse.csr_array
    hidden: Flags
    impossible: Flags
    contributors: Contributors | None = None
    holding: sparse.csr_array | None = None
    known: Makeup | None = None

    @classmethod
    def of_records(
        cls,
        data: Any,
        dims: Sequence[str] | None = None,
        values: Sequence[str] = (),
        *,
        formula: str | None = None,
        hierarchies: Mapping[str, Axis | Sequence[Any]] | None = None,
        total: Total = "Total",
        frequency: str | None = None,
        contributor: str | None = None,
        holding: str | None = None,
        weight: str | None = None,
        asked: str | None = None,
        waived: str | None = None,
        impossible: Sequence[Sequence[str]] = (),
    ) -> Table:
        """The table of a file of records.

        dims: columns that are crossed; one that follows from another is a coarser level of it
        values: columns that are added up; a table always has `count` as well
        formula: which crossings, in place of all: `region * industry + county * size`
        hierarchies: by column: nested lists, or what `read_hierarchy` gives
        total: codes of totals, for all dimensions or by dimension; those behind the first are other names of it
        frequency: a column that says how many a record stands for
        contributor, holding: whose record it is, and who owns whom
        asked, waived: contributors that asked for protection, or do without it
        impossible: codes of cells that can have no records, in the order of the table's dimensions

        >>> table = Table.of_records({"region": ["a", "a", "b"], "wages": [3, 4, 5]}, ["region"], ["wages"])
        >>> table.frame().to_pydict()
        {'region': ['Total', 'a', 'b'], 'count': [3.0, 2.0, 1.0], 'wages': [12.0, 7.0, 5.0]}
        """
        given = Dimensions.of(dims, formula, hierarchies or {}, total)
        more = [name for name in (frequency, contributor, holding, weight, asked, waived) if name]
        records = _arrow(columns_of_file(_framed(data), [*given.columns, *values, *more]))
        _refuse_twice(dims or given.columns, values)
        if COUNT in values:
            raise UsageError("A value may not be called 'count': that is the number of records.\nRename the column.")
        grid, wanted, leaves = given.grid({name: codes_of(records, name) for name in given.columns})
        keys, first, inner = np.unique(leaves @ grid.strides, return_index=True, return_inverse=True)
        del keys
        holds = grid.holding(leaves[first])
        people = Contributors.of(
            records, inner, values,
            frequency=frequency, contributor=contributor, holding=holding, weight=weight, asked=asked, waived=waived,
        )  # fmt: skip
        sums = {
            name: holds @ np.bincount(people.inner, each * people.weight, holds.shape[1])
            for name, each in {COUNT: people.frequency, **people.values}.items()
        }
        counted = sums.keys() & {COUNT, frequency}  # what says how many a record stands for is a count by another name
        whole = frozenset(counted) if (people.weight == 1).all() else frozenset[str]()
        zero = _impossible(grid, impossible, sums[COUNT])
        table = cls(grid, sums, whole, grid.complete(), ~wanted, zero, people, holds)
        table.check()
        return table

    @classmethod
    def of_cells(
        cls,
        data: Any,
        dims: Sequence[str],
        values: Sequence[str],
        *,
        total: Total = "Total",
        hierarchies: Mapping[str, Axis | Sequence[Any]] | None = None,
        counts: Sequence[str] = (),
        records: str | None = None,
        units: str | None = None,
        largest: Sequence[str] = (),
        impossible: str | None = None,
    ) -> Table:
        """The table of a file of cells with their totals; cells that are not there are empty.

        values: columns; a missing number is a cell that was suppressed
        total: codes of totals, for all dimensions or by dimension; None: a dimension without one
        counts: those of the values that count something
        records, units, largest: columns with the number of records, of contributors, and the largest contributions
        impossible: a column that marks cells that can be nothing but zero

        >>> cells = {"region": ["Total", "a", "b"], "wages": [12, 7, 5]}
        >>> Table.of_cells(cells, ["region"], ["wages"]).relations.toarray()
        array([[-1.,  1.,  1.]])
        """
        _refuse_twice(dims, values)
        if largest and len(values) > 1:
            raise UsageError("The largest contributions are those of one value.\nName one value.")
        more = [*(name for name in (records, units, impossible) if name), *largest]
        file = _arrow(columns_of_file(_framed(data), [*dims, *values, *more]))
        text = {name: codes_of(file, name) for name in dims}
        axes = tuple(Dimensions.axis_of_cells(name, text[name], total, (hierarchies or {}).get(name)) for name in dims)
        places = np.column_stack([placed(axis, text[axis.name]) for axis in axes])
        every = Grid(axes, places)
        _, first, back = np.unique(every.keys, return_index=True, return_inverse=True)
        first, back = in_order(first, back)
        grid = Grid(axes, places[first])

        def column(name: str, holes: bool = False) -> Array:
            return once(grid, numbers_of(file, name, holes), back, name)

        shown = {name: column(name, True) for name in values}
        for name in counts:
            _refuse_uncountable(grid, shown[name], name)
        zero = marks_of(file, impossible)[first] if impossible else np.zeros(len(first), dtype=bool)
        known = Makeup.bare(
            next(iter(shown.values())),
            column(records) if records else None,
            column(units) if units else None,
            np.column_stack([column(name) for name in largest]) if largest else None,
        )
        none = np.zeros(len(first), dtype=bool)
        table = cls(grid, shown, frozenset(counts), grid.listed(), none, zero, known=known)
        table.check()
        return table

    @classmethod
    def linked(cls, tables: Sequence[Table]) -> Table:
        """One table of the cells of several, equal cells once; a dimension that a table lacks is its total there."""
        axes = joined_axes([table.grid for table in tables])
        places = [moved(table.grid, axes) for table in tables]
        grid = Grid(axes, np.concatenate(places))
        _, first, back = np.unique(grid.keys, return_index=True, return_inverse=True)
        first, back = in_order(first, back)
        one = Grid(axes, grid.codes[first])
        names = [name for name in tables[0].values if all(name in table.values for table in tables)]
        if not names:
            raise UsageError("The tables have no value in common.\nLink tables of one value.")
        values = {n: once(one, np.concatenate([t.values[n] for t in tables]), back, n) for n in names}
        starts = np.cumsum([0, *(len(place) for place in places)])
        rows = [
            sparse.csr_array((t.relations.data, back[begin + t.relations.indices], t.relations.indptr),
                             shape=(t.relations.shape[0], len(first)))
            for t, begin in zip(tables, starts, strict=False)
        ]  # fmt: skip
        hidden, zero = (
            np.bincount(back, np.concatenate([getattr(t, n) for t in tables]), len(first))
            for n in ("hidden", "impossible")
        )
        counts = frozenset.intersection(*(table.counts for table in tables)) & frozenset(names)
        behind = _behind(tables, names, starts, first, back)
        relations = sparse.csr_array(sparse.vstack(rows))
        table = cls(one, values, counts, relations, hidden == np.bincount(back), zero > 0, *behind)
        table.check()
        return table

    def __repr__(self) -> str:
        dims, values = (" x ".join(axis.name for axis in self.grid.axes)), ", ".join(self.values)
        return f"Table({dims}: {len(self):,} cells, {self.relations.shape[0]:,} equations; {values})"

    def __len__(self) -> int:
        return len(self.grid.codes)

    def find(self, *codes: str) -> int:
        """The cell with these codes, by any of their names."""
        if len(codes) != len(self.grid.axes):
            named = ", ".join(axis.name for axis in self.grid.axes)
            raise UsageError(
                f"A cell of this table has {len(self.grid.axes)} codes ({named}), and {len(codes)} are given."
            )
        places = [axis.place.get(code, -1) for axis, code in zip(self.grid.axes, codes, strict=True)]
        cell = -1 if -1 in places else int(self.grid.find(np.array([places]) @ self.grid.strides)[0])
        if cell < 0:
            raise UsageError(f"The table has no cell {', '.join(codes)}.")
        return cell

    def gaps(self, suppressed: Sequence[bool] | Flags) -> Flags:
        """A pattern, with a mark for every cell: nobody publishes hidden cells, and everybody knows impossible ones."""
        marks = np.asarray(suppressed, dtype=bool)
        if marks.shape != (len(self),):
            raise UsageError(f"The pattern has {marks.size:,} marks and the table {len(self):,} cells.")
        return np.asarray(marks & ~self.impossible & ~self.hidden)

    def label(self, cell: int) -> str:
        """A cell in words."""
        return self.grid.label(cell)

    def makeup(
        self, name: str, weights: str = "largest", groups: sparse.csr_array | None = None, same: bool = False
    ) -> Makeup:
        """What stands behind the cells, or behind sums of cells: a row of `groups` each.

        same: where only a summary of each cell is known, the same contributors stand behind all; else different ones
        """
        if self.contributors is not None and self.holding is not None:
            counted = name == COUNT or name in self.counts
            if groups is not None:
                parts = sparse.csr_array(groups @ self.holding)
                return self.contributors.makeup(parts, None if counted else name, weights)
            if (name, weights) not in self._makeups:
                found = self.contributors.makeup(self.holding, None if counted else name, weights)
                self._makeups[name, weights] = found
            return self._makeups[name, weights]
        value = self.values[name]
        known = self.known or Makeup.bare(value, None, None, None)
        records = value if name in self.counts else known.records
        known = replace(known, value=value, size=np.abs(value), records=records)
        return known if groups is None else known.pooled(groups, same)

    @cached_property
    def _makeups(self) -> dict[tuple[str, str], Makeup]:
        """Of all cells, once."""
        return {}

    def told(self, name: str) -> Makeup:
        """A summary of who stands behind each cell; how many is not known of people who are counted and not named."""
        found, people = self.makeup(name), self.contributors
        if people is None or people.names is not None or name not in self.counts:
            return found
        return replace(found, units=np.full(len(self), np.nan))

    def check(self) -> None:
        """Refuses cells that do not add up: which equation, by how much."""
        for name, value in self.values.items():
            with np.errstate(over="ignore", invalid="ignore"):
                off, room = self.relations @ value, abs(self.relations) @ np.abs(value)
            if np.isinf(value).any() or np.isinf(room).any():
                raise InputError(f"The numbers of {name!r} are too large to be added up.\nGive them in a larger unit.")
            wrong = np.flatnonzero(np.abs(off) > EXACT * room)
            if len(wrong):
                worst = wrong[np.argmax(np.abs(off[wrong]))]
                total, parts = self.equation(worst)
                raise InputError(
                    f"The table does not add up: {len(wrong):,} of {len(off):,} equations of {name!r} do not hold. "
                    f"The worst: {self.label(total)} is {off[worst]:.6g} off the sum of its {len(parts)} parts "
                    f"({self.label(parts[0])} and so on).\nCorrect these cells, or the hierarchy."
                )

    def equation(self, row: int) -> tuple[int, list[int]]:
        """The total and the parts of an equation."""
        begin, end = self.relations.indptr[row : row + 2]
        cells = self.relations.indices[begin:end]
        signs = self.relations.data[begin:end]
        total = self.totals[row]
        return int(total), [int(cell) for cell, sign in zip(cells, signs, strict=True) if sign and cell != total]

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The total of every equation: of the cells with -1, the one that holds most."""
        rows = self.relations.tocoo()
        size = np.ones(len(self))
        for axis, places in zip(self.grid.axes, self.grid.codes.T, strict=True):
            size = size * np.diff(axis.member.indptr)[places]
        minus = rows.data < 0
        row, cell = rows.row[minus], rows.col[minus]
        order = np.lexsort((-size[cell], row))
        found = np.full(self.relations.shape[0], -1, dtype=np.int64)
        found[row[order][::-1]] = cell[order][::-1]
        return found

    def frame(self, more: Mapping[str, Sequence[Any]] | None = None) -> pa.Table:
        """The cells that were asked for as a frame, each under all its names, with further columns of cells."""
        shown = [
            (int(cell), names)
            for cell in np.flatnonzero(~self.hidden)
            for names in product(*(a.names(p) for a, p in zip(self.grid.axes, self.grid.codes[cell], strict=True)))
        ]
        at = [cell for cell, _ in shown]
        columns: dict[str, Any] = {axis.name: [names[k] for _, names in shown] for k, axis in enumerate(self.grid.axes)}
        columns |= {name: value[at] for name, value in self.values.items()}
        columns |= {name: [each[cell] for cell in at] for name, each in (more or {}).items()}
        return pa.table(columns)


def _framed(data: Any) -> Any:
    return pa.table(data) if isinstance(data, dict) else data


def _arrow(table: pa.Table) -> pa.Table:
    if not table.num_rows:
        raise InputError("There are no rows to make a table of.")
    return table


def _refuse_twice(dims: Sequence[str], values: Sequence[str]) -> None:
    both = [name for name in (*dims, *values) if (*dims, *values).count(name) > 1]
    if both:
        raise UsageError(f"Column {both[0]!r} is there twice: a column is one dimension, or one value.\nName it once.")


def _impossible(grid: Grid, cells: Sequence[Sequence[str]], count: Array) -> Flags:
    """Cells that hold nothing beyond those named."""
    found = np.zeros(len(grid.codes), dtype=bool)
    for codes in cells:
        here = np.ones(len(grid.codes), dtype=bool)
        for number, (axis, code) in enumerate(zip(grid.axes, codes, strict=True)):
            if code not in axis.place:
                raise UsageError(f"An impossible cell has the code {code!r}, which {axis.name} has not.")
            here &= np.isin(grid.codes[:, number], axis.within(axis.place[code]))
        found |= here
    if (count[found] != 0).any():
        cell = int(np.flatnonzero(found & (count != 0))[0])
        raise InputError(f"The cell {grid.label(cell)} is said to be impossible and has records.\nCorrect either.")
    return found


def _refuse_uncountable(grid: Grid, value: Array, name: str) -> None:
    for what, bad in (("negative", value < 0), ("no whole number", value % 1 > 0)):
        if bad.any():
            label = grid.label(int(np.flatnonzero(bad)[0]))
            raise InputError(
                f"The count {name!r} is {what} in {bad.sum():,} cells (the first: {label}).\n"
                "Correct them, or do not call it a count."
            )


def _behind(
    tables: Sequence[Table], names: Sequence[str], starts: Places, first: Places, back: Places
) -> tuple[Contributors | None, sparse.csr_array | None, Makeup | None]:
    """Who stands behind the cells of linked tables: contributors that are named in all of them, or what each tells.

    starts: where the cells of each table begin
    first, back: the cells that are the first of their kind, and which of these every cell is
    """
    values = [name for name in names if name != COUNT]
    people = [table.contributors for table in tables if table.contributors is not None]
    joined = Contributors.joined(people, values) if len(people) == len(tables) else None
    if joined is None:
        makeups = [table.told(values[0] if values else COUNT) for table in tables] if len(values) < 2 else []
        return None, None, Makeup.stacked(makeups)[first] if makeups else None
    holds = [table.holding.tocoo() for table in tables if table.holding is not None]
    columns = np.cumsum([0, *(each.shape[1] for each in holds)])
    row = np.concatenate([begin + each.row for each, begin in zip(holds, starts, strict=False)])
    column = np.concatenate([begin + each.col for each, begin in zip(holds, columns, strict=False)])
    own = first[back[row]] == row  # a cell of two tables is told by the first
    shape = (len(first), int(columns[-1]))
    return joined, sparse.csr_array((np.ones(own.sum()), (back[row[own]], column[own])), shape=shape), None
