"""Any sum of a table whose gaps are decimals: published, publishable - it follows from that - or hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError, suggest
from suffice.tables.axis import Axis
from suffice.tables.columns import codes_of, columns_of_file, marks_of, numbers_of
from suffice.tables.decimals import WHOLE, Decimals, decimals, read_back
from suffice.tables.dimensions import Total, total_codes
from suffice.tables.hierarchy import nested
from suffice.tables.publication import MARK
from suffice.tables.table import Table

Hierarchies = Mapping[str, Axis | Sequence[Any]]
OUTSIDE = r'(?=(?:[^"]*"[^"]*")*[^"]*$)'
"""What follows holds whole quotations: the sign before it stands in none."""


@dataclass(frozen=True)
class Reply:
    """A sum: what it is, its number in the file, and of how many lowest cells."""

    status: str
    value: float
    cells: int

    @property
    def told(self) -> float | int:
        """Of what is told, whole numbers are whole."""
        whole = abs(self.value - round(self.value)) <= WHOLE and abs(self.value) < 1e15
        return round(self.value) if whole and self.status != "hidden" else self.value


def parsed(question: str) -> dict[str, list[str]]:
    """Codes by dimension; those with a comma or another sign stand in quotation marks.

    >>> parsed('region=A, B & industry="retail, wholesale"')
    {'region': ['A', 'B'], 'industry': ['retail, wholesale']}
    """
    found: dict[str, list[str]] = {}
    for part in re.split(f"&{OUTSIDE}", question) if question.strip() else ():
        name, *rest = (_bare(each) for each in re.split(f"={OUTSIDE}", part, maxsplit=1))
        codes = [_bare(each) for each in re.split(f",{OUTSIDE}", part.partition("=")[2])]
        if not name or not rest or not all(codes) or name in found or question.count('"') % 2:
            raise UsageError("A question names each dimension once, with codes: 'region=A,B & industry=I'.")
        found[name] = codes
    return found


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text


@dataclass(frozen=True, repr=False)
class StoredCells:
    """Stored cells with what was published of them.

    numbers: of the lowest cells, in the order of `made`
    made: decimals of the same pattern, drawn anew: what no draw moves follows from the published cells
    whole: whether the pattern was told by whole numbers: then any sum that is one was published, or follows
    """

    made: Decimals
    numbers: Array
    whole: bool = False

    @classmethod
    def of(
        cls,
        stored: Any,
        dims: Sequence[str],
        value: str,
        published: tuple[Table, Flags] | None = None,
        *,
        total: Total = "Total",
        hierarchies: Hierarchies | None = None,
    ) -> StoredCells:
        """From a file that `Decimals` or a release of them gave.

        published: the table with its gaps; without it that follows from the file: from its marks where all cells are
            stored, and where only the lowest are, from whole numbers
        """
        file = columns_of_file(stored, [])
        for name in (*dims, value):
            if name not in file.column_names:
                raise UsageError(f"There is no column {name!r}.{suggest(name, file.column_names)}")
        marked = marks_of(file, MARK) if MARK in file.column_names else np.zeros(file.num_rows, dtype=bool)
        whole = published is None and not _with_totals(file, dims, total, hierarchies or {})
        find = _lowest if whole else _all
        table, gaps = published or find(file, marked, dims, value, total, hierarchies or {})
        made = decimals(table, gaps, value)
        at = np.array([table.find(*codes) for codes in zip(*(codes_of(file, dim) for dim in dims), strict=True)])
        cells = np.zeros(len(table))
        cells[at] = numbers_of(file, value)
        return cls(made, cells[made.inner], whole)

    def ask(self, question: str) -> Reply:
        """The sum over all cells with the codes that are named; a dimension that is not named is all of it."""
        grid, asked = self.made.table.grid, parsed(question)
        for name in asked:
            if name not in [axis.name for axis in grid.axes]:
                raise UsageError(f"There is no dimension {name!r}.{suggest(name, [axis.name for axis in grid.axes])}")
        chosen = [_leaves(axis, asked.get(axis.name)) for axis in grid.axes]
        here = np.ones(len(self.numbers), dtype=bool)
        for places, leaves in zip(grid.codes[self.made.inner].T, chosen, strict=True):
            here &= np.isin(places, leaves)
        value, status = float(self.numbers[here].sum()), self.made.status(here, self._cell(chosen))
        if self.whole and status == "hidden" and abs(value - round(value)) <= WHOLE:
            status = "publishable"  # by a total that this hierarchy does not have
        return Reply(status, value, int(here.sum()))

    def _cell(self, chosen: Sequence[NDArray[np.int64]]) -> int:
        """The cell of the table that is asked for; -1 where it is none."""
        grid, codes = self.made.table.grid, []
        for axis, leaves in zip(grid.axes, chosen, strict=True):
            held = np.isin(axis.leaves, leaves).astype(np.int64)
            fits = (np.diff(axis.member.indptr) == held.sum()) & (axis.member @ held == held.sum())
            codes.append(int(np.argmax(fits)) if fits.any() else -1)
        return -1 if -1 in codes else int(grid.find(np.array([codes]) @ grid.strides)[0])


def _leaves(axis: Axis, codes: Sequence[str] | None) -> NDArray[np.int64]:
    leaves = np.asarray(axis.leaves, dtype=np.int64)
    if codes is None:
        return leaves
    lost = [code for code in codes if code not in axis.place]
    if lost:
        raise UsageError(f"{axis.name} has no code {lost[0]!r}.{suggest(lost[0], axis.place)}")
    rows = axis.member[[axis.place[code] for code in codes]]
    return leaves[np.asarray(rows.sum(axis=0)).ravel() > 0]


def _all(
    file: pa.Table, marked: Flags, dims: Sequence[str], value: str, total: Total, hierarchies: Hierarchies
) -> tuple[Table, Flags]:
    """The table of a file of all cells; its marks are the gaps."""
    every = Table.of_cells(file, dims, [value], total=total, hierarchies=hierarchies)
    gaps = _marked(every, np.zeros(len(every), dtype=bool), file, marked, dims)
    return replace(every, values={value: np.where(gaps, np.nan, every.values[value])}), gaps


def _lowest(
    file: pa.Table, marked: Flags, dims: Sequence[str], value: str, total: Total, hierarchies: Hierarchies
) -> tuple[Table, Flags]:
    """The table of a file of the lowest cells; what is no whole number is a gap."""
    numbers = numbers_of(file, value)
    surely = [*numbers[~marked], numbers.sum()]  # what is published, and the total of all
    if (np.abs(surely - np.rint(surely)) > WHOLE).any():
        raise InputError(
            f"The file has the lowest cells of {value!r} alone, and not whole numbers: which totals were published is "
            "not in it.\nGive the published table as well, or store all cells."
        )
    lowest, gaps = read_back(file, dims, value, hierarchies=hierarchies, total=total)
    gaps = _marked(lowest, gaps, file, marked, dims)
    return replace(lowest, values={value: np.where(gaps, np.nan, lowest.values[value])}), gaps


def _marked(table: Table, gaps: Flags, file: pa.Table, marked: Flags, dims: Sequence[str]) -> Flags:
    rows = zip(*(codes_of(file, dim)[marked] for dim in dims), strict=True)
    gaps[[table.find(*row) for row in rows]] = True
    return gaps


def _with_totals(file: pa.Table, dims: Sequence[str], total: Total, hierarchies: Hierarchies) -> bool:
    """Whether a file has sums among its cells."""
    for name in dims:
        tree = hierarchies.get(name)
        axis = tree if isinstance(tree, Axis) or tree is None else nested(name, tree)
        sums = total_codes(total, name) if axis is None else [axis.codes[parent] for parent, _ in axis.sums]
        if np.isin(codes_of(file, name), sums).any():
            return True
    return False
