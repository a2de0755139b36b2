"""SPSS, Stata and SAS files, through an extra."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.errors import FileError, InputError, UsageError, attempt, count_of

READERS = {
    "sav": "read_sav",
    "por": "read_por",
    "dta": "read_dta",
    "sas7bdat": "read_sas7bdat",
    "xpt": "read_xport",
}
WRITERS = {"sav": "write_sav", "dta": "write_dta", "xpt": "write_xport"}
EXACT_INTEGER = 2.0**53
STATA = ("int8", "int16", "int32")
LONG = (-2_147_483_647, 2_147_483_620)
"""Whole numbers that Stata's long holds, the one type of them that the writer has; larger ones are missing values."""


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise UsageError(
            "SPSS, Stata and SAS files need an extra.\nInstall it with: pip install 'suffice[stats]'"
        ) from None
    return pyreadstat


@dataclass(frozen=True)
class Labels:
    """What such a file says of its columns beside their values."""

    kind: str
    names: Mapping[str, str]
    """Labels of variables."""
    values: Mapping[str, Mapping[Any, str]]
    """Labels of values: the whole code book, as it was declared."""
    types: Mapping[str, str]
    """How numbers are stored: int8, int16, int32, float, double."""
    formats: Mapping[str, str]
    measures: Mapping[str, str]

    @classmethod
    def of(cls, path: Path, kind: str, encoding: str | None) -> Labels | None:
        """Of a file's head; None where there is none to be read."""
        _, told = _attempt(getattr(_pyreadstat(), READERS[kind]), path, encoding, metadataonly=True)
        if told is None:
            return None
        names = {name: label for name, label in told.column_names_to_labels.items() if label}
        more = told.readstat_variable_types, told.original_variable_types, told.variable_measure
        return cls(kind, names, told.variable_value_labels, *more)


def read_statfile(path: Path, kind: str, encoding: str | None = None) -> tuple[pa.Table, tuple[str, ...]]:
    """The table, without value labels; whole numbers, which such files store as floats, are integers."""
    table, metadata = _attempt(getattr(_pyreadstat(), READERS[kind]), path, encoding)
    if table is None:
        raise InputError(f"{path.name} cannot be read as .{kind}: it is damaged, or of another kind or encoding.")
    labelled = len(metadata.variable_value_labels)
    said = f"Value labels of {count_of(labelled, 'column')}: codes are read; .sav and .dta files get the labels again."
    notes = (said,) if labelled else ()
    return pa.table([as_meant(column) for column in table.columns], names=table.column_names), notes


def _attempt(reader: Any, path: Path, encoding: str | None = None, **more: Any) -> tuple[Any, Any]:
    """Nothing where the parser fails."""

    def read() -> tuple[Any, Any]:
        frame, metadata = reader(path, output_format="pandas", **({"encoding": encoding} if encoding else {}), **more)
        return pa.Table.from_pandas(frame, preserve_index=False), metadata

    return attempt(read) or (None, None)


def as_meant(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whole numbers that were stored as floats, and empty text that stands for a missing one."""
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


def write_statfile(table: pa.Table, path: str, kind: str, labels: Labels | None = None) -> None:
    """Raises FileError where the disk or the format refuses.

    labels: of the data; of columns that are there, and where the kind of file has such
    """
    if odd := [field.name for field in table.schema if _is_odd(field.type)]:
        raise FileError(
            f"Columns that cannot be written as .{kind}: {', '.join(odd)}.\n"
            "Drop them, make them numbers or text, or write Parquet."
        )
    if not _written(_floats(table), path, kind, _told(table, kind, labels) if labels else {}, labels):
        raise FileError(
            f"The table cannot be written as .{kind}: the disk is full, or a column is not allowed there.\n"
            "Make room, rename the columns, or write Parquet."
        )


def _is_odd(of: pa.DataType) -> bool:
    """Whether such files have nothing like it, so that it would come back as something else."""
    is_ = pa.types
    return bool(is_.is_nested(of) or is_.is_binary(of) or is_.is_boolean(of) or is_.is_duration(of))


def _floats(table: pa.Table) -> pa.Table:
    """Decimals as floats: the writer would make them text."""
    types = [(f.name, pa.float64() if pa.types.is_decimal(f.type) else f.type) for f in table.schema]
    return table.cast(pa.schema(types))


def _told(table: pa.Table, kind: str, labels: Labels) -> dict[str, Any]:
    """Labels as the writer takes them: a value label is for numbers that can have it, a format for whole ones."""
    there = dict(zip(table.column_names, table.columns, strict=True))
    number = {
        name for name, column in there.items() if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    }
    told: dict[str, Any] = {"column_labels": {name: labels.names[name] for name in there if name in labels.names}}
    if kind == "xpt":
        return told
    whole = {name for name in number if _is_whole(there[name].cast(pa.float64(), safe=False))}
    values = {name: dict(labels.values[name]) for name in there if name in labels.values}
    if kind == "dta":  # whose labels are for whole numbers
        fits = [name for name in values if name in whole and all(float(code).is_integer() for code in values[name])]
        values = {name: {int(code): text for code, text in values[name].items()} for name in fits}
    told["variable_value_labels"] = values
    if kind == labels.kind == "sav":
        plain = [name for name in there if name in labels.formats and (name not in number or name in whole)]
        told["variable_format"] = {name: labels.formats[name] for name in plain}
        told["variable_measure"] = {name: labels.measures[name] for name in there if name in labels.measures}
    return told


def _stored(table: pa.Table, labels: Labels | None) -> Any:
    """The frame that is written: whole numbers of a Stata file stay such (as long), where they still fit."""
    frame = table.to_pandas()
    for name, stored in (labels.types if labels and labels.kind == "dta" else {}).items():
        if stored in STATA and name in table.column_names and _is_whole(table[name].cast(pa.float64(), safe=False)):
            low, high = (float(end.as_py()) for end in pc.min_max(table[name]).values())
            if low >= LONG[0] and high <= LONG[1]:
                frame[name] = frame[name].astype("Int32")
    return frame


def _written(table: pa.Table, path: str, kind: str, told: Mapping[str, Any], labels: Labels | None) -> bool:
    """False where the writer fails (it may quote cells) or, as SAS transport does, silently cuts the file."""
    module = _pyreadstat()
    try:
        getattr(module, WRITERS[kind])(_stored(table, labels), path, **told)
    except OSError as error:
        raise FileError(f"Writing failed: {error.strerror or 'input/output error'}.") from None
    except MemoryError:
        raise
    except Exception:
        return False
    again, _ = _attempt(getattr(module, READERS[kind]), Path(path))
    return again is not None and again.num_rows == table.num_rows
