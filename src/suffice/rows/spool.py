"""Rows set aside in nameless files while others are worked on: the one way to disk, and all dealing by it."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from weakref import finalize

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.errors import failing
from suffice.rows.arrow import as_float, columns_of, labelled, rechunked, undictionaried
from suffice.rows.bridge import arrow
from suffice.rows.memory import ArrayRows, MemoryRows
from suffice.rows.parquet import ArrowRows
from suffice.rows.rows import Kind, Labels, Rows, per_run, spans

HELD = 2**20
"""Rows that are held in memory at a time, at most."""
SAMPLED = 2**14
"""Rows from which the ranges of a sort are chosen."""


class Spool(ArrowRows):
    """Written once, batch by batch, then read as often as need be; it vanishes with the last who holds it."""

    def __init__(
        self,
        schema: Any,
        kinds: Mapping[str, Kind],
        threads: int,
        folder: str | None = None,
        source: Rows | None = None,
    ) -> None:
        """source: the rows that these are some of, and are worked on as"""
        self.schema, self.kinds, self.threads, self.n = schema, kinds, threads, 0
        if source is not None:
            self.ahead = source.ahead  # type: ignore[method-assign]
        with failing("Rows cannot be set aside"):
            self.file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # lives as long as the rows
        self.writer: Any = pa.ipc.new_stream(pa.PythonFile(self.file, "w"), schema)
        finalize(self, _closed, self.file)

    def write(self, batch: Any) -> None:
        with failing("Rows cannot be set aside"):
            self.writer.write_batch(batch)
        self.n += len(batch)

    def close(self) -> None:
        """All rows have been written."""
        with failing("Rows cannot be set aside"):
            self.writer.close()
            self.file.flush()

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """As those of a Parquet file."""
        return rechunked(self._written(list(columns)))

    def _written(self, columns: list[str]) -> Iterator[Any]:
        """Batches as they lie in the file: nothing is copied before it is looked at, and what was need not stay."""
        size = os.fstat(self.file.fileno()).st_size
        held = mmap.mmap(self.file.fileno(), size, access=mmap.ACCESS_READ)
        with pa.ipc.open_stream(pa.py_buffer(held)) as reader:
            for batch in reader:
                yield batch.select(columns)
                if hasattr(mmap, "MADV_DONTNEED"):  # read again from the file, should somebody still look at it
                    held.madvise(mmap.MADV_DONTNEED)

    def empty(self) -> None:
        """Gives the room on disk back."""
        os.ftruncate(self.file.fileno(), 0)


def _closed(file: Any) -> None:
    """What could not be written has been told already."""
    with suppress(OSError):
        file.close()


def stored(rows: Rows, values: Iterable[Array], names: Sequence[str]) -> Rows:
    """Numbers run by run, as rows beside others: in memory, or set aside where they are many."""
    if rows.n <= HELD:
        together, last = [np.empty(rows.n) for _ in names], 0
        for run in values:
            if len(run) == rows.n and run.flags.f_contiguous:  # all of them, column by column
                together = list(run.T)
                break
            for own, y in zip(together, run.T, strict=True):
                own[last : last + len(run)] = y
            last += len(run)
        return ArrayRows(dict(zip(names, together, strict=True)), dict.fromkeys(names, "float"), rows.threads)
    spool = Spool(pa.schema(dict.fromkeys(names, pa.float64())), dict.fromkeys(names, "float"), rows.threads)
    for run in values:
        for first, last in spans(0, len(run), per_run()):
            spool.write(pa.RecordBatch.from_arrays([arrow(y) for y in run[first:last].T], names=list(names)))
    spool.close()
    return spool


def selected(rows: Rows, kept: Flags, columns: Sequence[str], blank: Mapping[str, Flags], labels: Labels) -> Rows:
    """Some of the rows, in order; `blank`: cells made missing; `labels`: cells of a column that get a label."""
    spool: Spool | None = None
    start = 0
    kinds: dict[str, Kind] = {name: "float" if name in blank else rows.kinds[name] for name in columns}
    for batch in rows.batches(columns):
        here = slice(start, start + len(batch))
        arrays = [_blanked(batch, name, blank[name][here]) if name in blank else batch.column(name) for name in columns]
        for name, (flags, label) in labels.items():
            at = list(columns).index(name)
            arrays[at] = labelled(arrays[at], flags[here], label)
        batch = pa.RecordBatch.from_arrays(arrays, names=list(columns))
        spool = spool or Spool(batch.schema, kinds, rows.threads, source=rows)
        spool.write(batch.filter(arrow(kept[here])))
        start += len(batch)
    assert spool is not None
    spool.close()
    return spool


def _blanked(batch: Any, name: str, blank: Flags) -> Any:
    return arrow(np.where(blank, np.nan, as_float(columns_of(batch, [name])[name])))


def dealt(
    rows: Rows,
    label: Callable[[int, Any], NDArray[Any]],
    count: int,
    columns: Sequence[str],
    stage: str,
    folder: str | None = None,
) -> list[Spool]:
    """The rows dealt to `count` parts, each with its rows in order."""
    kinds = {name: rows.kinds[name] for name in columns}
    return parted(_labelled(rows, label, columns), count, kinds, rows, stage, folder)


def parted(
    items: Iterable[tuple[Any, NDArray[Any]]],
    count: int,
    kinds: Mapping[str, Kind],
    rows: Rows,
    stage: str = "",
    folder: str | None = None,
) -> list[Spool]:
    """Arrow batches, each with the part that every row of it goes to, dealt to `count` files; `rows`: who works."""
    spools: list[Spool] = []
    done = 0
    for batch, sizes in rows.ahead(lambda item: _parted(*item, count), items):
        spools = spools or [Spool(batch.schema, kinds, rows.threads, folder, rows) for _ in range(count)]
        ends = np.cumsum(sizes)
        for spool, first, size in zip(spools, ends - sizes, sizes, strict=True):
            if size:
                spool.write(batch.slice(first, size))
        done += len(batch)
        if rows.progress is not None and stage:
            rows.progress(stage, done, rows.n)
    for spool in spools:
        spool.close()
    return spools


def _labelled(
    rows: Rows, label: Callable[[int, Any], NDArray[Any]], columns: Sequence[str]
) -> Iterator[tuple[Any, NDArray[Any]]]:
    start = 0
    for batch in rows.batches(columns):
        yield batch, label(start, batch)
        start += len(batch)


def _parted(batch: Any, labels: NDArray[Any], count: int) -> tuple[Any, NDArray[np.intp]]:
    """A batch in the order of its parts, and how many rows each has."""
    plain = undictionaried(batch)
    moved = plain.take(arrow(np.argsort(labels, kind="stable"))) if count > 1 else plain
    return moved, np.bincount(labels, minlength=count)


def in_order(rows: Rows, by: str, columns: Sequence[str]) -> Rows:
    """The rows in the order of a numeric column, missing numbers last: dealt by range, sorted in memory."""
    wanted = list(dict.fromkeys([*columns, by]))
    if rows.held or rows.n <= HELD:
        return MemoryRows(_ordered(rows, by, wanted).select(list(columns)), rows.threads)
    bounds, places = _ranges(rows, by)

    def label(start: int, batch: Any) -> NDArray[np.intp]:
        values = columns_of(batch, [by])[by]
        low, high = np.searchsorted(bounds, values, "left"), np.searchsorted(bounds, values, "right")
        row = np.arange(start, start + len(values))
        tied = np.flatnonzero(high > low)  # equal values may fill several parts: told apart by their places
        for i in tied:
            low[i] += np.searchsorted(places[low[i] : high[i]], row[i], "right")
        return np.asarray(low)

    parts = rows.deal(label, len(bounds) + 1, wanted, "sorting")
    spool: Spool | None = None
    for part in (each for each in parts if each.n):
        table = _ordered(part, by, wanted).select(list(columns)).combine_chunks()
        spool = spool or Spool(table.schema, {name: rows.kinds[name] for name in columns}, rows.threads)
        for batch in table.to_batches(max_chunksize=per_run()):
            spool.write(batch)
    assert spool is not None
    spool.close()
    return spool


def _ordered(rows: Rows, by: str, columns: Sequence[str]) -> pa.Table:
    table = undictionaried(pa.Table.from_batches(rows.batches(columns)))
    return table.take(arrow(np.argsort(columns_of(table, [by])[by], kind="stable")))


def _ranges(rows: Rows, by: str) -> tuple[Array, NDArray[np.int64]]:
    """Values, and places among equal ones, between which about HELD / 2 rows lie."""
    step = max(1, rows.n // SAMPLED)

    def of(run: Sequence[Any]) -> tuple[Array, NDArray[np.int64]]:
        places = [np.arange(-block.start % step, len(block), step) for block in run]
        values = [block.columns[by][at] for block, at in zip(run, places, strict=True)]
        return np.concatenate(values), np.concatenate([p + b.start for b, p in zip(run, places, strict=True)])

    found = list(rows.map(of, [by], "sorting"))
    values, places = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((places, values))
    count = -(-2 * rows.n // HELD)
    at = order[np.linspace(0, len(order) - 1, count + 1).round().astype(int)[1:-1]]
    return values[at], places[at]
