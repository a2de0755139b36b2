"""Distance-based record linkage: is the own released record the nearest? (Pagliuca & Seri 1999; Calvino 2017, 4.1)"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import sqrt
from operator import add

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.numbers import FileNumbers, Numbers, sample_places
from suffice.measure.pair import FilePair
from suffice.protection.aligned import AlignedBlock
from suffice.risk.matches import Matches
from suffice.risk.sample import RecordSample

WORTH = 0.1
"""A share of linked records below this, among sampled ones, is no finding: among all they are fewer."""
TRIED, SOME = 100_000, 200
"""Records that are looked for among all released ones, at most: by a measure, and by a guard, which has less time."""
SAME = 1e-9
ROUNDING = 1e-12
SMALL = 2**22
"""Pairs of records that are compared one by one; more are looked for in a tree."""
TOGETHER = 2**20
"""Released records in one tree."""
ROOM = 2**15
"""Distances that are held at a time: near the processor."""


@dataclass(frozen=True, repr=False)
class LinkMeasure:
    """For some records: whether released ones are nearer than their own, and how many are as near.

    Distances are Euclidean, in columns that are divided by the original's standard deviation.
    """

    columns: tuple[int, ...]
    scale: Array
    Y: Array
    own: Array
    """How far each is from its own released one."""

    @classmethod
    def of_records(cls, Y: Array, Ystar: Array, scale: Array, columns: tuple[int, ...] = ()) -> LinkMeasure:
        """columns: where theirs stand among the confidential ones"""
        one, two = (_scaled(A, scale) for A in (Y, Ystar))
        two -= one
        return cls(columns, scale, one, np.sqrt(np.einsum("ij,ij->i", two, two)))

    @classmethod
    def of_sample(cls, sample: RecordSample, columns: tuple[int, ...] = (), most: int | None = None) -> LinkMeasure:
        """Of sampled records, or some of them."""
        sd, n = np.nanstd(sample.Y, axis=0), len(sample.Y)
        some = slice(None) if most is None else np.linspace(0, n - 1, min(most, n)).astype(np.intp)
        return cls.of_records(sample.Y[some], sample.Ystar[some], np.where(sd > 0, sd, 1.0), columns)

    def of(self, aligned: AlignedBlock) -> NDArray[np.int64]:
        return self.compared(aligned.Ystar[:, self.columns])

    def compared(self, released: Array) -> NDArray[np.int64]:
        """Nearer ones, and those as near, among some released records: sums over all of them are those of the file."""
        released = _scaled(released, self.scale)
        if len(self.Y) * len(released) > SMALL:
            from suffice.algorithms.nearer import as_near  # compiled loops, where they are worth it

            count = as_near(self.Y, released, self.own, SAME)
            return np.array([count < 0, np.maximum(count, 0)], dtype=np.int64)
        found = np.zeros((2, len(self.Y)), dtype=np.int64)
        near, far = np.maximum(self.own * (1 - SAME) - SAME, 0.0) ** 2, (self.own * (1 + SAME) + SAME) ** 2
        A, B = self.Y - self.Y.mean(axis=0), released - self.Y.mean(axis=0)
        a, b = np.square(A).sum(axis=1), np.square(B).sum(axis=1)
        lost, step = ROUNDING * (a + b.max(initial=0.0)), max(1, ROOM // max(1, len(released)))
        for some in (slice(i, i + step) for i in range(0, len(A), step)):
            rough = A[some] @ (-2 * B.T)  # |a - b|^2 = |a|^2 + |b|^2 - 2 ab, up to what is lost
            rough += b
            found[0, some] = np.count_nonzero(rough < (near - a - lost)[some, None], axis=1)
            for i in some.start + np.flatnonzero(found[0, some] == 0):
                few = np.flatnonzero(rough[i - some.start] <= far[i] - a[i] + lost[i])
                squares = np.square(released[few] - self.Y[i]).sum(axis=1)
                found[:, i] = np.count_nonzero(squares < near[i]), np.count_nonzero(squares <= far[i])
        return found

    def links(self, found: NDArray[np.int64]) -> Array:
        """For each record 1/m where the own released one is among the m nearest of all, else 0."""
        return np.where(found[0] == 0, 1 / np.maximum(found[1], 1), 0.0)

    def matches(self, found: NDArray[np.int64], n: int) -> Matches:
        return Matches(len(self.Y), float(self.links(found).sum()), len(self.Y) / n)


def _scaled(A: Array, scale: Array) -> Array:
    """In units of each column; what is missing is 0, which one sum tells for all."""
    scaled = np.asarray(A / scale)
    return scaled if np.isfinite(scaled.sum()) else np.nan_to_num(scaled, copy=False)


def linkage(sample: RecordSample) -> Matches:
    """Sampled records whose own released one is the nearest among the sampled."""
    if not len(sample.Y) or not sample.names:
        return Matches()
    measure = LinkMeasure.of_sample(sample)
    return measure.matches(measure.compared(sample.Ystar), len(sample.Y))


def distance_linkage(Y: Numbers, Ystar: Numbers) -> float:
    """The share of records whose own released record is the nearest of all; m that are equally near count 1/m.

    Distances are Euclidean, in columns that are divided by the original's standard deviation. 1 / n is chance.

    >>> Y = np.arange(8.0).reshape(4, 2)
    >>> distance_linkage(Y, Y), distance_linkage(Y, Y[::-1]), distance_linkage(Y, 0 * Y)
    (1.0, 0.0, 0.25)
    """
    return float(links(Y, Ystar, np.arange(len(Y))).sum() / max(1, len(Y)))


def links(Y: Numbers, Ystar: Numbers, places: NDArray[np.int64]) -> Array:
    """For the records at some places 1/m where the own released one is among the m nearest of all, else 0."""
    before, after = FileNumbers.of(Y), FileNumbers.of(Ystar)
    measure = LinkMeasure.of_records(before.at(places), after.at(places), before.scale)
    return measure.links(reduce(add, map(measure.compared, after.pieces(TOGETHER))))


def interval(share: float, tried: int, sure: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share among so many that were drawn.

    >>> [round(end, 3) for end in interval(0.0, 100)]
    [0.0, 0.037]
    """
    z = sure**2 / tried
    middle, half = (share + z / 2) / (1 + z), sqrt(share * (1 - share) * z + z**2 / 4) / (1 + z)
    return max(0.0, middle - half), min(1.0, middle + half)


def _looked_for(pair: FilePair) -> Value:
    n = len(pair.original)
    share = float(links(pair.original, pair.release, sample_places(n, TRIED)).mean())
    if n <= TRIED:
        return Value(share, chance=1 / n)
    low, high = interval(share, TRIED)
    said = f"{TRIED:,} records are looked for among {n:,} released ones; low and high: their 95 % interval"
    return Value(share, {"low": low, "high": high}, 1 / n, said)


MEASURES = (
    Measure(
        "distance-linkage",
        _looked_for,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records whose own released record is the nearest of all, by Euclidean distance in columns divided "
        "by the original's standard deviation; of m that are equally near each counts 1/m",
        "Pagliuca & Seri (1999); Calvino (2017), section 4.1",
        whole=True,
    ),
)
