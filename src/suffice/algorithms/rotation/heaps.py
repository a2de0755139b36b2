"""Heaps: values that many records share. Values that turn all differ, so heaps are given back when a walk ends."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algorithms.rotation.column_sums import BETWEEN
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.densities import MANY_ZEROS, Densities
from suffice.algorithms.rotation.drift import ENOUGH, WalkMoments, corrected, dependent_span
from suffice.method.records import Records

MOST = 0.5
"""Of a column, at most: the other cells give the moments back."""
TOLD = 1e-9
"""A column with more than this share in what other columns tell stays as it is."""


def with_heaps(
    Ystar: Array, ratio: float, records: Records, ground: Constraints, law: Densities
) -> tuple[Array, float]:
    """Cells between the quantiles of the law that a heap lies between get its value; others give the moments back.

    Who is on a heap is decided by the walk. Where the others cannot give them back, a release has no heaps.
    """
    if not len(law.table):
        return Ystar, ratio
    moments = WalkMoments.of(records, ground)
    free = np.diag(dependent_span(moments.Q, moments.scaled(records.Y))) < TOLD
    heaped, held = Ystar.copy(), np.zeros(Ystar.shape, dtype=bool)
    for j in np.flatnonzero(free & ~(ground.C != 0).any(axis=0)).tolist():
        if law.known(j):
            _column(heaped[:, j], held[:, j], records.original[:, j], law, j)
    if not held.any():
        return Ystar, ratio
    made, left = corrected(heaped, records, ground, held)
    return (made, left) if left <= max(ENOUGH, ratio) else (Ystar, ratio)


def _column(new: Array, held: Flags, y: Array, law: Densities, j: int) -> None:
    """Put the heaps of a column y in their places."""
    values, count = np.unique(y[y != 0] if law.empty[j] else y, return_counts=True)
    many = (count >= max(BETWEEN, MANY_ZEROS * len(y))) & (values != 0)
    if not 0 < count[many].sum() <= MOST * len(y):
        return
    last = np.cumsum(count) / count.sum()
    shares = np.stack([last - count / count.sum(), last])[:, many]
    for value, low, high in zip(values[many], *law.quantiles(j, shares, y), strict=True):
        inside = (new >= low) & (new <= high) & (new != 0)
        new[inside] = value
        held |= inside
