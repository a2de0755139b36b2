"""SPSS, Stata and SAS files, through an extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.errors import FileError, InputError, UsageError

READERS = {
    "sav": "read_sav",
    "por": "read_por",
    "dta": "read_dta",
    "sas7bdat": "read_sas7bdat",
    "xpt": "read_xport",
}
WRITERS = {"sav": "write_sav", "dta": "write_dta", "xpt": "write_xport"}
EXACT_INTEGER = 2.0**53


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise UsageError(
            "SPSS, Stata and SAS files need an extra.\nInstall it with: pip install 'suffice[stats]'"
        ) from None
    return pyreadstat


def read_statfile(path: Path, kind: str) -> tuple[pa.Table, tuple[str, ...]]:
    """The table, without value labels; whole numbers, which such files store as floats, are integers."""
    table, metadata = _attempt(getattr(_pyreadstat(), READERS[kind]), path)
    if table is None:
        raise InputError(f"{path.name} cannot be read as .{kind}: it is damaged, or of another kind.")
    labelled = len(metadata.variable_value_labels)
    notes = (f"{labelled} columns have value labels; codes are read, labels are not.",) if labelled else ()
    return pa.table([_as_meant(column) for column in table.columns], names=table.column_names), notes


def _attempt(reader: Any, path: Path) -> tuple[Any, Any]:
    """Nothing where the parser fails: its errors may quote cells, so they end here."""
    try:
        frame, metadata = reader(path, output_format="pandas")
        return pa.Table.from_pandas(frame, preserve_index=False), metadata
    except Exception:
        return None, None


def _as_meant(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        text = column.cast(pa.string())
        return pc.if_else(pc.equal(text, ""), None, text)  # these files have no other missing text
    if pa.types.is_floating(column.type) and _is_whole(column):
        return column.cast(pa.int64())
    return column


def _is_whole(column: pa.ChunkedArray) -> bool:
    if column.null_count == len(column):
        return False
    whole = pc.and_(pc.equal(pc.floor(column), column), pc.less_equal(pc.abs(column), EXACT_INTEGER))
    return bool(pc.all(whole).as_py())


def write_statfile(table: pa.Table, path: str, kind: str) -> None:
    """Raises FileError where the disk or the format refuses."""
    odd = [field.name for field in table.schema if pa.types.is_nested(field.type) or pa.types.is_binary(field.type)]
    if odd:
        raise FileError(f"Columns that cannot be written as .{kind}: {', '.join(odd)}. Drop them, or write Parquet.")
    if not _written(_floats(table), path, kind):
        raise FileError(
            f"The table cannot be written as .{kind}: the disk is full, or a column is not allowed there.\n"
            "Make room, rename the columns, or write Parquet."
        )


def _floats(table: pa.Table) -> pa.Table:
    """Decimals as floats: the writer would make them text."""
    types = [(f.name, pa.float64() if pa.types.is_decimal(f.type) else f.type) for f in table.schema]
    return table.cast(pa.schema(types))


def _written(table: pa.Table, path: str, kind: str) -> bool:
    """False where the writer fails (it may quote cells) or, as SAS transport does, silently cuts the file."""
    module = _pyreadstat()
    try:
        getattr(module, WRITERS[kind])(table.to_pandas(), path)
    except OSError as error:
        raise FileError(f"Writing failed: {error.strerror or 'input/output error'}.") from None
    except MemoryError:
        raise
    except Exception:
        return False
    again, _ = _attempt(getattr(module, READERS[kind]), Path(path))
    return again is not None and again.num_rows == table.num_rows
