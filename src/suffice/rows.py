"""Rows of a confidential file, and the only two things an engine does with them: fold and map."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from itertools import chain, islice
from operator import add
from typing import Any, Literal, Protocol, Self, TypeVar

BLOCK = 8192
"""Rows in a logical block. Random numbers belong to these, so neither engine nor batch size changes a release."""

RUN = 16
"""Blocks folded one after the other before their results are merged: fixed, so threads do not change a digit."""

Kind = Literal["float", "integer", "category", "date", "other"]

Progress = Callable[[str, int, int], None]
"""Called with the stage's name, the rows done and the rows in all."""


@dataclass(frozen=True, repr=False)
class Block:
    """Some consecutive rows. Floats and integers are NumPy arrays (missing: NaN), categories Arrow string arrays."""

    start: int
    columns: Mapping[str, Any]

    def __len__(self) -> int:
        return next((len(column) for column in self.columns.values()), 0)


class Monoid(Protocol):
    """A value that a fold can merge: an associative `+`."""

    def __add__(self, other: Any, /) -> Any: ...


F = TypeVar("F", bound=Monoid)
S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Both:
    """Two folds in one pass: the product of two monoids."""

    one: Any
    two: Any

    def __add__(self, other: Self) -> Both:
        return Both(self.one + other.one, self.two + other.two)


class Rows(ABC):
    """A source that gives the same rows in the same order every time. An engine supplies `runs`, no more."""

    n: int
    kinds: Mapping[str, Kind]
    threads: int = 1
    progress: Progress | None = None
    notes: Sequence[str] = ()
    """How the rows were read, where a reader should know."""

    @abstractmethod
    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        """All rows in order, cut at multiples of BLOCK rows, RUN blocks at a time."""

    def fold(self, of: Callable[[Block], F], columns: Sequence[str], stage: str) -> F:
        """The sum of `of(block)` over all blocks, merged in row order."""
        return reduce(add, self.map(lambda run: reduce(add, map(of, run)), columns, stage))

    def map(self, of: Callable[[Sequence[Block]], T], columns: Sequence[str], stage: str) -> Iterator[T]:
        """`of(run)` for every run of blocks, in row order; a few runs are worked on ahead, one per thread."""
        done = 0
        for result, rows in ahead(lambda run: (of(run), sum(map(len, run))), self.runs(columns), self.threads):
            done += rows
            if self.progress is not None:
                self.progress(stage, done, self.n)
            yield result


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


def spans(start: int, stop: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """The first and last row (exclusive) of every block of `size` rows."""
    for first in range(start, stop, size):
        yield first, min(first + size, stop)


def cores() -> int:
    """How many threads to use unless told: the cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
