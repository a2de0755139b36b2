"""Records released with their own confidential values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.measure.measure import DEALT, SHARE, Measure, Value, beside_chance
from suffice.measure.numbers import FileNumbers, Numbers, total
from suffice.measure.pair import FilePair
from suffice.protection.aligned import AlignedBlock
from suffice.protection.strata import Labels
from suffice.rows.arrow import as_float
from suffice.rows.derived import RELEASED
from suffice.rows.rows import Block, Rows

SAME, DIGITS = 1e-6, 1e-5
"""A value released within this share of a standard deviation is the value itself, where its digits stay, too."""
MOST = 10_000
"""Copies that are looked at, at most, to tell whether others have their values."""


@dataclass(frozen=True)
class Copies:
    """Rows whose confidential values, those that never change and all-zero records aside, leave as they are."""

    rows: tuple[int, ...] = ()

    def __add__(self, other: Self) -> Copies:
        return Copies(self.rows + other.rows)

    def unique(self, rows: Rows, names: tuple[str, ...]) -> int:
        """How many of them have values that no other record has."""
        if not self.rows:
            return 0
        wanted = np.array(self.rows[:MOST])

        def keys(block: Block) -> list[bytes]:
            return [row.tobytes() for row in _confidential(block, names)]

        def chosen(block: Block) -> list[bytes]:
            here = set((wanted[(wanted >= block.start) & (wanted < block.start + len(block))] - block.start).tolist())
            return [key for i, key in enumerate(keys(block)) if i in here] if here else []

        candidates = set(rows.fold(chosen, names, "comparing"))
        found = rows.fold(lambda block: [key for key in keys(block) if key in candidates], names, "comparing")
        times = dict.fromkeys(candidates, 0)
        for key in found:
            times[key] += 1
        return sum(count == 1 for count in times.values())


def by_chance(aligned: Rows, design: Design, strata: Labels | None) -> float:
    """Copies to be expected if released rows stood anywhere in their stratum, of n records: one of every n - 1 that are
    another's of it, whose values nobody else has. Own ones are what is judged, and no chance.

    Whole numbers meet by chance, and values that are dealt in a small group; numbers of many digits do not.
    """
    names, n = design.confidential, aligned.n
    before, after = (FileNumbers(aligned, each) for each in (names, tuple(RELEASED + name for name in names)))
    place, labels = _met(before, after), np.zeros(n, dtype=np.int32) if strata is None else strata
    rows = np.flatnonzero(place >= 0)
    others = rows[place[rows] != rows]
    inside = labels[others[labels[others] == labels[place[others]]]]
    return float((1 / np.maximum(np.bincount(labels)[inside] - 1, 1)).sum())


def drawn_again(rows: Rows, names: tuple[str, ...], drawn: Array) -> int:
    """Records of the original, of values that no other has, among those that were drawn anew."""
    candidates = {row.tobytes() for row in drawn}

    def of(block: Block) -> list[bytes]:
        return [key for row in _confidential(block, names) if (key := row.tobytes()) in candidates]

    times = Counter(rows.fold(of, names, "comparing"))
    return sum(count == 1 for count in times.values())


@dataclass(frozen=True, repr=False)
class CopyMeasure:
    """Looks for copies; `still`: columns that do not change."""

    spread: Spread
    still: Flags

    def of(self, aligned: AlignedBlock) -> Copies:
        rows = _the_same(aligned.Y, aligned.change, self.spread.sd, np.flatnonzero(~self.still))
        return Copies(tuple((rows + aligned.start).tolist()))


def _the_same(Y: Array, change: Array, sd: Array, moving: NDArray[np.intp]) -> NDArray[np.intp]:
    """Records with something other than zeros in some columns, whose values there leave as they are."""
    few = moving[:1]  # of most columns hardly any record stays by so much
    rows = np.flatnonzero((np.abs(change[:, few]) <= SAME * sd[few]).all(axis=1))
    for j in moving:
        rows = rows[same_values(Y[rows, j], change[rows, j], sd[j])]
        if not len(rows):
            break
    return np.asarray(rows[(Y[np.ix_(rows, moving)] != 0).any(axis=1)] if len(moving) else rows[:0])


def _confidential(block: Block, names: tuple[str, ...]) -> Array:
    return np.column_stack([as_float(block.columns[name]) for name in names])


def same_values(y: Array, change: Array, sd: Array | float) -> Flags:
    """Which values leave as they are: a millionth of a standard deviation is wider than those that are tiny.

    >>> same_values(np.array([0.0, 1e-9, 1.0]), np.array([1e-14, 1e-9, 1e-7]), 1.0).tolist()
    [True, False, True]
    """
    return np.asarray(np.abs(change) <= np.minimum(SAME * sd, np.maximum(DIGITS * np.abs(y), SAME**2 * sd)))


def copied(Y: Numbers, Ystar: Numbers) -> float:
    """The share of records whose values all leave within 1e-6 standard deviations; all-zero records aside.

    >>> copied(np.eye(4), np.eye(4)), copied(np.eye(4), -np.eye(4))
    (1.0, 0.0)
    """
    before = FileNumbers.of(Y)
    all_, sd = np.arange(len(before.names)), before.spread.sd

    def of(one: Array, two: Array) -> NDArray[np.int64]:
        return np.array([len(_the_same(one, two - one, sd, all_)), (one != 0).any(axis=1).sum()])

    same, there = total(of, before, Ystar)
    return float(same / there) if there else 0.0


def found_again(Y: Numbers, Ystar: Numbers) -> float:
    """The share of released records that are, to the digit, an original whose values no other has; zeros aside.

    A record is told by a word of 64 bits; a missing cell is one in both files.

    >>> Y = np.array([[1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [0.0, 0.0]])
    >>> found_again(Y, Y), found_again(Y[:2], Y[1::-1])
    (0.25, 1.0)
    """
    return float((_met(Y, Ystar) >= 0).mean())


def _met(Y: Numbers, Ystar: Numbers) -> NDArray[np.intp]:
    """For each released record the place of the one original that it is; -1 where none is, or several are."""
    before, after = (np.concatenate(total(lambda A: [_words(A)], each)) for each in (Y, Ystar))
    values, first, times = np.unique(before, return_index=True, return_counts=True)
    at = np.minimum(np.searchsorted(values, after), len(values) - 1)
    return np.where((values[at] == after) & (times[at] == 1) & (after != 0), first[at], -1)


def _words(A: Array) -> NDArray[np.uint64]:
    """For each record a word; 0 for one of zeros."""
    weights = np.random.default_rng(1).integers(2**63, size=A.shape[1], dtype=np.uint64) | np.uint64(1)
    bits = np.ascontiguousarray(np.nan_to_num(A) + 0.0).view(np.uint64)  # -0.0 is 0.0
    return np.asarray(((bits ^ (bits >> np.uint64(29))) * weights).sum(axis=1, dtype=np.uint64))


def _anywhere(pair: FilePair) -> Value:
    """Beside what is found where every released column is dealt to any records: of many, to some."""
    rng = np.random.default_rng(1)
    dealt = np.column_stack([rng.permutation(column) for column in pair.release.some(DEALT).T])
    return Value(found_again(pair.original, pair.release), chance=found_again(pair.original, dealt))


MEASURES = (
    Measure(
        "copies",
        lambda pair: beside_chance(copied, pair.original, pair.release),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records whose confidential values all leave within a millionth of a standard deviation of their own, "
        "and with five of its digits; those with nothing but zeros aside",
        whole=True,
    ),
    Measure(
        "copies-anywhere",
        _anywhere,
        frozenset({"numbers"}),
        SHARE,
        "higher is riskier",
        "share of released records whose confidential values are, to the digit, those of one original record, "
        "whichever it is; those with nothing but zeros aside",
        whole=True,
    ),
)
