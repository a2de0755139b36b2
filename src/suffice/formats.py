"""Files as Arrow tables, and the columns of a table as the rest of the program sees them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.algebra.sightings import Sightings
from suffice.errors import FileError, InputError, UsageError
from suffice.rows import Kind
from suffice.sniff import READ_ONLY, SUFFIXES, kind_by_suffix, kind_of

__all__ = ["columns_of", "kind_by_suffix", "kind_of", "kinds", "numeric_trouble", "read_table", "write_table"]

NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


def kinds(schema: pa.Schema) -> dict[str, Kind]:
    """The kind of every column.

    >>> kinds(pa.schema({"a": pa.float32(), "b": pa.uint64(), "c": pa.bool_(), "d": pa.date32()}))
    {'a': 'float', 'b': 'integer', 'c': 'category', 'd': 'date'}
    """
    return {field.name: _kind(field.type) for field in schema}


def _kind(of: pa.DataType) -> Kind:
    is_ = pa.types
    if is_.is_dictionary(of):
        return "category" if _is_text(of.value_type) else _kind(of.value_type)
    if is_.is_boolean(of) or _is_text(of):
        return "category"
    if is_.is_integer(of):
        return "integer"
    if is_.is_floating(of) or is_.is_decimal(of) or is_.is_null(of):  # null: every value is missing
        return "float"
    return "date" if is_.is_temporal(of) else "other"


def _is_text(of: pa.DataType) -> bool:
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of))


def columns_of(rows: pa.RecordBatch | pa.Table, names: Sequence[str]) -> dict[str, Any]:
    """Columns for a Block: numbers in NumPy, missing ones NaN; categories as Arrow text.

    >>> columns_of(pa.table({"x": [1, None], "t": [True, False]}), ["x", "t"])["t"].to_pylist()
    ['true', 'false']
    """
    return {name: _column(name, rows.column(name)) for name in names}


def _column(name: str, column: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    kind = _kind(column.type)
    if kind == "category":
        text = column if column.type == pa.string() else column.cast(pa.string())
        if not _is_utf8(text):
            raise InputError(f"Column {name!r} holds text that is not UTF-8.\nWrite the file anew, in UTF-8.")
        return text
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_integer(column.type) and column.type not in (pa.float64(), pa.float32()):
        column = column.cast(pa.float64())
    if kind == "integer" and column.null_count:
        column = pc.cast(column, pa.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)


def _is_utf8(text: pa.Array) -> bool:
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def numeric_trouble(table: pa.Table, column: str) -> Sightings:
    """The cells of a text column that are neither numbers nor missing: how many, and where.

    >>> print(numeric_trouble(pa.table({"x": ["1", "1.5e3", None, "about 7"]}), "x"))
    1 record, first in row 4
    """
    values = table.column(column)
    return not_numbers(values.combine_chunks(), 0) if _is_text(values.type) else Sightings()


def not_numbers(text: pa.Array, start: int) -> Sightings:
    """Where the text of a block is neither a number nor missing."""
    fine = pc.fill_null(pc.match_substring_regex(text, NUMBER), True)
    return Sightings.of(~fine.to_numpy(zero_copy_only=False), start)


def read_table(path: str | os.PathLike[str]) -> tuple[pa.Table, tuple[str, ...]]:
    """A file that is read as a whole, and notes on how. Parquet files are read by their engine instead."""
    from suffice.delimited import check_names, read_csv
    from suffice.statfile import READERS, read_statfile

    where, kind = Path(path), kind_of(path)
    if kind == "parquet":
        raise UsageError("Parquet files are read by the Parquet engine, not as one table.")
    if kind in READERS:
        table, notes = read_statfile(where, kind)
    elif kind == "feather":
        table, notes = _read_arrow(where), ()
    else:
        table, notes = read_csv(where, "\t" if kind == "tsv" else None)
    check_names(table.column_names)
    if table.num_rows == 0:
        raise InputError(f"{where.name} has column names and no records.")
    return table, notes


def _read_arrow(path: Path) -> pa.Table:
    table = _attempt(path)
    if table is None:
        raise InputError(f"{path.name} is damaged: it cannot be read as Arrow or Feather.")
    return table


def _attempt(path: Path) -> pa.Table | None:
    """None where Arrow fails: its errors may quote cells, so they end here and are nobody's context."""
    try:
        with pa.OSFile(os.fspath(path)) as file:
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            table = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file).read_all()
            table.validate(full=True)
            return table
    except (pa.ArrowException, OSError):
        return None


def write_table(table: pa.Table, path: str | os.PathLike[str], kind: str) -> None:
    """Writes a table with every digit of its numbers.

    path: may be nameless, such as /proc/self/fd/7; the kind is therefore given apart
    """
    from suffice.statfile import WRITERS, write_statfile

    where = os.fspath(path)
    if kind in READ_ONLY:
        raise UsageError(f".{kind} files can be read and not written. Write .sav, .xpt or .parquet.")
    write = write_statfile if kind in WRITERS else _write_arrow
    if kind not in SUFFIXES.values():
        raise UsageError(f"{kind!r} is no kind of file. Known are {', '.join(sorted(set(SUFFIXES.values())))}.")
    if not _written(write, table, where, kind):
        raise FileError(f"The table cannot be written as {kind}: a column's type is not allowed there.")


def _written(write: Callable[[pa.Table, str, str], None], table: pa.Table, path: str, kind: str) -> bool:
    try:
        write(table, path, kind)
    except OSError as error:
        raise FileError(f"Writing failed: {error.strerror or 'input/output error'}.") from None
    except pa.ArrowException:  # may quote cells, so it ends here and is nobody's context
        return False
    return True


def _write_arrow(table: pa.Table, path: str, kind: str) -> None:
    if kind == "parquet":
        import pyarrow.parquet as pq

        text = [field.name for field in table.schema if _kind(field.type) == "category"]
        with pa.OSFile(path, "wb") as file:  # given a path, it would unlink the target when writing fails
            pq.write_table(table, file, use_dictionary=text, compression="snappy")
    elif kind == "feather":
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    else:
        import pyarrow.csv as pacsv

        pacsv.write_csv(_undictionaried(table), path, pacsv.WriteOptions(delimiter="\t" if kind == "tsv" else ","))


def _undictionaried(table: pa.Table) -> pa.Table:
    """CSV has no dictionaries."""
    types = [(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in table.schema]
    return table.cast(pa.schema(types))
