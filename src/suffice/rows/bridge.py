"""Arrow columns as NumPy arrays and back. Arrow's own ways do the same, and import pandas wherever it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(column: Any, absent: float = np.nan) -> Any:
    """The numbers of an Arrow array, missing ones as `absent`; without a copy where none is missing.

    >>> numbers(pa.array([1.5, None])[0:2]), numbers(pa.array([1, None, 3])[1:], -1)
    (array([1.5, nan]), array([-1,  3]))
    """
    if not len(column):
        return np.empty(0, dtype=column.type.to_pandas_dtype())
    if not column.null_count:
        return np.from_dlpack(column)
    bare = pa.Array.from_buffers(column.type, len(column), [None, column.buffers()[1]], offset=column.offset)
    return np.where(flags(column.is_valid()), np.from_dlpack(bare), absent)


def flags(column: Any) -> NDArray[np.bool_]:
    """An Arrow array of true and false, none missing."""
    return numbers(column.cast(pa.uint8())).view(np.bool_)  # type: ignore[no-any-return]


def arrow(values: NDArray[Any]) -> Any:
    """Numbers or flags as an Arrow array; NaN is missing.

    >>> arrow(np.array([1.5, np.nan])).to_pylist(), arrow(np.array([True, False])).to_pylist()
    ([1.5, None], [True, False])
    """
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, _bits(values)])
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, dtype=bool)
    holes = _bits(~missing) if missing.any() else None
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [holes, data])


def _bits(values: NDArray[np.bool_]) -> Any:
    return pa.py_buffer(np.packbits(values, bitorder="little"))
