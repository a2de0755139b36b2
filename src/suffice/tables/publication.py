"""A table as it is to leave, and the methods that make it so."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError
from suffice.method.method import Method
from suffice.statistics.cells import Additivity, CellPromise, PublishedCells, SuppressedCells
from suffice.tables.columns import codes_of, columns_of_file, numbers_of
from suffice.tables.decimals import WHOLE, Decimals
from suffice.tables.sdmx import cells_of_sdmx, is_sdmx
from suffice.tables.table import Table

if TYPE_CHECKING:
    from suffice.progress import Progress
    from suffice.seed import Seed
    from suffice.tables.sensitivity import Sensitivity
    from suffice.tables.suppress.suppression import Suppression

MARK = "suppressed"
"""The column of a file that says which of its numbers are not the original's."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Publication:
    """Cells that are to leave: what the file has, and what of the original is in it.

    table: the original
    suppressed: cells whose value is not published
    frame: the file
    about: what was done, in a sentence for its readers
    promises: what it keeps beyond additivity and the published cells
    decimals: where they fill the gaps
    published: cells that are to be the original's; all that are not suppressed unless told
    facts: numbers that the method's own guards judge, none of them a cell's
    told: what was done, for the data holder alone
    check: options with which `table verify` looks at the promises
    """

    table: Table
    values: tuple[str, ...]
    suppressed: Flags
    frame: pa.Table
    about: str = ""
    promises: tuple[CellPromise, ...] = ()
    decimals: Decimals | None = None
    published: Flags | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    told: str = ""
    check: tuple[str, ...] = ()

    @cached_property
    def before(self) -> Array:
        """The original's cells, a column for every value."""
        return np.column_stack([self.table.values[name] for name in self.values])

    @cached_property
    def unchanged(self) -> Flags:
        """Cells that are to be the original's, in the file or as sums of its cells."""
        return np.asarray((~self.suppressed if self.published is None else self.published) & ~self.table.hidden)

    def kept(self, after: CellsOfFile) -> tuple[CellPromise, ...]:
        """All that a file with its cells must have."""
        names = [self.table.label(cell) for cell in range(len(self.table))]
        published = self.unchanged
        shown = PublishedCells(published, after.stored, after.size, names)
        return (
            Additivity(self.table.relations, [names[cell] for cell in self.table.totals]),
            *([shown] * bool(published.any())),
            *([SuppressedCells(self.suppressed & self._unsure, names)] * bool(self.suppressed.any())),
            *self.promises,
        )

    @property
    def _unsure(self) -> Flags:
        """Cells that everybody knows to be empty, or that are no value here, are no secret."""
        return np.asarray(~self.table.impossible & ~np.isnan(self.before).any(axis=1))


@dataclass(frozen=True, repr=False)
class CellsOfFile:
    """The cells of a table as a file has them: cells that it does not list are sums of the lowest ones.

    size: of the absolute numbers that are added up for each cell
    marked: cells that the file itself calls suppressed
    holding: cells x cells: which of the lowest ones each is the sum of
    """

    cells: Array
    stored: Flags
    size: Array
    marked: Flags
    holding: sparse.csr_array

    @classmethod
    def read(cls, table: Table, file: Any, values: Sequence[str]) -> Self:
        """The cells of a file; codes that the table has not, and cells that are there twice, are refused."""
        dims = [axis.name for axis in table.grid.axes]
        rows = columns_of_file(file, [])
        if is_sdmx(rows.column_names) and len(values) == 1 and values[0] not in rows.column_names:
            rows = cells_of_sdmx(rows, values[0])
        codes = [codes_of(_with(rows, dim), dim).tolist() for dim in dims]
        at = _places(table, codes)
        numbers = np.column_stack([numbers_of(_with(rows, name), name, holes=True) for name in values])
        cells, stored = np.full((len(table), len(values)), np.nan), np.zeros(len(table), dtype=bool)
        known = ~np.isnan(numbers[:, 0])
        cells[at], stored[at] = numbers, True
        cells[at[known]] = numbers[known]  # a number under one name tells the cell under all
        if (cells[at[known]] != numbers[known]).any():
            raise InputError("A cell is there twice, with numbers that contradict each other.\nCorrect the file.")
        marked = np.zeros(len(table), dtype=bool)
        if MARK in rows.column_names:
            marked[at] = [str(word).lower() in ("true", "1", "1.0") for word in rows[MARK].to_pylist()]
        holding = _inner_sums(table)
        lowest = np.where(np.isnan(cells), 0.0, cells)
        absent = (holding @ np.isnan(cells).astype(np.float64)) > 0
        sums = np.where(absent, np.nan, holding @ lowest)
        found = np.where(stored[:, None], cells, sums)
        return cls(found, stored, np.asarray(holding @ np.abs(lowest)), marked, holding)

    def gaps(self, counts: Sequence[bool]) -> Flags:
        """Cells that are suppressed as far as the file tells: no number, a mark, a count that is not whole, and sums of
        such cells.

        counts: which of the values count something
        """
        whole = np.asarray(counts, dtype=bool)
        off = (np.abs(self.cells - np.rint(self.cells)) > WHOLE)[:, whole].any(axis=1)
        found = self.marked | np.isnan(self.cells).any(axis=1) | off
        sums = ~whole.all() & ((self.holding @ (found & self.stored).astype(np.float64)) > 0)  # whole ones are told
        return np.asarray(found | (sums & ~self.stored))


class TableMethod(Method):
    """A way to publish a table of which some cells are suppressed, or changed."""

    audited: ClassVar[bool] = True
    """Whether what an attacker can compute is a matter of the suppressed cells; else of the method's own guards."""

    def pattern(
        self,
        table: Table,
        suppressed: Flags,
        seed: Seed,
        sensitivity: Mapping[str, Sensitivity],
        **how: Any,
    ) -> Suppression | None:
        """Which cells are suppressed, where the method looks for them; else those that it is given are."""
        return None

    @abstractmethod
    def publish(
        self,
        table: Table,
        suppressed: Flags,
        values: tuple[str, ...],
        seed: Seed,
        sensitivity: Mapping[str, Sensitivity],
        progress: Progress | None = None,
    ) -> Publication:
        """The table as it is to leave."""


def _with(rows: pa.Table, name: str) -> pa.Table:
    if name not in rows.column_names:
        raise InputError(f"The released file has no column {name!r}.")
    return rows


def _places(table: Table, codes: Sequence[Sequence[str]]) -> np.ndarray:
    places = [
        np.array([axis.place.get(code, -1) for code in each]) for axis, each in zip(table.grid.axes, codes, strict=True)
    ]
    wrong = np.any([place < 0 for place in places], axis=0)
    cells = np.where(wrong, -1, table.grid.find(np.column_stack(places) @ table.grid.strides))
    lost = np.flatnonzero(cells < 0)
    if len(lost):
        raise InputError(
            f"The released file has {len(lost):,} rows that are no cell of the table (the first: row {lost[0] + 1}).\n"
            "Give the dimensions, totals and hierarchies that it was made with."
        )
    return cells


def _inner_sums(table: Table) -> sparse.csr_array:
    """Cells x cells: which of the lowest cells each is the sum of."""
    leaf = np.ones(len(table), dtype=bool)
    for number, axis in enumerate(table.grid.axes):
        leaf &= np.isin(table.grid.codes[:, number], axis.leaves)
    inner = np.flatnonzero(leaf)
    holds = table.grid.holding(table.grid.codes[inner]).tocoo()
    return sparse.csr_array((holds.data, (holds.row, inner[holds.col])), shape=(len(table), len(table)))
