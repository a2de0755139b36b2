"""The records that models are fitted to: all of them, or parts that each fit in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.rows.rows import Rows
from suffice.synthesis.sequence import Part

MOST = 2**20
"""Records of a super-block, about: those that a tree is grown of."""


def parts_of(n: int) -> int:
    """Into how many super-blocks so many records are dealt."""
    return -(-n // MOST)


def super_blocks(rows: Rows, needs: Sequence[str], unit: Sequence[str]) -> list[Part]:
    """All records in memory, or super-blocks of them that are read when they are wanted: dealt by their places, so that
    every engine has the same."""
    count, names = parts_of(rows.n), [*needs, *unit]

    def read(source: Rows) -> tuple[dict[str, Any], Array | None]:
        columns = source.gather(names)
        counted = _first_of_units(columns[unit[0]]) if unit else None
        return {name: columns[name] for name in needs}, counted

    if count <= 1:
        whole = read(rows)
        return [lambda: whole]

    def label(start: int, batch: Any) -> NDArray[np.int64]:
        golden = np.arange(start, start + len(batch), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return ((golden >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)).astype(np.int64)

    return [partial(read, part) for part in rows.deal(label, count, names, "dealing")]


def _first_of_units(column: Any) -> Array:
    """1 for the first record of each unit, 0 for its others."""
    codes = column.dictionary_encode().indices.fill_null(-1).to_numpy() if isinstance(column, pa.Array) else column
    counted = np.zeros(len(codes))
    counted[np.unique(codes, return_index=True)[1]] = 1.0
    return counted
