"""Rows held in memory: NumPy arrays and pandas, polars or pyarrow frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.errors import InputError
from suffice.progress import Progress
from suffice.rows.arrow import dated, is_valid, labelled, one_chunk, rechunked
from suffice.rows.bridge import arrow, numbers
from suffice.rows.rows import NO_LABELS, Block, Kind, Labels, Rows, per_run, spans

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw  # imported where a frame is: a fifth of a second


class ArrayRows(Rows):
    """Named columns in memory, as blocks hold them."""

    held = True

    def __init__(self, columns: Mapping[str, Any], kinds: Mapping[str, Kind], threads: int = 1) -> None:
        self.columns, self.kinds, self.threads = columns, kinds, threads
        self.n = next((len(values) for values in columns.values()), 0)

    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        chosen = {name: self.columns[name] for name in columns}
        for start, stop in spans(0, self.n, per_run()):
            yield [
                Block(first, {name: values[first:last] for name, values in chosen.items()})
                for first, last in spans(start, stop)
            ]

    def gather(self, columns: Sequence[str]) -> dict[str, Any]:
        return {name: self.columns[name] for name in columns}


class MemoryRows(ArrayRows):
    """A frame, seen as named columns; what is released has the frame's own kind."""

    def __init__(
        self, frame: Any, threads: int = 1, progress: Progress | None = None, notes: Sequence[str] = ()
    ) -> None:
        self.native = frame = _without_masks(frame)
        self.named = _named(frame)
        self.threads, self.progress, self.notes = threads, progress, tuple(notes)
        self.n = len(self.named)
        found = {name: _column(self.named.get_column(name)) for name in self.named.columns}
        self.columns = {name: values for name, (_, values) in found.items()}
        self.kinds: Mapping[str, Kind] = {name: kind for name, (kind, _) in found.items()}

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        return rechunked(as_table(self.named.to_native(), columns).to_batches())

    def select(
        self, kept: Flags, columns: Sequence[str], blank: Mapping[str, Flags], labels: Labels = NO_LABELS
    ) -> MemoryRows:
        """As the kind of frame that came in, with all its columns."""
        import narwhals.stable.v2 as nw

        places = np.flatnonzero(kept)
        frame = _taken(self.named, places)
        changed = {name: np.where(blank[name], np.nan, self.columns[name])[places] for name in blank}
        for name, (here, label) in labels.items():
            values = self.columns[name]
            text = isinstance(values, pa.Array)
            changed[name] = (labelled if text else _numbered)(values.take(places), here[places], label)
        if isinstance(self.native, np.ndarray):
            native: Any = np.column_stack([changed.get(n, self.columns[n][places]) for n in self.named.columns])
        else:
            native = nw.to_native(self._with(frame, changed))
        return MemoryRows(native, self.threads, self.progress, self.notes)

    def _with(self, frame: nw.DataFrame[Any], changed: Mapping[str, Any]) -> nw.DataFrame[Any]:
        """Columns added or replaced; a missing number is missing, not a number that is none, where frames tell."""
        import narwhals.stable.v2 as nw

        backend = self.named.implementation
        if backend.is_pandas_like():
            frame = nw.from_native(nw.to_native(frame).reset_index(drop=True))
        if backend.is_pyarrow():
            ready = {name: v if isinstance(v, pa.Array) else arrow(v) for name, v in changed.items()}
            arrays = {name: pa.chunked_array([column]) for name, column in ready.items()}
            return frame.with_columns(*(nw.from_native(a, series_only=True).alias(n) for n, a in arrays.items()))
        schema = self.named.schema

        def made(name: str, values: Any) -> nw.Series[Any]:
            if not isinstance(values, pa.Array):
                return nw.new_series(name, values, backend=backend)
            holding = _holding(values, schema[name])
            own = getattr(self.native[name], "dtype", None) if holding == schema[name] else None
            if backend.is_pandas_like() and type(getattr(own, "na_value", None)).__name__ == "NAType":
                series = backend.to_native_namespace().Series(values.to_pylist(), dtype=own, name=name)
                return nw.from_native(series, series_only=True)  # narwhals has no names for types that hold NA
            return nw.new_series(name, values.to_pylist(), holding, backend=backend)

        series = [made(name, values) for name, values in changed.items()]
        holed = [name for name, v in changed.items() if isinstance(v, np.ndarray) and np.isnan(v).any()]
        return frame.with_columns(*(one.fill_nan(None) if one.name in holed else one for one in series))

    def frame(self, names: Sequence[str], made: Mapping[str, NDArray[Any]], places: NDArray[np.int64]) -> Any:
        import narwhals.stable.v2 as nw

        kept, fresh = [name for name in names if name not in made], dict(made)
        if kept:
            frame = _taken(self.named.select(kept), places)
        else:  # one column tells how many rows there are
            frame = nw.from_dict({names[0]: fresh[names[0]]}, backend=self.named.implementation)
        frame = self._with(frame, fresh).select(names)
        if isinstance(self.native, np.ndarray):
            return np.column_stack([frame.get_column(name).to_numpy() for name in names])
        return _bare(nw.to_native(frame))


def _numbered(values: NDArray[Any], here: Flags, label: str | int) -> NDArray[Any]:
    return np.where(here, np.asarray(label, values.dtype), values)


def _holding(values: pa.Array, dtype: Any) -> Any:
    """The type of a column; text, where it cannot hold the text that it got."""
    import narwhals.stable.v2 as nw

    return nw.String if pa.types.is_string(values.type) and dtype in (nw.Boolean, nw.Enum) else dtype


