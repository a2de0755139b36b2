"""A method that needs all rows at once, or all rows of a super-block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from suffice.design.roles import Roles
    from suffice.method.records import Records
    from suffice.progress import Progress
    from suffice.seed import Stream
from suffice.algebra.array import Array
from suffice.method.method import Method


class Answer(Protocol):
    """What a method that needs all rows gives back."""

    @property
    def Ystar(self) -> Array: ...

    @property
    def unmoved(self) -> tuple[int, ...]:
        """Rows released where they were, all-zero ones aside."""
        ...

    def remarks(self) -> tuple[str, ...]:
        """What a reader of the certificate must know."""
        ...


@runtime_checkable
class Labelled(Protocol):
    """An answer with columns of its own."""

    @property
    def labels(self) -> Mapping[str, NDArray[np.int64]]:
        """Columns that the method made to tell groups, and that leave with the release."""
        ...


@dataclass(frozen=True)
class Recordwise(Method):
    """A method that needs all rows at once, or all rows of one super-block of a larger file."""

    by_parts: ClassVar[bool] = True
    """Whether what it promises of every super-block holds of the file."""
    finishing: ClassVar[bool] = False
    """Whether it only finishes what the step before it made, whose groups then stay."""
    rounds: ClassVar[int] = 2
    """How often the records of a large file are dealt into super-blocks."""

    def matrices(self, roles: Roles) -> Mapping[str, str]:
        """Formulas of the columns that the method wants as the file has them, by a name of its own."""
        return {}

    def groupings(self) -> Mapping[str, tuple[str, ...]]:
        """Columns that tell groups to the method, by a name of its own."""
        return {}

    @abstractmethod
    def answer(self, task: Records, stream: Stream, progress: Progress | None = None) -> Answer:
        """The released values, and what must be said about them."""

    def part(self, task: Records, stream: Stream) -> tuple[Answer, NDArray[np.int64]]:
        """The answer for one super-block, and the rows that wait for those of all super-blocks."""
        return self.answer(task, stream), np.empty(0, dtype=np.int64)

    def rest(self, task: Records, stream: Stream, n: int) -> Answer:
        """The answer for those that waited, out of a file of n records."""
        return self.answer(task, stream)

    def mask(self, task: Records, stream: Stream, progress: Progress | None = None) -> Array:
        """Y* alone."""
        return self.answer(task, stream, progress).Ystar
