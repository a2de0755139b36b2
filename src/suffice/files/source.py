"""Where rows come from: a frame, an array, or a path of any readable kind."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.errors import FileError, attempt
from suffice.files.format import Format
from suffice.files.kind import STREAMS, kind_of
from suffice.files.statfile import read_statfile
from suffice.files.table import read_table
from suffice.progress import Progress
from suffice.rows.memory import MemoryRows
from suffice.rows.parquet import ParquetRows
from suffice.rows.rows import Rows


def open_rows(data: Any, threads: int, progress: Progress | None) -> Rows:
    """Rows of a frame or a path; rows of an engine are taken as they are, with its threads and progress."""
    if isinstance(data, Rows):
        return data
    if not isinstance(data, str | os.PathLike):
        return MemoryRows(data, threads, progress)
    if kind_of(data) == "parquet":
        return ParquetRows(data, threads, progress)
    table, notes = read_table(data)
    return MemoryRows(table, threads, progress, notes)


def read_back(path: str, form: Format, schema: Any, threads: int) -> Rows:
    """Rows of a file that was just written: the path does not tell its kind, and text does not tell its types.

    schema: of the columns that are needed
    """
    kind = form.kind
    if kind == "parquet":
        return ParquetRows(path, threads)
    if kind not in STREAMS:
        return MemoryRows(read_statfile(Path(path), kind)[0], threads)
    table = attempt(partial(_read_feather, path) if kind == "feather" else partial(_read_text, path, form, schema))
    if table is None:
        raise FileError(f"The release cannot be read back as {kind}: write Parquet, or leave out unusual columns.")
    return MemoryRows(table, threads)


def _read_feather(path: str) -> pa.Table:
    with pa.ipc.open_file(path) as reader:
        return reader.read_all()


def _read_text(path: str, form: Format, schema: Any) -> pa.Table:
    from pyarrow import csv

    types = {f.name: f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in schema}
    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(encoding=form.encoding or "utf8"),
        parse_options=csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            decimal_point=form.decimal,
            null_values=[""],
            strings_can_be_null=True,  # a missing text has no quotes, an empty one has
            quoted_strings_can_be_null=False,
        ),
    )


def digest_of(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, as it lies on disk."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def named_sources(data: Any) -> list[Path]:
    """The file, or the folder and its files, that data were read from."""
    if isinstance(data, Rows):
        return [*data.paths]
    if not isinstance(data, str | os.PathLike):
        return []
    path = Path(data)
    return [path, *sorted(path.rglob("*.parquet"))] if path.is_dir() else [path]
