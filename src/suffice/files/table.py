"""Files as Arrow tables."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pyarrow as pa

from suffice.errors import InputError, UsageError, attempt
from suffice.files.kind import DELIMITERS, kind_of
from suffice.files.statfile import READERS, read_statfile
from suffice.rows.arrow import check_names


def read_table(path: str | os.PathLike[str]) -> tuple[pa.Table, tuple[str, ...]]:
    """A file that is read as a whole, and notes on how. Parquet files are read by their engine instead."""
    from suffice.files.csv import read_csv

    where, kind, encoding = Path(path), kind_of(path), getattr(path, "encoding", None)
    if kind == "parquet":
        raise UsageError("Parquet files are read by the Parquet engine, not as one table.")
    if kind in READERS:
        table, notes = read_statfile(where, kind, encoding)
    elif kind == "excel":
        from suffice.files.workbook import read_workbook

        table, notes = read_workbook(where)
    elif kind == "feather":
        table, notes = _read_arrow(where), ()
    else:
        table, notes = read_csv(where, DELIMITERS["tsv"] if kind == "tsv" else None, encoding)
    check_names(table.column_names)
    if table.num_rows == 0:
        raise InputError(f"{where.name} has column names and no records.")
    return table, notes


def _read_arrow(path: Path) -> pa.Table:
    table = attempt(partial(_arrow, path))
    if table is None:
        raise InputError(f"{path.name} is damaged: it cannot be read as Arrow or Feather.")
    return table


def _arrow(path: Path) -> pa.Table:
    with pa.OSFile(os.fspath(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        table = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file).read_all()
        table.validate(full=True)
        return table
