"""Arrow columns as blocks hold them: numbers in NumPy, text as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.algebra.array import Array
from suffice.errors import InputError
from suffice.rows.bridge import arrow, flags, numbers
from suffice.rows.rows import Block, Kind, Run, per_run, spans
from suffice.rows.sightings import Sightings


def as_float(values: Any) -> Array:
    """A numeric column as float64, without a copy where it is so already."""
    return np.asarray(values, dtype=np.float64)


def check_names(names: Sequence[str]) -> None:
    """Refuses empty and repeated column names."""
    mistakes = [f"Column {i} has no name." for i, name in enumerate(names, 1) if not name.strip()]
    twice = dict.fromkeys(name for name in names if name.strip() and names.count(name) > 1)
    mistakes += [f"The column name {name!r} is there {names.count(name)} times." for name in twice]
    mistakes += [f"The name of column {i} holds a NUL." for i, name in enumerate(names, 1) if "\0" in name]
    if mistakes:
        raise InputError("\n".join([*mistakes, "Rename the columns."]))


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
        return "category" if is_text(of.value_type) else _kind(of.value_type)
    if is_.is_boolean(of) or is_text(of):
        return "category"
    if is_.is_integer(of):
        return "integer"
    if is_.is_floating(of) or is_.is_decimal(of) or is_.is_null(of):  # null: every value is missing
        return "float"
    return "date" if is_.is_temporal(of) else "other"


def is_text(of: Any) -> bool:
    """Whether a type is one of text."""
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of))


def columns_of(rows: pa.RecordBatch | pa.Table, names: Sequence[str]) -> dict[str, Any]:
    """Columns for a Block: numbers in NumPy, missing ones NaN; categories as Arrow text.

    >>> columns_of(pa.table({"x": [1, None], "t": [True, False]}), ["x", "t"])["t"].to_pylist()
    ['true', 'false']
    """
    return {name: _column(name, rows.column(name)) for name in names}


def one_chunk(column: Any) -> Any:
    """A column as one array: without a copy where it is one already."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _column(name: str, column: Any) -> Any:
    column = one_chunk(column)
    kind = _kind(column.type)
    if kind == "category":
        text = column if column.type == pa.string() else column.cast(pa.string())
        if not is_valid(text):
            raise InputError(f"Column {name!r} holds text that is not UTF-8.\nWrite the file anew, in UTF-8.")
        return text
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if kind == "date":
        return dated(column)
    if not pa.types.is_integer(column.type) and column.type not in (pa.float64(), pa.float32()):
        column = column.cast(pa.float64())
    if kind == "integer" and column.null_count:
        column = pc.cast(column, pa.float64(), safe=False)
    return numbers(column)


def dated(column: Any) -> Any:
    """What a date counts - days, seconds, parts of them down to millionths - as numbers."""
    if getattr(column.type, "unit", "") == "ns":  # more digits than a number has
        column = column.cast(counted_in(column.type), safe=False)
    wide = pa.types.is_date64(column.type) or pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type)
    counted = column.cast(pa.int64() if wide or pa.types.is_time64(column.type) else pa.int32())
    return numbers(counted.cast(pa.float64(), safe=False))


def counted_in(of: Any) -> Any:
    """The type whose counts stand for a date: millionths of a second in place of nanoseconds."""
    if getattr(of, "unit", "") != "ns":
        return of
    if pa.types.is_timestamp(of):
        return pa.timestamp("us", of.tz)
    return pa.duration("us") if pa.types.is_duration(of) else pa.time64("us")


def is_valid(column: Any) -> bool:
    """Whether all offsets lead somewhere, and text is UTF-8."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def not_numbers(text: pa.Array, start: int) -> Sightings:
    """Where the text of a block is neither a number nor missing."""
    fine = pc.fill_null(pc.match_substring_regex(text, NUMBER), True)
    return Sightings.of(~flags(fine), start)


def plain(of: Any) -> Any:
    """A type without its dictionary, which may hold levels that no row has."""
    return of.value_type if pa.types.is_dictionary(of) else of


def undictionaried(table: Any) -> Any:
    """A table or batch with text in place of dictionaries."""
    wanted = pa.schema([(field.name, plain(field.type)) for field in table.schema])
    return table if table.schema.equals(wanted) else table.cast(wanted)


def concatenated(parts: Sequence[Any]) -> Any:
    """The column of several blocks, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else pa.concat_arrays(parts)


def labelled(column: Any, here: Any, label: str | int) -> Any:
    """A column with a label in some cells; what cannot hold a text becomes text.

    >>> labelled(pa.array(["a", "b"]).dictionary_encode(), np.array([True, False]), "joined").to_pylist()
    ['joined', 'b']
    """
    of = plain(column.type)
    of = pa.string() if pa.types.is_boolean(of) else of
    return pc.if_else(arrow(here), pa.scalar(label, of), column.cast(of))


def batch_of(run: Run, columns: Sequence[str]) -> pa.RecordBatch:
    """A run of blocks as an Arrow batch; missing numbers are missing cells."""
    joined = [concatenated([block.columns[name] for block in run]) for name in columns]
    arrays = [arrow(column) if isinstance(column, np.ndarray) else column for column in joined]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def blocks(batch: Any, columns: Sequence[str], start: int) -> list[Block]:
    """One batch that begins at a multiple of BLOCK, as logical blocks."""
    values = columns_of(batch, columns)
    return [
        Block(start + first, {name: column[first:last] for name, column in values.items()})
        for first, last in spans(0, len(batch))
    ]


def taken(batches: Iterable[Any], places: Any) -> pa.Table:
    """The rows at some places, in their order, out of batches of which one is held at a time."""
    needed, at = np.unique(places, return_inverse=True)
    found, start = [], 0
    for batch in batches:
        first, last = np.searchsorted(needed, [start, start + len(batch)])
        found.append(batch.take(arrow(needed[first:last] - start)))
        start += len(batch)
    return pa.Table.from_batches(found).take(arrow(at))


def rechunked(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in batches of BLOCK * RUN (the last one fewer)."""
    held: list[Any] = []
    count = 0
    for batch in batches:
        while count + len(batch) >= per_run():
            cut = per_run() - count
            yield _joined([*held, batch.slice(0, cut)])
            batch, held, count = batch.slice(cut), [], 0
        if len(batch):
            held.append(batch)
            count += len(batch)
    if held:
        yield _joined(held)


def _joined(batches: list[Any]) -> Any:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
