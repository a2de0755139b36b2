"""Smaller groups inside groups: the dimensions that means and fits in the smaller ones leave in the larger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.rows.multiset import Words


@dataclass(frozen=True, repr=False)
class Nesting:
    """Every pair of a group and a smaller one that has records, and how many."""

    groups: Words
    smaller: Words
    records: NDArray[np.int64]

    @classmethod
    def of(cls, groups: Words, smaller: Words, records: NDArray[np.int64] | None = None) -> Nesting:
        order = np.lexsort((smaller, groups))
        one, two = groups[order], smaller[order]
        starts = np.flatnonzero(np.r_[True, (one[1:] != one[:-1]) | (two[1:] != two[:-1])])
        counts = np.diff(starts, append=len(one)) if records is None else np.add.reduceat(records[order], starts)
        return cls(one[starts], two[starts], counts)

    @classmethod
    def together(cls, parts: Sequence[Nesting]) -> Nesting:
        known = (np.concatenate([getattr(part, name) for part in parts]) for name in ("groups", "smaller", "records"))
        return parts[0] if len(parts) == 1 else cls.of(*known)

    def left(self, within: int, beyond: int) -> NDArray[np.int64]:
        """Of each group; `within`: columns fitted in each smaller group, means among them, `beyond`: others, in all."""
        starts = np.flatnonzero(np.r_[True, self.groups[1:] != self.groups[:-1]])
        pairs = np.diff(starts, append=len(self.groups))
        return np.asarray(np.add.reduceat(self.records, starts) - pairs * within - beyond)
