"""The confidential numbers of a file, all of them: block by block, a column at a time, or those of some records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.moments import Spread
from suffice.rows.arrow import as_float
from suffice.rows.derived import all_beside
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Block, Monoid, Rows

PIECE = 2**16
"""Values of a column that are looked at together."""

M = TypeVar("M", bound=Monoid)


@dataclass(frozen=True, repr=False)
class FileNumbers:
    """Columns of numbers of a file, which need not fit in memory."""

    rows: Rows
    names: tuple[str, ...]

    @classmethod
    def of(cls, numbers: Numbers) -> FileNumbers:
        if isinstance(numbers, FileNumbers):
            return numbers
        names = tuple(map(str, range(numbers.shape[1])))
        return cls(ArrayRows(dict(zip(names, numbers.T, strict=True)), dict.fromkeys(names, "float")), names)

    def __len__(self) -> int:
        return self.rows.n

    @cached_property
    def spread(self) -> Spread:
        return total(Spread.of, self)

    @property
    def scale(self) -> Array:
        """The standard deviation of every column, 1 where it does not vary."""
        return np.where(self.spread.sd > 0, self.spread.sd, 1.0)

    @property
    def sd(self) -> Array:
        """The standard deviation, with n - 1."""
        return np.asarray(self.spread.sd * np.sqrt(len(self) / max(len(self) - 1, 1)))

    def columns(self) -> Iterator[Array]:
        """One at a time, in memory."""
        return (as_float(self.rows.gather([name])[name]) for name in self.names)

    def pieces(self, most: int) -> Iterator[Array]:
        """All records, about so many at a time."""
        held: list[Array] = []
        for run in self.rows.runs(self.names):
            held += [stacked(block, self.names) for block in run]
            if sum(map(len, held)) >= most:
                yield np.vstack(held)
                held = []
        if held:
            yield np.vstack(held)

    def at(self, places: NDArray[np.int64]) -> Array:
        """Some records; their places are in order."""

        def of(block: Block) -> list[Array]:
            first, last = np.searchsorted(places, [block.start, block.start + len(block)])
            return [stacked(block, self.names)[places[first:last] - block.start]]

        return np.vstack(self.rows.fold(of, self.names, "measuring"))

    def some(self, most: int) -> Array:
        """A sample of at most so many records: of files with as many records, of the same ones."""
        return self.at(sample_places(len(self), most))


Numbers = Array | FileNumbers
"""Numbers in memory, or of a file."""


def total(of: Callable[..., M], *files: Numbers) -> M:
    """The sum of `of(block)` over the blocks of a file, or of `of(block, block, ...)` over those of aligned files.

    >>> total(lambda a, b: (a * b).sum(axis=0), np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    array([11.])
    """
    first, *others = map(FileNumbers.of, files)
    beside: dict[str, Any] = {}
    columns = [first.names]
    for number, each in enumerate(others):
        held = all_beside(each.rows, each.names)
        columns.append(tuple(f"{number}\0{name}" for name in each.names))
        beside |= dict(zip(columns[-1], held.values(), strict=True))
    rows = first.rows.with_columns(beside) if beside else first.rows

    def seen(block: Block) -> M:
        return of(*(stacked(block, names) for names in columns))

    return rows.fold(seen, [name for names in columns for name in names], "measuring")


def by_column(of: Callable[[Array, Array], float], Y: Numbers, Ystar: Numbers) -> Array:
    """Something of every column of two files, of which one is in memory at a time."""
    pairs = zip(FileNumbers.of(Y).columns(), FileNumbers.of(Ystar).columns(), strict=True)
    return np.array([of(y, z) for y, z in pairs])


def pieces_of(n: int) -> Iterator[slice]:
    """Where a long column is cut, so that what is made of it need not be as long."""
    return (slice(start, min(start + PIECE, n)) for start in range(0, n, PIECE))


def stacked(block: Block, names: Sequence[str]) -> Array:
    return np.column_stack([as_float(block.columns[name]) for name in names])


def sample_places(n: int, most: int) -> NDArray[np.int64]:
    """Places of a sample that follows from the number of records alone."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(n).choice(n, most, replace=False))
