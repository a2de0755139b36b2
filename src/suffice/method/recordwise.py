"""A method that needs all rows at once, or all rows of a super-block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.method.masked import Masked
from suffice.method.method import Method

if TYPE_CHECKING:
    from suffice.design.roles import Roles
    from suffice.method.records import Records
    from suffice.progress import Progress
    from suffice.seed import Stream


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
    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        """The released values, and what must be said about them."""

    def learn(self, parts: Callable[[], Iterator[Records]], n: int) -> Any:
        """What all super-blocks of a file of n records are to know of it, of their records (`Records.learnt`)."""
        return None

    def part(self, records: Records, stream: Stream) -> tuple[Masked, NDArray[np.int64]]:
        """The same of one super-block, and the rows that wait for those of all super-blocks."""
        return self.mask(records, stream), np.empty(0, dtype=np.int64)

    def rest(self, records: Records, stream: Stream, n: int) -> Masked:
        """The same of those that waited, out of a file of n records."""
        return self.mask(records, stream)
