"""Released rows on their way out: mapped run by run, dealt to nameless buckets, read back in the keyed order."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.errors import failing
from suffice.protection.protected import Protected
from suffice.rows.arrow import released_schema
from suffice.rows.bridge import arrow
from suffice.rows.derived import Joined
from suffice.rows.parquet import ArrowRows, blocks
from suffice.rows.shuffle import bucket_count, dealt
from suffice.rows.threads import ahead, one_ahead


def delivered(done: Protected, names: Sequence[str], folder: str | None) -> Iterator[pa.Table]:
    """The release in its final order, one bucket at a time; `folder` is where the buckets lie meanwhile."""
    with ExitStack() as stack, failing("The release cannot be written"):
        files = [stack.enter_context(tempfile.TemporaryFile(dir=folder)) for _ in range(bucket_count(done.rows.n))]
        _deal(done, names, files)

        def ordered(bucket: int) -> pa.Table:
            table = _mapped(files[bucket])
            return table.take(arrow(done.stream.permutation(bucket, len(table))))

        for bucket, table in enumerate(one_ahead(ordered, range(len(files)))):
            yield table
            os.ftruncate(files[bucket].fileno(), 0)


def _mapped(file: Any) -> pa.Table:
    """A bucket as it lies in the file: nothing is copied before rows are taken from it."""
    file.flush()
    size = os.fstat(file.fileno()).st_size
    with pa.ipc.open_stream(pa.py_buffer(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))) as reader:
        return reader.read_all()


def _deal(done: Protected, names: Sequence[str], files: Sequence[Any]) -> None:
    source = done.rows.rows if isinstance(done.rows, Joined) else done.rows
    assert isinstance(source, ArrowRows)
    count = len(files)
    schema = released_schema(source.schema, names, done.design.confidential, done.labels)
    kept = [name for name in names if name not in done.labels]

    def of(item: tuple[int, Any, list[Any]]) -> tuple[Any, Any]:
        start, batch, run = item
        Ystar = np.vstack([done.released(block) for block in run])
        made: dict[str, Any] = {name: Ystar[:, j] for j, name in enumerate(done.design.confidential)}
        made |= {name: values[start : start + len(batch)] for name, values in done.labels.items()}
        columns = [arrow(made[name]) if name in made else _plain(batch.column(name)) for name in names]
        buckets = dealt(done.stream, start, start + len(batch), count)
        order = np.argsort(buckets, kind="stable")
        table = pa.RecordBatch.from_arrays(columns, schema=schema)
        return table.take(arrow(order)) if count > 1 else table, np.bincount(buckets, minlength=count)

    with ExitStack() as stack:
        writers = [stack.enter_context(pa.ipc.new_stream(pa.PythonFile(file, "w"), schema)) for file in files]
        ready = 0
        for batch, sizes in ahead(of, _items(done, kept), source.threads):
            ends = np.cumsum(sizes)
            ready += len(batch)
            for writer, first, size in zip(writers, ends - sizes, sizes, strict=True):
                if size:
                    writer.write_batch(batch.slice(first, size))
            if source.progress is not None:
                source.progress("dealing", ready, source.n)


def _items(done: Protected, names: Sequence[str]) -> Iterator[tuple[int, Any, list[Any]]]:
    """Each run as an Arrow batch of what is released, and as blocks of what is computed with."""
    rows, columns = done.rows, done.columns
    if isinstance(rows, Joined):
        assert isinstance(rows.rows, ArrowRows)
        wanted = tuple(dict.fromkeys([*names, *done.design.columns]))
        start = 0
        for batch, run in zip(rows.rows.batches(wanted), rows.runs(columns), strict=True):
            yield start, batch, list(run)
            start += len(batch)
        return
    assert isinstance(rows, ArrowRows)
    start = 0
    for batch in rows.batches(tuple(dict.fromkeys([*names, *columns]))):
        yield start, batch, blocks(batch, columns, start)
        start += len(batch)


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
