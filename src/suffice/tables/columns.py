"""Columns of a file as a table needs them: codes, numbers, marks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.errors import FileError, InputError, UsageError, attempt, suggest
from suffice.files.source import open_rows

YES, NO = ("true", "t", "1", "1.0", "yes", "x", "u"), ("false", "f", "0", "0.0", "no", "", "s")


def columns_of_file(data: Any, names: Sequence[str]) -> pa.Table:
    """Some columns of a frame or a file; with no names, all of them."""
    rows = open_rows(data, 1, None)
    wanted = list(dict.fromkeys(names)) or list(rows.kinds)
    for name in wanted:
        if name not in rows.kinds:
            raise UsageError(f"There is no column {name!r}.{suggest(name, rows.kinds)}")
    return pa.Table.from_batches(list(rows.batches(wanted)))


def text_of(path: str | os.PathLike[str], what: str, encoding: str | None = None) -> str:
    """The text of a small file."""
    where = Path(path)
    if not where.is_file():
        raise FileError(f"{where.name}, {what}, is no file.\nCheck the path.")
    text = attempt(lambda: where.read_text(encoding=encoding or "utf-8-sig"))
    if text is None:
        raise InputError(f"{where.name}, {what}, is not text in {encoding or 'UTF-8'}.\nName its encoding.")
    return text


def codes_of(table: pa.Table, name: str) -> NDArray[np.str_]:
    """A column as text, without holes."""
    column = table[name].combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # of no chunks
        column = pa.concat_arrays(column.chunks or [pa.array([], pa.string())])
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    _refuse(name, pc.is_null(column, nan_is_null=True).to_numpy(zero_copy_only=False), "no code", "Give every cell one")
    words = column.cast(pa.string())
    _refuse(name, pc.match_substring(words, "\0").to_numpy(zero_copy_only=False), "a NUL byte", "Take it out")
    return np.asarray(words.to_pylist(), dtype=np.str_)


def numbers_of(table: pa.Table, name: str, holes: bool = False) -> Array:
    """A column of numbers; `holes`: cells may be missing, and are then not a number."""
    cast = attempt(partial(table[name].cast, pa.float64()))
    if cast is None and pa.types.is_integer(table[name].type):
        raise InputError(f"Column {name!r} holds whole numbers beyond 2^53, which cannot be added up.\nDivide it.")
    if cast is None:
        raise InputError(f"Column {name!r} holds text that is no number.\nCorrect it, or name another column.")
    values = np.asarray(cast.to_numpy(), dtype=np.float64)
    bad = np.isinf(values) if holes else ~np.isfinite(values)
    _refuse(name, bad, "no finite number", "Fill them in, or leave these rows out")
    return values


def marks_of(table: pa.Table, name: str) -> Flags:
    """A column of true and false, however written: 1, TRUE, yes, x; an empty cell is false."""
    words = [("" if word is None else str(word)).strip().lower() for word in table[name].to_pylist()]
    _refuse(
        name, np.array([word not in (*YES, *NO) for word in words], dtype=bool), "neither true nor false", "Write so"
    )
    return np.array([word in YES for word in words], dtype=bool)


def _refuse(name: str, bad: Flags, what: str, remedy: str) -> None:
    if bad.any():
        first = ", ".join(str(place + 1) for place in np.flatnonzero(bad)[:5])
        raise InputError(f"Column {name!r} has {what} in {bad.sum():,} rows (the first: {first}).\n{remedy}.")
