"""Columns of two files that tell each other, by records of which both know: up to a unit, an order, names of levels, or
as sums and parts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.risk.sketch import SHIFT, Places, Sketch, levelled
from suffice.rows.multiset import Words

ALIKE = 0.5
"""Share of the remembered records that are found again, and of those in which a sum is the same."""
PARTS = (1, 2, 4)
"""A sum is looked for in all records and in parts of them: a few may have changed, or stand elsewhere."""
LEAST, DIFFERENT, SPARE = 16, 12, 8
"""Records that are compared, at least; different values that an order is told by; records that a sum is told by, beyond
the columns that it has."""
ORDERED = 0.97
"""Share of the records that stand in one order."""
CLOSE = 0.05
"""Differences that totals of small cells hardly feel, those of rounded values: in shares of a value and of the median
distance."""
FEW, BITS = 4, 30.0
"""Records of each of few values, on average. That columns of these, dealt at random, are the same: one in 2^30."""
DIGITS, CANCEL = 3e-6, 100.0
"""What short floats leave of a sum, in units of its terms; how much larger than the sum these may be."""


@dataclass(frozen=True)
class Relation:
    """Columns of this file that tell columns of an earlier one, by their places.

    linear: as sums of these; broken: of the records that are compared, those in which it is another one
    """

    own: tuple[int, ...]
    former: tuple[int, ...]
    linear: bool
    broken: int = 0


@dataclass(frozen=True, repr=False)
class Alignment:
    """Rows of two sketches that are of one record.

    named: by the word of a column that no other has, else by their places
    gone: remembered records whose word no record of this file has
    """

    own: Sketch
    former: Sketch
    mine: Places
    theirs: Places
    named: bool
    gone: int = 0

    def parts(self) -> Iterator[slice]:
        """All rows, and a part at a time."""
        n = len(self.mine)
        yield from (slice(n * place // count, n * (place + 1) // count) for count in PARTS for place in range(count))

    def words(self, i: int, j: int) -> tuple[Words, Words]:
        return self.own.words[self.mine, i], self.former.words[self.theirs, j]


def alignments(own: Sketch, former: Sketch, beyond: int) -> list[Alignment]:
    """By a column that names records in both; else by places, one or two up or down where so many records are more or
    less: `beyond`. Of a file of quite another length nothing is known by places.
    """
    best = Alignment(own, former, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), named=True)
    for j in former.telling:
        for words in own.words.T:
            mine, theirs = _matched(words, former.words[:, j])
            if len(mine) > max(len(best.mine), ALIKE * len(former.places)):
                best = Alignment(own, former, mine, theirs, True, int((~np.isin(former.words[:, j], words)).sum()))
    if len(best.mine):
        return [best]
    shifts = [] if beyond > len(former.places) else [0, *([-beyond, beyond] if 0 < beyond <= SHIFT else [])]
    above = SHIFT + 1  # no place is 0, which is the word of a missing cell
    here, there = (own.places + above).view(np.uint64), former.places + above
    places = [_matched(here, (there + shift).view(np.uint64)) for shift in shifts]
    return [Alignment(own, former, *rows, named=False) for rows in places]


def _matched(one: Words, two: Words) -> tuple[Places, Places]:
    """Places of the words that both have, and each of them once."""
    found, first, counts = np.unique(one, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(found, two), len(found) - 1)
    there = (found[place] == two) & (counts[place] == 1) & (two != 0) if len(found) else np.zeros(len(two), dtype=bool)
    rows = np.flatnonzero(there)
    rows = rows[np.unique(place[rows], return_index=True)[1]]
    rows = rows[np.argsort(first[place[rows]])]
    return first[place[rows]].astype(np.int64), rows


def relations(
    found: Sequence[Alignment],
    own: tuple[Sequence[int], Sequence[int]],
    former: tuple[Sequence[int], Sequence[int]],
    known: tuple[set[int], set[int]],
) -> set[Relation]:
    """own, former: confidential columns, and those that leave as they are, of which no two are compared

    known: confidential columns of each that the other has too
    """
    new, old = ([place for place in own[0] if place not in known[0]], [j for j in former[0] if j not in known[1]])
    pairs = {(i, j) for i in new for j in (*old, *former[1])} | {(i, j) for i in own[1] for j in former[0]}
    sums = {(True, i, tuple(former[0])) for i in (*new, *own[1])} | {(True, i, tuple(former[1])) for i in new}
    sums |= {(False, j, tuple(own[place])) for j in old for place in (0, 1)}
    kin: dict[tuple[tuple[int, ...], tuple[int, ...]], Relation] = {}

    def add(mine: tuple[int, ...], theirs: tuple[int, ...], broken: int | None) -> None:
        if (mine, theirs) not in kin or not kin[mine, theirs].linear:
            kin[mine, theirs] = Relation(mine, theirs, broken is not None, broken or 0)

    for alignment in (each for each in found if len(each.mine) >= LEAST):
        V, U = levelled(alignment.own.values[alignment.mine]), levelled(alignment.former.values[alignment.theirs])
        far = [j for j in range(len(U.T)) if not alignment.named and _rises(U[:, j])]  # any file may be sorted
        alike = np.abs(_correlations(_ranks(V), _ranks(U)))
        for i, j in sorted(pairs):
            labels = partition(*alignment.words(i, j), alignment.named)
            if labels or (alike[i, j] > ORDERED and j not in far and in_order(V[:, i], U[:, j])):
                add((i,), (j,), None)
        for part in alignment.parts():
            near = _correlations(V[part], U[part]) ** 2
            for i, j in ((i, j) for i, j in pairs if not near[i, j] < 1 - 1e-5):
                if (told := combination(V[:, i], U[:, [j]], part)) is not None:
                    add((i,), (j,), told[1])
            for forward, column, others in sums:
                v, A = (V[:, column], U) if forward else (U[:, column], V)
                told = combination(v, A[:, list(others)], part) if len(others) > 1 else None
                if told is not None and len(told[0]) > 1:
                    few, alone = tuple(others[place] for place in told[0]), (column,)
                    add(alone if forward else few, few if forward else alone, told[1])
        for i, j in sorted(pairs):
            if j not in far and (off := _close(V[:, i], U[:, j])) is not None:
                add((i,), (j,), off)
    for i, j in sorted(pairs):
        if ((i,), (j,)) not in kin and one_gap(found, i, j):
            add((i,), (j,), 0)
    return {*kin.values()}


def combination(v: Array, U: Array, part: slice = slice(None)) -> tuple[tuple[int, ...], int] | None:
    """The fewest columns of which another is a sum, but for multiples and a constant, as some records tell it; and in
    how many of all it is not. None where it is none. Few values, which may stay for years, are told by all."""
    y, A = v[part], U[part]
    there = np.isfinite(y)
    y, A = y[there], A[there]
    columns = [j for j in range(A.shape[1]) if np.isfinite(A[:, j]).all() and np.ptp(A[:, j]) > 0] if len(y) else []
    if not columns or len(y) < len(columns) + 1 + DIFFERENT or _broken(y, A[:, columns]):
        return None
    for j in list(columns):
        fewer = [other for other in columns if other != j]
        if fewer and not _broken(y, A[:, fewer]):
            columns = fewer
    if len(np.unique(y)) < DIFFERENT and len(y) < len(v):
        return None
    broken = _broken(v, U[:, columns], part)
    enough = _uncommon(y) >= len(columns) + SPARE and broken <= ALIKE * _uncommon(v)
    return (tuple(columns), broken) if enough else None


def _close(v: Array, u: Array) -> int | None:
    """In how many records a column, in its own unit, is farther from another one than rounding takes it; None if in
    many. Both about their middles, in median distances: neither unit, origin nor sign matters."""
    there = np.isfinite(v) & np.isfinite(u)
    v, u = v[there], u[there]
    if len(v) < LEAST or min(len(np.unique(v)), len(np.unique(u))) < DIFFERENT:
        return None
    off = min(int(np.count_nonzero(np.abs(v - sign * u) > CLOSE * (1 + np.abs(v)))) for sign in (1, -1))
    return off if off <= (1 - ORDERED) * len(v) else None


def _uncommon(v: Array) -> int:
    """Records that have another value than most of them."""
    return len(v) - int(np.unique(v, return_counts=True)[1].max())


def _broken(v: Array, U: Array, part: slice = slice(None)) -> int:
    """In how many records a column is not the sum of others that some of them tell."""
    A, w = np.column_stack([np.ones(len(v)), U]), 1 / (1 + np.abs(v))  # what is far is known to as many digits
    there = np.isfinite(v[part]) & np.isfinite(A[part]).all(axis=1)
    B = (A * w[:, None])[part][there]
    size = np.maximum(np.linalg.norm(B, axis=0), 1e-300)
    told = np.linalg.lstsq(B / size, (v * w)[part][there], rcond=1 / CANCEL**2)[0] / size
    scale = 1 + np.abs(v)
    off = np.abs(v - A @ told) > DIGITS * np.minimum(scale + np.abs(A) @ np.abs(told), CANCEL * scale)
    return int(np.count_nonzero(off))


def _ranks(values: Array) -> Array:
    return np.asarray(np.argsort(np.argsort(values, axis=0), axis=0), dtype=np.float64)


def _correlations(V: Array, U: Array) -> Array:
    """Of the columns of one with those of the other; nan where cells are missing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        one, two = ((A - A.mean(axis=0)) / A.std(axis=0) for A in (V, U))
        return np.asarray(one.T @ two / len(V))


