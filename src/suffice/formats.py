"""Columns of an Arrow table as the rest of the program sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.rows import Kind


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
    if is_.is_floating(of) or is_.is_decimal(of):
        return "float"
    return "date" if is_.is_temporal(of) else "other"


def _is_text(of: pa.DataType) -> bool:
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of))


def columns_of(rows: pa.RecordBatch | pa.Table, names: Sequence[str]) -> dict[str, Any]:
    """Columns for a Block: numbers in NumPy, missing ones NaN; categories as Arrow text.

    >>> columns_of(pa.table({"x": [1, None], "t": [True, False]}), ["x", "t"])["t"].to_pylist()
    ['true', 'false']
    """
    return {name: _column(rows.column(name)) for name in names}


def _column(column: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    kind = _kind(column.type)
    if kind == "category":
        return column if column.type == pa.string() else column.cast(pa.string())
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type) or pa.types.is_float16(column.type):
        column = column.cast(pa.float64())
    if kind == "integer" and column.null_count:
        column = pc.cast(column, pa.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)
