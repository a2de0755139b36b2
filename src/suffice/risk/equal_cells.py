"""Confidential values that stand beside themselves, in a column that leaves as it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.risk.leaving import LeavingSample

RARE = 0.02
"""Values that more records than this share have are equal by chance too often to be looked at."""
EQUAL, SCALED, LEAST = 0.05, 0.10, 3
"""Shares beyond chance that are too many: of equal values, of values times a factor; and records, at least."""
SOME = 2000
"""Records whose ratios are compared."""
SAME = 1e-9
"""Ratios that differ by less than this share are one: that of an amount to itself in another unit."""


@dataclass(frozen=True)
class EqualCells:
    """Of all records, the share whose value stands in another column, as it is or times one factor for all.

    chance: the share with the rows of that column permuted
    """

    column: str
    beside: str
    share: float
    chance: float
    records: int
    scaled: bool = False

    @property
    def told(self) -> bool:
        least = SCALED if self.scaled else EQUAL
        return self.records >= LEAST and self.share - self.chance > least


def equal_cells(sample: LeavingSample) -> tuple[EqualCells, ...]:
    """Pairs of a confidential and a numeric column that leaves unchanged; zeros and frequent values aside."""
    order = np.random.default_rng(0).permutation(len(sample))
    beside = [(name, x, np.isfinite(x) & (x != 0), x[order]) for name, x in sample.numbers.items()]
    pairs = (
        found
        for name, y in zip(sample.design.confidential, sample.Y.T, strict=True)
        for rare in ([_rare(y)] if len(y) else [])
        for found in (_beside(name, y, rare, *column) for column in beside)
    )
    return tuple(found for found in pairs if found is not None and found.told)


def _beside(name: str, y: Array, rare: Flags, other: str, x: Array, usable: Flags, mixed: Array) -> EqualCells | None:
    """mixed: x with its rows permuted"""
    here = rare & usable
    n, rows = len(y), np.flatnonzero(here)
    if not len(rows):
        return None
    equal = np.count_nonzero(here & (y == x)) / n
    some = rows[:: 1 + len(rows) // SOME]
    with np.errstate(over="ignore"):
        usual, share = _usual(y[some] / x[some])
    scaled = share * (len(rows) / n)
    if abs(usual - 1) > SAME and scaled > equal:
        return EqualCells(name, other, scaled, 0.0, round(scaled * n), True)
    return (
        EqualCells(name, other, equal, np.count_nonzero(here & (y == mixed)) / n, round(equal * n)) if equal else None
    )


def _usual(ratios: Array) -> tuple[float, float]:
    """The most frequent ratio, and the share that have it."""
    ranked = np.sort(ratios)
    ends = np.flatnonzero(np.append(np.diff(ranked) > SAME * np.abs(ranked[1:]), True))
    lengths = np.diff(ends, prepend=-1)
    return float(ranked[ends[lengths.argmax()]]), float(lengths.max() / len(ranked))


def _rare(y: Array) -> Flags:
    there: Flags = np.isfinite(y) & (y != 0)
    _, place, counts = np.unique(y[there], return_inverse=True, return_counts=True)
    there[there] = counts[place] <= max(2, RARE * len(y))
    return there
