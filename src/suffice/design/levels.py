"""Levels of categorical columns and how many records each has: a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.errors import InputError, count_of
from suffice.rows.arrow import concatenated
from suffice.rows.bridge import flags
from suffice.rows.rows import Rows, Run
from suffice.rows.sightings import Sightings

CAP = 5_000_000
"""Levels of one column: as text they take about a gigabyte."""


@dataclass(frozen=True, repr=False, eq=False)
class NumberCounts(Mapping[str | int, int]):
    """Whole numbers in order, and how many records have each: a million of them are merged as arrays."""

    numbers: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __getitem__(self, number: str | int) -> int:
        return int(dict(self.items())[number])

    def __iter__(self) -> Iterator[str | int]:
        return iter(self.numbers.tolist())

    def __len__(self) -> int:
        return len(self.numbers)

    def items(self) -> Any:
        return dict(zip(self.numbers.tolist(), self.counts.tolist(), strict=True)).items()

    def __add__(self, other: Self) -> Self:
        numbers, place = np.unique(np.concatenate([self.numbers, other.numbers]), return_inverse=True)
        counts = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return type(self)(numbers, counts)


@dataclass(frozen=True)
class Levels:
    """Records per level of one column, and where it is missing; `+` merges.

    Levels with few records are confidential: they are never shown.

    >>> import pyarrow as pa
    >>> both = Levels.of(pa.array(["north", None]), 0) + Levels.of(pa.array(["south", "north"]), 2)
    >>> both.counts == {"north": 2, "south": 1}, both.missing.rows
    (True, (2,))
    """

    counts: Mapping[str | int, int] = field(default_factory=dict, repr=False)
    missing: Sightings = field(default_factory=Sightings)

    @classmethod
    def of(cls, column: Any, start: int) -> Self:
        """column: Arrow text, or whole numbers in NumPy (floats with NaN where some are missing)"""
        return cls._of_text(column, start) if isinstance(column, pa.Array) else cls._of_numbers(column, start)

    @classmethod
    def _of_text(cls, column: Any, start: int) -> Self:
        values, counts = pc.value_counts(column).flatten()
        pairs = zip(values.to_pylist(), counts.to_pylist(), strict=True)
        return cls({level: count for level, count in pairs if level is not None}, Sightings.of(missing(column), start))

    @classmethod
    def _of_numbers(cls, column: Any, start: int) -> Self:
        absent = missing(column)
        values, counts = np.unique(integers(column[~absent]), return_counts=True)
        return cls(NumberCounts(values, counts), Sightings.of(absent, start))

    def __add__(self, other: Self) -> Self:
        return type(self)(_merged(self.counts, other.counts), self.missing + other.missing)


def _merged(one: Mapping[Any, int], two: Mapping[Any, int]) -> Mapping[Any, int]:
    if isinstance(one, NumberCounts) and isinstance(two, NumberCounts):
        return one + two
    counts = dict(one)
    for level, count in two.items():
        counts[level] = counts.get(level, 0) + count
    return counts


@dataclass(frozen=True)
class Census:
    """The levels of several columns, learnt in one pass; `+` merges."""

    columns: Mapping[str, Levels]

    def __add__(self, other: Self) -> Self:
        merged = {name: levels + other.columns[name] for name, levels in self.columns.items()}
        for name, levels in merged.items():
            _check_few(name, len(levels.counts))
        return type(self)(merged)


def census(rows: Rows, names: Sequence[str], stage: str) -> Mapping[str, Levels]:
    """The levels of columns, in one pass or, where there are none, in none.

    A run is counted at a time: there may be as many levels as records.
    """

    def of(run: Run) -> Census:
        return Census({n: Levels.of(concatenated([block.columns[n] for block in run]), run[0].start) for n in names})

    return reduce(add, rows.map(of, names, stage)).columns if names else {}


def missing(column: Any) -> NDArray[np.bool_]:
    """True where a cell is missing."""
    if isinstance(column, pa.Array):
        return flags(column.is_null())
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)


def integers(column: Any) -> NDArray[np.int64]:
    """Whole numbers as int64; uint64 wraps around, which keeps different levels different."""
    return np.asarray(column).astype(np.int64, copy=False)


def _check_few(name: str, count: int) -> None:
    if count > CAP:
        raise InputError(
            f"Column {name!r} has more than {CAP:,} levels. An identifier among the categories?\n"
            "Name it in `identifiers`, or group its levels first."
        )


def joined_note(name: str, levels: int, having: str) -> str:
    """What is said of small levels."""
    return f"{name}: {count_of(levels, 'small level')} ({having}) joined: regressions are kept on the levels as joined"


def small(
    counts: NDArray[np.intp], below: int, together: Callable[[NDArray[np.intp]], NDArray[np.intp]] | None = None
) -> NDArray[np.bool_]:
    """Which levels to join: none if none is small, else the smallest ones until they have `below` records.

    together: how much the first levels of an order have together, where that is not the sum of what they have
    """
    joined = np.zeros(len(counts), dtype=bool)
    if not (counts < below).any():
        return joined
    order = np.argsort(counts, kind="stable")
    enough = np.searchsorted(np.cumsum(counts[order]) if together is None else together(order), below) + 1
    joined[order[: max(enough, (counts < below).sum())]] = True
    return joined