def _without_masks(frame: Any) -> Any:
    """Masked cells are missing: what stands under the mask of an array is nobody's business."""
    if not isinstance(frame, np.ma.MaskedArray):
        return frame
    hidden = np.ma.getmaskarray(frame)
    return np.where(hidden, np.nan, frame.data) if hidden.any() else np.asarray(frame.data)


def as_table(frame: Any, names: Sequence[str]) -> pa.Table:
    """Columns of a frame as an Arrow table; an array's columns have the names that they are given."""
    if isinstance(frame, pa.Table):
        return frame.select(list(names))
    if isinstance(frame, np.ndarray):
        return pa.table({name: arrow(np.ascontiguousarray(frame[:, j])) for j, name in enumerate(names)})
    import narwhals.stable.v2 as nw

    named = nw.from_native(frame, eager_only=True)
    return pa.table({name: _fresh_levels(named.get_column(name).to_arrow()) for name in names})


def _taken(frame: nw.DataFrame[Any], places: NDArray[np.int64]) -> nw.DataFrame[Any]:
    import narwhals.stable.v2 as nw

    native = nw.to_native(frame)
    return nw.from_native(native.take(arrow(places))) if isinstance(native, pa.Table) else frame[places, :]


def _bare(frame: Any) -> Any:
    """A frame without what its columns do not show: metadata, and levels that no released row has."""
    if isinstance(frame, pa.Table):
        return pa.table([_fresh_levels(column) for column in frame.columns], names=frame.column_names)
    if hasattr(frame, "attrs"):  # pandas
        frame.attrs = {}
        levelled = {name: frame[name] for name in frame.columns if hasattr(frame[name], "cat")}
        return frame.assign(**{name: _shown_levels(series) for name, series in levelled.items()})
    return frame.with_columns([_fewer_levels(frame[name]) for name in frame.columns])  # polars


def _shown_levels(series: Any) -> Any:
    """A pandas column with the levels that it has: without an order of their own they may stand as the original's rows
    did, and are sorted, or else as the released rows are."""
    if series.cat.ordered:
        return series.cat.remove_unused_categories()
    fresh = series.dropna().astype(series.cat.categories.dtype).astype("category")
    return series.cat.set_categories(fresh.cat.categories)


def _fewer_levels(series: Any) -> Any:
    """A polars column whose type lists no level that it has not."""
    if not hasattr(series.dtype, "categories"):
        return series
    if type(series.dtype).__name__ != "Enum":  # the levels of a Categorical are those of the process, not of the type
        return series
    used = set(series.unique().drop_nulls().to_list())
    return series.cast(type(series.dtype)([level for level in series.dtype.categories if level in used]))


def _fresh_levels(column: Any) -> Any:
    """Levels in the order of the released rows: that of the original rows is nobody's business."""
    if not pa.types.is_dictionary(column.type):
        return column
    return column.cast(column.type.value_type).dictionary_encode()


def _named(frame: Any) -> nw.DataFrame[Any]:
    import narwhals.stable.v2 as nw

    if isinstance(frame, np.ndarray):
        if frame.ndim != 2 or frame.dtype.kind not in "fiub":
            raise InputError("A NumPy array must be two-dimensional and numeric; its columns are named x0, x1, ...")
        table = pa.table({f"x{i}": arrow(frame[:, i]) for i in range(frame.shape[1])})
        return nw.from_native(table, eager_only=True)
    if isinstance(frame, pa.Table) and not is_valid(frame):
        raise InputError("The table is damaged: text that is not UTF-8, or offsets that lead nowhere.\nMake it anew.")
    try:
        named: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"{type(frame).__name__} is not a table.\nGive a pandas, polars or pyarrow frame, a NumPy array, or a path."
        ) from None
    except Exception:  # duplicate names and the like, whose messages may quote the data
        raise InputError("The frame's column names are not unique.\nRename the columns.") from None
    if not all(isinstance(name, str) and name and "\0" not in name for name in named.columns):
        raise InputError("Column names must be text, not empty and without NUL.\nRename the columns.")
    return named


def _column(series: nw.Series[Any]) -> tuple[Kind, Any]:
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_float() or dtype.is_integer() or dtype.is_decimal():
        kind: Kind = "integer" if dtype.is_integer() else "float"
        if not dtype.is_float() and series.null_count():
            return kind, series.cast(nw.Float64()).to_numpy()
        native = series.to_native()
        plain = isinstance(native, pa.ChunkedArray) and not dtype.is_decimal()
        values = numbers(one_chunk(native)) if plain else series.to_numpy()
        return kind, values if values.dtype.kind in "fiu" else values.astype(np.float64)
    if dtype.is_temporal():
        column = series.to_arrow()
        return "date", dated(one_chunk(column))
    if len(series) and series.null_count() == len(series):
        return "float", np.full(len(series), np.nan)  # nothing tells what it was meant to be
    if dtype in (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Object):
        return _category(series)
    return "other", np.empty(len(series))


def _category(series: nw.Series[Any]) -> tuple[Kind, Any]:
    try:
        values = one_chunk(series.to_arrow())
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if pa.types.is_floating(values.type) or pa.types.is_integer(values.type):  # objects that are numbers
            return ("float" if pa.types.is_floating(values.type) else "integer"), values.to_numpy(zero_copy_only=False)
        if pa.types.is_temporal(values.type):
            return "date", dated(values)
        return "category", values.cast(pa.string())
    except MemoryError:
        raise
    except (pa.ArrowException, TypeError, ValueError):  # a mixture of types; the messages quote cells
        return "other", np.empty(len(series))
