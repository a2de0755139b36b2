"""Tables into one file of a kind, one after the other: every digit of their numbers."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.errors import FileError, UsageError
from suffice.files.format import Format
from suffice.files.kind import DELIMITERS, READ_ONLY, STREAMS, SUFFIXES
from suffice.files.statfile import write_statfile
from suffice.rows.arrow import is_text, kinds


class Writer:
    """Tables one after the other into one file.

    path: may be nameless, such as /proc/self/fd/7; its format is therefore given apart
    """

    def __init__(self, path: str, form: Format) -> None:
        self.path, self.form, self.kind = path, form, form.kind
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

        if self.form.decimal != "." or self.form.encoding:
            return TextSink(self.file, schema.names, self.form)
        return csv.CSVWriter(self.file, schema, write_options=csv.WriteOptions(delimiter=self.form.delimiter))

    def close(self) -> None:
        if self.kind not in STREAMS:
            write_statfile(pa.concat_tables(self.held), self.path, self.kind, self.form.labels)
        elif self.sink is not None:
            self.sink.close()
            self.file.close()


class TextSink:
    """Lines of text in a dialect that Arrow does not write: decimal commas, other letters than those of UTF-8."""

    def __init__(self, file: Any, names: Sequence[str], form: Format) -> None:
        self.file, self.form = file, form
        self.encoder = codecs.getincrementalencoder(form.encoding or "utf-8")()
        self.special = f'["\\r\\n{re.escape(form.delimiter)}]'
        self._put([self._cells(pa.array([name]), True) for name in names])

    def write_table(self, table: pa.Table) -> None:
        for batch in table.to_batches(max_chunksize=1 << 16):
            self._put([self._cells(column, is_text(column.type)) for column in batch.columns])

    def _cells(self, column: Any, text: bool) -> Any:
        """Text is quoted where it must be; a missing cell is empty, an empty text two quotation marks."""
        cells = column.cast(pa.string())
        if text:
            quoted = pc.binary_join_element_wise('"', pc.replace_substring(cells, '"', '""'), '"', "")
            risky = pc.or_(pc.match_substring_regex(cells, self.special), pc.equal(cells, ""))
            cells = pc.if_else(risky, quoted, cells)
        elif pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
            cells = pc.replace_substring(cells, ".", self.form.decimal)
        return pc.fill_null(cells, "")

    def _put(self, columns: Sequence[Any]) -> None:
        lines = pc.binary_join_element_wise(*columns, self.form.delimiter) if len(columns) > 1 else columns[0]
        try:
            self.file.write(self.encoder.encode("\n".join([*lines.to_pylist(), ""])))
        except UnicodeEncodeError:
            raise FileError(
                f"The release has letters that {self.form.encoding} has not.\nWrite Parquet, or give the data in UTF-8."
            ) from None

    def close(self) -> None:
        """Nothing is kept back."""


def write_table(table: pa.Table, path: str | os.PathLike[str], kind: str) -> None:
    """Writes one table."""
    if f".{kind}" in READ_ONLY:
        raise UsageError(f".{kind} files can be read and not written. Write .sav, .xpt or .parquet.")
    if kind not in SUFFIXES.values():
        raise UsageError(f"{kind!r} is no kind of file. Known are {', '.join(sorted(set(SUFFIXES.values())))}.")
    if not _written(Writer(os.fspath(path), Format.plain(kind)), table):
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
