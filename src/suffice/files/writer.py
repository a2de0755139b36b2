"""Tables one after the other into one file of a kind."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suffice.errors import UsageError
from suffice.files.table import write_table
from suffice.rows.arrow import kinds

STREAMS = ("parquet", "csv", "tsv", "feather")
"""Kinds of file that can be written piece by piece."""


class Writer:
    """Tables one after the other into one file."""

    def __init__(self, path: str, kind: str) -> None:
        self.path, self.kind = path, kind
        self.sink: Any = None
        self.held: list[pa.Table] = []

    def write(self, table: pa.Table) -> None:
        if self.kind not in STREAMS:
            self.held.append(table)
            return
        if self.sink is None:
            self.sink = self._open(table.schema)
        self.sink.write_table(table)

    def _open(self, schema: Any) -> Any:
        if self.kind == "parquet":
            text = [name for name, kind in kinds(schema).items() if kind == "category"]
            return pq.ParquetWriter(self.path, schema, use_dictionary=text, compression="snappy")
        if self.kind == "feather":
            return pa.ipc.new_file(self.path, schema)
        import pyarrow.csv as csv

        return csv.CSVWriter(
            self.path, schema, write_options=csv.WriteOptions(delimiter="\t" if self.kind == "tsv" else ",")
        )

    def close(self) -> None:
        if self.kind not in STREAMS:
            write_table(pa.concat_tables(self.held), self.path, self.kind)
        elif self.sink is not None:
            self.sink.close()


def write_kind(path: str | os.PathLike[str]) -> str:
    """The kind of file that a name asks for."""
    suffix = os.path.splitext(os.fspath(path))[1].lower().lstrip(".")
    known = {"arrow": "feather", "pq": "parquet", "txt": "csv"}
    kind = known.get(suffix, suffix)
    if kind not in (*STREAMS, "sav", "dta", "xpt"):
        raise UsageError(
            f"The output's name ends in {suffix!r}, which is no known kind of file.\n"
            "Use .parquet, .csv, .tsv, .feather, .arrow, .sav, .dta or .xpt."
        )
    return kind
