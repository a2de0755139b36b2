"""A third engine: rows that are worked on in other processes, so that all a pass needs must be pickled."""

from __future__ import annotations

import multiprocessing
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import pyarrow as pa
from threadpoolctl import threadpool_limits

from suffice.rows.arrow import blocks, kinds, rechunked
from suffice.rows.rows import Rows, Run

READ = 777
"""Rows that are read at a time: no divisor of anything."""
WORKERS = 2


class ProcessRows(Rows):
    """An Arrow table, whose blocks are worked on in other processes."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.n, self.kinds = table.replace_schema_metadata(), len(table), kinds(table.schema)
        self.sent: list[bytes] = []
        """All that has been sent to workers."""

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        return rechunked(self.table.select(list(columns)).to_batches(max_chunksize=READ))

    def runs(self, columns: Sequence[str]) -> Iterator[Run]:
        start = 0
        for batch in self.batches(columns):
            yield blocks(batch, columns, start)
            start += len(batch)

    def ahead(self, of: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        waiting: deque[Future[bytes]] = deque()
        for item in items:
            self.sent.append(cloudpickle.dumps((of, item)))
            waiting.append(pool().submit(worked, self.sent[-1]))
            if len(waiting) > WORKERS:
                yield pickle.loads(waiting.popleft().result())
        while waiting:
            yield pickle.loads(waiting.popleft().result())


@cache
def pool() -> ProcessPoolExecutor:
    """Started once; the processes are new ones, which inherit nothing."""
    return ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    threadpool_limits(1, "blas")


def worked(sent: bytes) -> bytes:
    """What a worker does: it has nothing but what it is sent."""
    of, item = pickle.loads(sent)
    return bytes(cloudpickle.dumps(of(item)))
