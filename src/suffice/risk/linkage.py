"""Whether a record's own released record is the nearest to it: linking by distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.protection.aligned import AlignedBlock
from suffice.risk.matches import Matches
from suffice.risk.sample import RecordSample

WORTH = 0.1
"""A share of linked records below this, among sampled ones, is no finding: among all they are fewer."""
SOME, TRIED = 500, 200
"""Records that are looked for among sampled released ones, and among all."""
SAME = 1e-9
ROOM = 2**15
"""Distances that are held at a time: near the processor."""


def linkage(sample: RecordSample) -> Matches:
    """Sampled records whose own released one is the nearest among the sampled; alike ones share the link."""
    if not len(sample.Y) or not sample.names:
        return Matches()
    measure = LinkMeasure.of_sample(sample, tuple(range(len(sample.names))), SOME)
    return measure.matches(measure.compared(np.nan_to_num(sample.Ystar / measure.scale)), len(sample.Y))


@dataclass(frozen=True, repr=False)
class LinkMeasure:
    """Counts the released records that are nearer to some than their own, and those as near."""

    columns: tuple[int, ...]
    scale: Array
    Y: Array
    Ystar: Array

    @classmethod
    def of_sample(cls, sample: RecordSample, columns: tuple[int, ...], most: int = TRIED) -> LinkMeasure:
        """columns: where those of the sample stand among the confidential ones"""
        sd = np.nanstd(sample.Y, axis=0)
        scale = np.where(sd > 0, sd, 1.0)
        some = np.linspace(0, len(sample.Y) - 1, min(most, len(sample.Y))).astype(np.intp)
        Y, Ystar = (np.nan_to_num(A[some] / scale) for A in (sample.Y, sample.Ystar))
        return cls(columns, scale, Y, Ystar)

    def of(self, aligned: AlignedBlock) -> NDArray[np.int64]:
        return self.compared(aligned.Ystar[:, self.columns] / self.scale)

    def compared(self, released: Array) -> NDArray[np.int64]:
        own, found = np.linalg.norm(self.Ystar - self.Y, axis=1), np.empty((2, len(self.Y)), dtype=np.int64)
        step = max(1, ROOM // max(1, len(released)))
        for some in (slice(i, i + step) for i in range(0, len(self.Y), step)):
            squares = np.zeros((len(own[some]), len(released)))
            for a, b in zip(self.Y[some].T, released.T, strict=True):
                squares += np.square(a[:, None] - b)
            distance, reach = np.sqrt(squares), own[some, None]
            found[0, some] = np.count_nonzero(distance < reach * (1 - SAME) - SAME, axis=1)
            found[1, some] = np.count_nonzero(distance <= reach * (1 + SAME) + SAME, axis=1)
        return found

    def matches(self, found: NDArray[np.int64], n: int) -> Matches:
        linked = found[0] == 0
        return Matches(len(self.Y), float((1 / np.maximum(found[1][linked], 1)).sum()), len(self.Y) / n)
