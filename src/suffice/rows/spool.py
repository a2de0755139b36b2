"""Rows set aside in a nameless file while the others are worked on."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import finalize

import pyarrow as pa

from suffice.errors import failing
from suffice.rows.parquet import ArrowRows, rechunked
from suffice.rows.rows import Kind


class Spool(ArrowRows):
    """Written once, batch by batch, then read as often as need be; it vanishes with the last who holds it."""

    def __init__(self, schema: Any, kinds: Mapping[str, Kind], threads: int, folder: str | None = None) -> None:
        self.schema, self.kinds, self.threads, self.n = schema, kinds, threads, 0
        with failing("Rows cannot be set aside"):
            self.file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # lives as long as the rows
        self.writer: Any = pa.ipc.new_stream(pa.PythonFile(self.file, "w"), schema)
        finalize(self, self.file.close)

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
        size = os.fstat(self.file.fileno()).st_size
        held = mmap.mmap(self.file.fileno(), size, access=mmap.ACCESS_READ)
        with pa.ipc.open_stream(pa.py_buffer(held)) as reader:
            yield from rechunked(batch.select(list(columns)) for batch in reader)
