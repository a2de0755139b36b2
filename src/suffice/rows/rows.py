"""Rows of a confidential file, and the only two things an engine does with them: fold and map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Literal, Protocol, Self, TypeVar

from suffice.progress import Progress
from suffice.rows.threads import ahead

BLOCK = 8192
"""Rows in a logical block. Random numbers belong to these, so neither engine nor batch size changes a release."""

RUN = 16
"""Blocks folded one after the other before their results are merged: fixed, so threads do not change a digit."""

Kind = Literal["float", "integer", "category", "date", "other"]


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
T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Product:
    """Two folds in one pass: the product of two monoids."""

    one: Any
    two: Any

    def __add__(self, other: Self) -> Product:
        return Product(self.one + other.one, self.two + other.two)


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


def spans(start: int, stop: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """The first and last row (exclusive) of every block of `size` rows."""
    for first in range(start, stop, size):
        yield first, min(first + size, stop)
