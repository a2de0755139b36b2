"""Whether a record is found by its ranks: the nearest in ranks, or alone within the reach of every column."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.protection.aligned import AlignedBlock
from suffice.risk.distance_linkage import SAME
from suffice.risk.matches import Matches
from suffice.risk.sample import RecordSample

SOME, TRIED, PAIRS = 500, 200, 2**15
"""Records that are looked for among sampled released ones, and among all; pairs that are compared at a time."""
DEALS = 2000
"""Records of all deals of the released ones in which those that are alone by chance are counted; one deal at least."""
REACHES = (1.0, 0.99, 0.95)
"""Shares of the records whose way, in each column, a window holds: of a swap all, of what followed it most."""


@dataclass(frozen=True)
class RankMatches:
    """Records found in ranks: `linked` by distance, `alone` in the intersection of all windows."""

    linked: Matches = field(default_factory=Matches)
    alone: Matches = field(default_factory=Matches)

    def __add__(self, other: Self) -> RankMatches:
        return RankMatches(self.linked + other.linked, self.alone + other.alone)


def rank_matches(sample: RecordSample, least: int = -1) -> RankMatches:
    """Sampled records that are found among the sampled released ones, those of a small stratum in their own.

    least: the first stratum that is looked at; 0: only small ones
    """
    found, chance, turned, columns = RankMatches(), 0.0, 0.0, tuple(range(len(sample.names)))
    for stratum in np.unique(sample.strata[sample.strata >= least]) if columns else ():
        own = sample.inside(stratum)
        n, most = len(own.Y), max(1, SOME * len(own.Y) // len(sample.Y))
        places = np.linspace(1, max(n - 1, 1), max(1, min(n - 1, DEALS // len(sample.Y)))).astype(int)
        measure, here = _measured(own, columns, most)
        found += here
        chance += float(np.mean([_measured(own.shifted(by), columns, most)[1].alone.found for by in places]))
        turned += measure.turned(np.nan_to_num(own.Ystar))
    return RankMatches(replace(found.linked, chance=turned), replace(found.alone, chance=chance))


def _measured(sample: RecordSample, columns: tuple[int, ...], most: int) -> tuple[RankMeasure, RankMatches]:
    measure = RankMeasure.of_sample(sample, columns, most)
    return measure, measure.matches(measure.compared(np.nan_to_num(sample.Ystar)), len(sample.Y))


@dataclass(frozen=True, repr=False)
class RankMeasure:
    """Counts released records that are nearer in ranks than the own one, as near, and inside each set of windows.

    Ranks of released values are those among the sampled original ones, or among the sampled released ones: whichever
    finds more. A value has all the ranks of its equals, from the first to the last of them; a value between two of them
    is half way.
    """

    columns: tuple[int, ...]
    places: NDArray[np.intp]
    """Of the records that are looked for, in the sample."""
    first: Array
    last: Array
    ways: tuple[RankWay, ...]

    @classmethod
    def of_sample(cls, sample: RecordSample, columns: tuple[int, ...], most: int = TRIED) -> Self:
        """columns: where those of the sample stand among the confidential ones"""
        Y, Ystar = np.nan_to_num(sample.Y), np.nan_to_num(sample.Ystar)
        before, some = rank_ends(np.sort(Y, axis=0), Y), np.linspace(0, len(Y) - 1, min(most, len(Y))).astype(np.intp)
        ways = tuple(RankWay.of(before, np.sort(A, axis=0), Ystar, some) for A in (Y, Ystar))
        return cls(columns, some, before[0][some], before[1][some], ways)

    def of(self, aligned: AlignedBlock) -> NDArray[np.int64]:
        return self.compared(aligned.Ystar[:, self.columns])

    def compared(self, released: Array) -> NDArray[np.int64]:
        return np.array([way.compared(self.first, self.last, released) for way in self.ways])

    def turned(self, released: Array) -> float:
        """How many are linked by chance: the mean over n deals of the released records, each a place further.

        The larger of two numbers is more than each: of unrelated records in tens it is .14 of them, not .10.
        """
        return float(np.max([way.turned(self.first + self.last, self.places, released) for way in self.ways], 0).mean())

    def matches(self, found: NDArray[np.int64], n: int) -> RankMatches:
        tried = len(self.first)
        linked, alone = np.max([way.found(each) for way, each in zip(self.ways, found, strict=True)], axis=0)
        return RankMatches(Matches(tried, float(linked), tried / n), Matches(tried, float(alone), tried / n))


@dataclass(frozen=True, repr=False)
class RankWay:
    """One way to rank released values."""

    inorder: Array
    own: Array
    """Squared distances of records from their own released ones, in twice the ranks."""
    windows: Array
    there: NDArray[np.bool_]
    """Whether the own released record is inside the windows."""

    @classmethod
    def of(cls, before: tuple[Array, Array], inorder: Array, Ystar: Array, some: NDArray[np.intp]) -> Self:
        after = rank_ends(inorder, Ystar)
        way = np.maximum(np.maximum(after[0] - before[1], before[0] - after[1]), 0)
        windows = np.quantile(way, REACHES, axis=0, method="higher")
        own = ((before[0] + before[1] - after[0] - after[1])[some] ** 2).sum(axis=1)
        return cls(inorder, own, windows, np.asarray((way[some, None, :] <= windows).all(axis=2)))

    def compared(self, lowest: Array, highest: Array, released: Array) -> NDArray[np.int64]:
        first, last = (np.asfortranarray(ends) for ends in rank_ends(self.inorder, released))
        middle, size = _sized(first + last)
        found = np.empty((2 + len(self.windows), len(self.own)), dtype=np.int64)
        for some in _parts(len(self.own), len(released)):
            low, high, own = lowest[some], highest[some], self.own[some, None]
            distance = _distance(low + high, middle, size)
            found[0, some] = np.count_nonzero(distance < own * (1 - SAME), axis=1)
            found[1, some] = np.count_nonzero(distance <= own * (1 + SAME), axis=1)
            for number, window in enumerate(self.windows):
                inside = np.ones_like(distance, dtype=np.bool_)
                for j, reach in enumerate(window):
                    inside &= first[:, j] <= (high[:, [j]] + reach)
                    inside &= last[:, j] >= (low[:, [j]] - reach)
                found[2 + number, some] = np.count_nonzero(inside, axis=1)
        return found

    def turned(self, sought: Array, places: NDArray[np.intp], released: Array) -> Array:
        """How many are linked where every original record has the released one 0, 1, 2... places before it."""
        linked, (middle, size) = np.zeros(len(released)), _sized(np.add(*rank_ends(self.inorder, released)))
        for some in _parts(len(places), len(released)):
            distance = _distance(sought[some], middle, size)
            nearest = np.flatnonzero(distance <= distance.min(axis=1, keepdims=True) * (1 + SAME))
            record, nearest = np.divmod(nearest, len(linked))  # much faster than `np.nonzero` of a matrix
            np.add.at(linked, (places[some][record] - nearest) % len(linked), 1 / np.bincount(record)[record])
        return linked

    def found(self, seen: NDArray[np.int64]) -> tuple[float, float]:
        """How many are linked, and alone."""
        linked = (1 / np.maximum(seen[1][seen[0] == 0], 1)).sum()
        return float(linked), float(((seen[2:] == 1) & self.there.T).sum(axis=1).max())


def _parts(sought: int, released: int) -> list[slice]:
    """Few records at a time, so that all they are compared with lies near the processor."""
    step = max(1, PAIRS // max(1, released))
    return [slice(start, start + step) for start in range(0, sought, step)]


def _sized(middle: Array) -> tuple[Array, Array]:
    return middle, np.asarray((middle**2).sum(axis=1))


def _distance(own: Array, middle: Array, size: Array) -> Array:
    """Squared, in twice the ranks: a row for each that is sought. Whole numbers, so that no digit is lost."""
    return np.asarray(size + (own**2).sum(axis=1)[:, None] - 2 * own @ middle.T)


def rank_ends(inorder: Array, values: Array) -> tuple[Array, Array]:
    """The first and the last rank of every value, column by column; a value between two ranks is half way.

    >>> [ends.ravel().tolist() for ends in rank_ends(np.array([[1.0], [2.0], [2.0]]), np.array([[0.9], [1.1], [2.0]]))]
    [[-0.5, 0.5, 1.0], [-0.5, 0.5, 2.0]]
    """
    pairs = list(zip(inorder.T, values.T, strict=True))
    first = np.column_stack([np.searchsorted(y, v, "left") for y, v in pairs]).astype(np.float64)
    last = np.column_stack([np.searchsorted(y, v, "right") - 1.0 for y, v in pairs])
    middle, between = (first + last) / 2, last < first
    return np.where(between, middle, first), np.where(between, middle, last)


def _found(pair: FilePair, kind: str) -> Value:
    sample = RecordSample(pair.numbers, pair.Y, pair.Ystar, np.zeros(len(pair.Y), dtype=np.int64))
    matches: Matches = getattr(rank_matches(sample), kind)
    said = "" if matches.of == len(pair.Y) else f"{matches.of:,.0f} records are looked for"
    return Value(matches.found / max(matches.of, 1.0), {}, matches.chance / max(matches.of, 1.0), said)


MEASURES = (
    Measure(
        "rank-linkage",
        partial(_found, kind="linked"),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records whose own released record is the nearest of all in ranks, by Euclidean distance; released "
        "values are ranked among the original's or among their own, whichever finds more; of m that are equally near "
        "each counts 1/m; by chance: the mean over deals of the released records, each a place further than the last",
        "Nin, Herranz & Torra (2008)",
        most=5_000,
    ),
    Measure(
        "rank-intersection",
        partial(_found, kind="alone"),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records whose own released record is the only one within a window of ranks in every column, released "
        "values being ranked among the original's or among their own; the windows hold the way of all, 99 % or 95 % of "
        "the records in each column: whichever finds most; by chance: where released records are dealt to others",
        "Nin, Herranz & Torra (2008)",
        most=5_000,
    ),
)
