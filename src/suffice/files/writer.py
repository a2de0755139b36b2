"""Tables into one file of a kind, one after the other: every digit of their numbers."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

from suffice.errors import FileError, UsageError
from suffice.files.kind import DELIMITERS, READ_ONLY, STREAMS, SUFFIXES
from suffice.files.statfile import write_statfile
from suffice.rows.arrow import kinds


class Writer:
    """Tables one after the other into one file.

    path: may be nameless, such as /proc/self/fd/7; the kind is therefore given apart
    """

    def __init__(self, path: str, kind: str) -> None:
        self.path, self.kind = path, kind
        self.file: Any = None
        self.sink: Any = None
        self.held: list[pa.Table] = []

    def write(self, table: pa.Table) -> None:
        if self.kind not in STREAMS:
            self.held.append(table)
            return
        table = _undictionaried(table) if self.kind in DELIMITERS else table
        if self.sink is None:
            self.sink = self._open(table.schema)
        self.sink.write_table(table)

    def _open(self, schema: Any) -> Any:
        self.file = pa.OSFile(self.path, "wb")  # Arrow may unlink a path that it cannot write to
        if self.kind == "parquet":
            import pyarrow.parquet as pq

            text = [name for name, kind in kinds(schema).items() if kind == "category"]
            return pq.ParquetWriter(self.file, schema, use_dictionary=text, compression="snappy")
        if self.kind == "feather":
            return pa.ipc.new_file(self.file, schema)
        import pyarrow.csv as csv

        return csv.CSVWriter(self.file, schema, write_options=csv.WriteOptions(delimiter=DELIMITERS[self.kind]))

    def close(self) -> None:
        if self.kind not in STREAMS:
            write_statfile(pa.concat_tables(self.held), self.path, self.kind)
        elif self.sink is not None:
            self.sink.close()
            self.file.close()


def write_table(table: pa.Table, path: str | os.PathLike[str], kind: str) -> None:
    """Writes one table."""
    if f".{kind}" in READ_ONLY:
        raise UsageError(f".{kind} files can be read and not written. Write .sav, .xpt or .parquet.")
    if kind not in SUFFIXES.values():
        raise UsageError(f"{kind!r} is no kind of file. Known are {', '.join(sorted(set(SUFFIXES.values())))}.")
    if not _written(Writer(os.fspath(path), kind), table):
        raise FileError(f"The table cannot be written as {kind}: a column's type is not allowed there.")


def _written(writer: Writer, table: pa.Table) -> bool:
    try:
        writer.write(table)
        writer.close()
    except OSError as error:
        raise FileError(f"Writing failed: {error.strerror or 'input/output error'}.") from None
    except MemoryError:
        raise
    except pa.ArrowException:  # may quote cells, so it ends here and is nobody's context
        return False
    return True


def _undictionaried(table: pa.Table) -> pa.Table:
    """CSV has no dictionaries."""
    types = [(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in table.schema]
    return table.cast(pa.schema(types))
