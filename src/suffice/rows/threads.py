"""Work on a few items ahead, one per thread, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain, islice
from typing import TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from suffice.errors import addresses

LIMITLESS = 2**35
"""Bytes of addresses that no number of threads uses up."""
S = TypeVar("S")
T = TypeVar("T")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Threads are handed runs of rows; a BLAS that starts more of its own only fights with them."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> ThreadpoolController:
    """Looked for once: NumPy's and SciPy's are loaded by then."""
    return ThreadpoolController()


def hold_memory() -> None:
    """Blocks come and go; the C library gives their memory back and has every page cleared when it takes it again,
    until it has seen a larger piece go than theirs."""
    np.empty(31 * 2**20, dtype=np.uint8)


def ahead(of: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[T]:
    """`of(item)` in order, a few items being worked on ahead, one per thread."""
    coming = iter(items)
    first = list(islice(coming, 2))
    if len(first) < 2:  # to start a thread takes longer than a small group does
        yield from map(of, first)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[T]] = deque()
        for item in chain(first, coming):
            waiting.append(pool.submit(of, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def one_ahead(of: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """`of(item)` in order, the next one being made while this one is used."""
    with ThreadPoolExecutor(1) as pool:
        coming: Future[T] | None = None
        for item in items:
            ready, coming = coming, pool.submit(of, item)
            if ready is not None:
                yield ready.result()
        if coming is not None:
            yield coming.result()


def take_buffers() -> None:
    """Lets both copies of BLAS have the memory that they work in: one that finds none later waits for it for ever.

    A thread that ends loads a library of the compiler's, and where it finds no room for that it ends the process.
    """
    import ctypes

    from scipy.linalg.blas import dgemm

    with suppress(OSError):  # another system has none
        ctypes.CDLL("libgcc_s.so.1")
    square = np.ones((512, 512))  # small ones need none
    dgemm(1.0, square @ square, square)


def cores() -> int:
    """How many threads to use unless told: the cores this process may run on; one where addresses are few, since each
    thread takes many."""
    if (addresses() or LIMITLESS) < LIMITLESS:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
