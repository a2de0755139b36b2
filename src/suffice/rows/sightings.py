"""How often something was seen, and where first: a fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

FIRST = 5


@dataclass(frozen=True)
class Sightings:
    """A count and the first five row numbers, counted from 1; `+` merges.

    >>> print(Sightings.of([False, True], 0) + Sightings.of([True], 2))
    2 records, first in rows 2, 3
    """

    count: int = 0
    rows: tuple[int, ...] = ()

    @classmethod
    def of(cls, seen: Any, start: int) -> Self:
        """seen: true where it happened, for the rows from `start` (counted from 0)"""
        places = np.flatnonzero(seen)
        return cls(len(places), tuple((places[:FIRST] + start + 1).tolist()))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, tuple(sorted(self.rows + other.rows)[:FIRST]))

    def __bool__(self) -> bool:
        return self.count > 0

    def __str__(self) -> str:
        records = "1 record" if self.count == 1 else f"{self.count} records"
        return f"{records}, first in row{'s' * (len(self.rows) > 1)} {', '.join(map(str, self.rows))}"
