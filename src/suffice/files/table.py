"""Files as Arrow tables, and the columns of a table as the rest of the program sees them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from suffice.errors import FileError, InputError, UsageError
from suffice.files.kind import READ_ONLY, SUFFIXES, kind_by_suffix, kind_of
from suffice.rows.arrow import _kind

__all__ = ["kind_by_suffix", "kind_of", "read_table", "write_table"]


def read_table(path: str | os.PathLike[str]) -> tuple[pa.Table, tuple[str, ...]]:
    """A file that is read as a whole, and notes on how. Parquet files are read by their engine instead."""
    from suffice.files.csv import read_csv
    from suffice.files.statfile import READERS, read_statfile
    from suffice.rows.arrow import check_names

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
    from suffice.files.statfile import WRITERS, write_statfile

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
