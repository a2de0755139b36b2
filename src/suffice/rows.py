"""Rows of a confidential file, and the only two things an engine does with them: fold and map."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, TypeVar

import numpy as np

BLOCK = 8192
"""Rows in a logical block. Random numbers belong to these, so neither engine nor batch size changes a release."""

RUN = 16
"""Blocks folded one after the other before their results are merged: fixed, so threads do not change a digit."""

Kind = Literal["float", "integer", "category", "date", "other"]


@dataclass(frozen=True)
class Block:
    """Some consecutive rows. Floats and integers are NumPy arrays (missing: NaN), categories Arrow string arrays."""

    start: int
    columns: Mapping[str, Any]

    def __len__(self) -> int:
        return next((len(column) for column in self.columns.values()), 0)


class Monoid(Protocol):
    """A value that a fold can merge: associative `+`."""

    def __add__(self, other: Self, /) -> Self: ...


F = TypeVar("F", bound=Monoid)


class Rows(Protocol):
    """A source of rows that gives the same rows in the same order every time."""

    n: int
    kinds: Mapping[str, Kind]

    def fold(self, of: Callable[[Block], F], columns: Sequence[str]) -> F:
        """The sum of `of(block)` over all blocks, merged in row order."""
        ...


def spans(n: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """The first and last row (exclusive) of every block of `size` rows."""
    for start in range(0, n, size):
        yield start, min(start + size, n)


def as_float(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A numeric column as float64, without a copy where it is so already."""
    return np.asarray(values, dtype=np.float64)
