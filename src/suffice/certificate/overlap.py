"""Records of the original that stand in a released file, whatever the order of either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import exp, log
from operator import add

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.rows.arrow import as_float
from suffice.rows.multiset import Multiset, Words, fingerprints, number_words, text_words
from suffice.rows.rows import Block, Rows

DIGITS = np.uint64(16)
"""Bits that values may differ in and still be the same: ten digits are left."""
MOST = 2**19
"""Records of a file whose fingerprints are held; of more, those whose values fall into a share of all fingerprints."""
RARE = 0.01
"""How probable a count may be and still be more than chance."""
LEAST = 0.01
"""Share of the records of one column alone."""
FEW = 5
"""Records of values that no other has: with fewer, and fewer cells than records, totals may decide all of them."""
DENSER = 3.0
"""Released values may lie closer together than those of the original, and meet them so much more often by chance."""


@dataclass(frozen=True, repr=False)
class RecordWords:
    """One word for the confidential values of every record, one for what stands beside them; blank ones left out."""

    values: Words
    beside: Words
    columns: tuple[Multiset, ...]
    """The values of every confidential column by itself."""

    @classmethod
    def of(cls, rows: Rows, confidential: Sequence[str], beside: Sequence[str], one_in: int) -> RecordWords:
        def look(run: Sequence[Block]) -> list[tuple[Words, Words, list[Multiset]]]:
            return [_seen(block, confidential, beside, one_in) for block in run]

        runs = rows.map(look, (*confidential, *beside), "comparing records")
        values, others, columns = zip(*(seen for run in runs for seen in run), strict=True)
        added = (reduce(add, column) for column in zip(*columns, strict=True))
        return cls(np.concatenate(values), np.concatenate(others), tuple(added))

    @property
    def whole(self) -> Words:
        return fingerprints(len(self.values), [self.values, self.beside])


def _seen(
    block: Block, confidential: Sequence[str], beside: Sequence[str], one_in: int
) -> tuple[Words, Words, list[Multiset]]:
    values = fingerprints(len(block), (_to_ten_digits(block.columns[name]) for name in confidential))
    others = fingerprints(len(block), _plain(block, beside))
    chosen = (values % np.uint64(one_in) == 0) & ~_blank(block, confidential)
    return values[chosen], others[chosen], [Multiset.of(block, [name]) for name in confidential]


def _plain(block: Block, names: Sequence[str]) -> Iterator[Words]:
    for column in (block.columns[name] for name in names):
        yield number_words(column) if isinstance(column, np.ndarray) else text_words(column)


def _to_ten_digits(column: object) -> Words:
    values = as_float(column) + 0.0  # -0 is 0
    words = np.where(np.isnan(values), np.nan, values).view(np.uint64)
    return number_words(((words + (np.uint64(1) << (DIGITS - np.uint64(1)))) >> DIGITS).astype(np.int64))


def _blank(block: Block, confidential: Sequence[str]) -> Flags:
    """Records of zeros and missing cells: that they are the same says nothing."""
    columns = (as_float(block.columns[name]) for name in confidential)
    return np.asarray(np.logical_and.reduce([(values == 0) | np.isnan(values) for values in columns]))


@dataclass(frozen=True)
class Overlap:
    """How many records of the original, of values that no other has, stand in a release, and how many would by chance.

    copies: beside what stood beside them. By chance, were released values dealt to other released records at random
    values: beside anything. By chance, were the release drawn anew: as many as values that two records have tell
        (Good and Turing: of n new records, 2 N2 are expected to meet one that was seen once)
    identical: both files hold the same records; decided: with so few distinct ones that nothing else may be possible
    """

    copies: int
    copies_by_chance: float
    values: int
    values_by_chance: float
    identical: bool
    decided: bool
    alone: bool
    """Nothing stands beside the values: they are the records."""
    least: float
    """Copies that are none: of one column alone nobody can tell whose a value is, and a mean may meet one."""
    records: int
    one_in: int
    """Of how many records one was looked at."""

    @classmethod
    def of(cls, before: Rows, after: Rows, confidential: Sequence[str], beside: Sequence[str]) -> Overlap:
        one_in = -(-max(before.n, after.n) // MOST)
        one, two = (RecordWords.of(rows, confidential, beside, one_in) for rows in (before, after))
        known, first, times = np.unique(one.values, return_index=True, return_counts=True)
        once = first[times == 1]
        met = once[_times(one.values[once], two.values) > 0]
        by_chance = (_times(one.beside[met], two.beside) * _times(one.values[met], two.values)).sum()
        few = len(known) * _distinct(one.beside) <= len(one.values) and len(once) < FEW
        apart = len(confidential) > 1 and one.columns == two.columns  # columns that were swapped apart meet once
        return cls(
            one_in * int((_times(one.whole[met], two.whole) > 0).sum()),
            one_in * float(by_chance) / max(len(two.values), 1),
            one_in * len(met),
            one_in * (apart + DENSER * 2.0 * int((times == 2).sum()) * after.n / max(before.n, 1)),
            bool(np.array_equal(np.sort(one.whole), np.sort(two.whole))),
            few,
            not beside,
            LEAST * after.n * (len(confidential) == 1 and not beside),
            after.n,
            one_in,
        )

    def _beyond(self, found: int, chance: float) -> bool:
        return beyond(found // self.one_in, chance / self.one_in)

    def finding(self) -> Finding | None:
        found, chance = (self.values, self.values_by_chance) if self.alone else (self.copies, self.copies_by_chance)
        said = "the released file has the records of the original; " * self.identical
        about = "about " * (self.one_in > 1)
        if (found >= self.least and self._beyond(found, chance)) or (self.identical and not self.decided):
            return Finding(
                "copies",
                "stop",
                f"{said}{about}{count(found, 'record')} of {self.records:,} ({share(found, self.records)}), of values "
                f"that no other record of the original has, released as they were; {chance:,.3g} by chance",
                "Protect these records, or leave them out.",
                {"copies": found, "records": self.records},
            )
        if not self.alone and self._beyond(self.values, self.values_by_chance):
            return Finding(
                "copies",
                "warn",
                f"confidential values of {about}{count(self.values, 'record')} of the original, which no other has, "
                "stand in the release beside other columns",
                "Whoever knows one of the values reads off the others.",
                {"values": self.values, "records": self.records},
            )
        return Finding("copies", "note", f"{said}so few distinct ones that chance explains it") if said else None


def _times(wanted: Words, among: Words) -> Array:
    """How often each word occurs."""
    ranked = np.sort(among)
    ends = (np.searchsorted(ranked, wanted, side=side) for side in ("right", "left"))
    return np.subtract(*ends).astype(np.float64)


def _distinct(words: Words) -> int:
    ranked = np.sort(words)
    return int((ranked[1:] != ranked[:-1]).sum()) + bool(len(ranked))


def beyond(found: int, chance: float) -> bool:
    """Whether so many are more than chance: Chernoff's bound for a Poisson count.

    >>> beyond(1, 0.0), beyond(3, 1.0), beyond(12, 1.0)
    (True, False, True)
    """
    if found <= chance:
        return False
    return chance == 0 or exp(found - chance - found * log(found / chance)) < RARE
