"""Excel and OpenDocument workbooks, read through an extra: the first sheet, its first line the names."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.errors import InputError, UsageError, attempt, escaped
from suffice.files.csv import MISSING
from suffice.files.statfile import as_meant

LARGEST = 2**31
"""Bytes that the parts of a workbook may unpack to."""


def read_workbook(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """The table of the first sheet, and notes on how it was read. A formula is the value that was saved with it."""
    try:
        import python_calamine
    except ImportError:
        raise UsageError("Excel workbooks need an extra.\nInstall it with: pip install 'suffice[excel]'") from None
    if (attempt(partial(_unpacked, path)) or 0) > LARGEST:
        raise InputError(f"{path.name} unpacks to more than 2 GB. Save the sheet as CSV (UTF-8).")
    read = attempt(partial(_sheet, python_calamine, path))
    if read is None:
        raise InputError(f"{path.name} cannot be read as a workbook: it is damaged or encrypted.")
    sheets, lines = read
    cells = [line for line in lines if any(cell not in (None, "") for cell in line)]
    if not cells:
        raise InputError(f"The first sheet of {path.name} is empty.")
    names = [str(name) for name in cells[0]]
    columns = (
        [column_of(column) for column in zip(*cells[1:], strict=True)] if cells[1:] else [pa.nulls(0)] * len(names)
    )
    more = f"Read the sheet {escaped(sheets[0])!r}, the first of {len(sheets)}."
    return pa.Table.from_arrays(columns, names=names), (more,) if len(sheets) > 1 else ()


def _unpacked(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        return sum(part.file_size for part in archive.infolist())


def _sheet(calamine: Any, path: Path) -> tuple[list[str], list[list[Any]]]:
    book = calamine.CalamineWorkbook.from_path(str(path))
    return book.sheet_names, book.get_sheet_by_index(0).to_python()


def column_of(values: Sequence[Any]) -> Any:
    """Numbers, dates or truths where all cells are such; else text, in which what is no number can be found."""
    cells = [None if isinstance(cell, str) and cell in MISSING else cell for cell in values]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float}:
        numbers = pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
        return as_meant(pa.chunked_array([numbers])).combine_chunks()
    if kinds in ({bool}, {str}, {datetime.date}, {datetime.datetime}, {datetime.time}, {datetime.timedelta}):
        return pa.array(cells)
    return pa.array([None if cell is None else _said(cell) for cell in cells], pa.string())


def _said(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