def in_order(u: Array, v: Array) -> bool:
    """Whether one column rises, or falls, where the other does: a logarithm, another currency, rounded values."""
    there = np.isfinite(u) & np.isfinite(v)
    u, v = u[there], v[there]
    fewer, more = sorted([len(np.unique(u)), len(np.unique(v))])
    if len(u) < LEAST or fewer < max(DIFFERENT, more / 2):
        return False
    sorted_by = [(v[np.lexsort([v, u])], v[np.lexsort([-v, u])]), (u[np.lexsort([u, v])], u[np.lexsort([-u, v])])]
    return any(max(_rising(up), _rising(-down)) >= ORDERED * len(u) for up, down in sorted_by)


def _rising(values: Array) -> int:
    """How many can stay so that those that do never fall."""
    ends: list[float] = []
    for value in values.tolist():
        place = bisect_right(ends, value)
        ends[place : place + 1] = [value]
    return len(ends)


def _rises(values: Array) -> bool:
    """Or falls, all the way."""
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def one_gap(found: Sequence[Alignment], i: int, j: int) -> bool:
    """Whether a column of few values is the same with one or two records less, or more, at one place."""
    if len(found) < 2:
        return False
    there: list[Flags] = []
    for each in found:
        mine, theirs = each.words(i, j)
        there.append(np.zeros(len(each.former.places), dtype=bool))
        there[-1][each.theirs] = mine == theirs
    before = np.append(True, np.logical_and.accumulate(there[0]))
    after = [np.append(np.logical_and.accumulate(moved[::-1])[::-1], True) for moved in there[1:]]
    gap = any((before[: len(before) - gone] & each[gone:]).any() for each in after for gone in range(SHIFT + 1))
    words = found[0].former.words[:, j]
    return gap and partition(words, words, False)


def partition(u: Words, v: Words, named: bool = True) -> bool:
    """Whether two columns of few values tell the same groups, whatever these are called."""
    there = (u != 0) & (v != 0)
    u, v = u[there], v[there]
    counts = np.unique(u, return_counts=True)[1]
    levels = len(counts)
    if not 1 < levels <= len(u) / FEW or (not named and np.count_nonzero(u[1:] != u[:-1]) < levels):
        return False
    ways = lgamma(len(u) + 1) - sum(lgamma(each + 1) for each in counts) - lgamma(levels + 1)
    if ways < BITS * log(2) or len(np.unique(v)) != levels:
        return False
    return len(np.unique(np.column_stack([u, v]), axis=0)) == levels
