"""Some records of a file, the same ones in any order of the rows: by these, columns of different files are compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.design.levels import missing
from suffice.design.units import exact_words
from suffice.errors import attempt
from suffice.risk.leaving import cells_at
from suffice.risk.text_numbers import text_numbers
from suffice.rows.arrow import as_float
from suffice.rows.multiset import Words, fingerprints
from suffice.rows.rows import Block

RECORDS = 128
"""Records of a file that are remembered."""
SHIFT = 2
"""Places by which records are looked for that stand where others were left out or added."""
OWN = 0.9
"""Share of the records that a column tells apart, from which it tells which record is which."""
TABLE = 2**20

Places = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Search:
    """Records that earlier releases remember: places, and words of columns that tell one record."""

    places: Places
    words: Words

    @classmethod
    def of(cls, sketches: Iterable[Sketch]) -> Self:
        found = tuple(sketches)
        near = [each.places + shift for each in found for shift in range(-SHIFT, SHIFT + 1)]
        words = [each.words[:, each.telling].ravel() for each in found]
        return cls(
            np.unique(np.concatenate([np.empty(0, dtype=np.int64), *near])),
            np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *words])),
        )

    @cached_property
    def _table(self) -> Flags:
        table: Flags = np.zeros(TABLE, dtype=bool)
        table[self.words % np.uint64(TABLE)] = True
        return table

    def among(self, words: Words) -> Places:
        """Which of many words are wanted."""
        maybe = np.flatnonzero(self._table[(words & np.uint64(TABLE - 1)).astype(np.intp)])
        return np.asarray(maybe[np.isin(words[maybe], self.words) & (words[maybe] != 0)])


@dataclass(frozen=True, repr=False)
class Sketch:
    """Records by their places, with a keyed word and a number for each of their cells: a fold.

    words: 0 where missing; values: nan where missing, and of text that is no number and no date
    turns: keyed numbers; the records of the smallest ones are remembered
    asked: records that earlier releases remember
    """

    places: Places
    words: Words
    values: Array
    turns: Words
    asked: Flags

    @classmethod
    def of(cls, block: Block, columns: Sequence[str], by: Sequence[str], key: int, wanted: Search | None) -> Self:
        """by: columns that name a record, by which some are chosen; without any it is their places"""
        places = np.arange(block.start, block.start + len(block))
        known = {name: keyed(block.columns[name], key) for name in (columns if wanted is not None else by)}
        turns = fingerprints(len(block), [known[name] for name in by] or [places.view(np.uint64) ^ np.uint64(key)])
        asked: Flags = np.zeros(len(block), dtype=bool)
        if wanted is not None:
            first, last = np.searchsorted(wanted.places, [block.start, block.start + len(block)])
            asked[wanted.places[first:last] - block.start] = True
            for name in columns:
                asked[wanted.among(known[name])] = True
        chosen = asked.copy()
        chosen[np.argpartition(turns, RECORDS)[:RECORDS] if len(block) > RECORDS else slice(None)] = True
        rows = np.flatnonzero(chosen)
        cells = [cells_at(block.columns[name], rows) for name in columns]
        words = [known[n][rows] if n in known else keyed(cell, key) for n, cell in zip(columns, cells, strict=True)]
        values = [_numbers(each) for each in cells]
        shape = len(columns), len(rows)
        return cls(
            places[rows],
            np.reshape(np.array(words, dtype=np.uint64), shape).T,
            np.reshape(np.array(values, dtype=np.float64), shape).T,
            turns[rows],
            asked[rows],
        )

    def __add__(self, other: Self) -> Sketch:
        names = ("places", "words", "values", "turns", "asked")
        both = Sketch(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))
        if len(both.turns) <= RECORDS:
            return both
        return both._rows(np.flatnonzero(both.asked | (both.turns <= np.partition(both.turns, RECORDS)[RECORDS])))

    def _rows(self, rows: Places) -> Sketch:
        return Sketch(self.places[rows], self.words[rows], self.values[rows], self.turns[rows], self.asked[rows])

    @cached_property
    def telling(self) -> Places:
        """Columns that tell which record is which."""
        once = [np.unique(each[each != 0], return_counts=True)[1] for each in self.words.T]
        return np.flatnonzero([(counts == 1).sum() > OWN * len(self.places) for counts in once])

    def packed(self) -> bytes:
        """The records that are remembered; values of each column about its middle, to the digits of a short float."""
        found = self._rows(np.sort(np.argsort(self.turns, kind="stable")[:RECORDS]))
        table = np.empty(len(found.places), dtype=_form(self.words.shape[1]))
        table["place"], table["words"], table["values"] = found.places, found.words, levelled(found.values)
        return table.tobytes()

    @classmethod
    def unpacked(cls, data: bytes, columns: int) -> Self:
        table = np.frombuffer(data, dtype=_form(columns))
        none, all_of = np.zeros(len(table), dtype=np.uint64), np.ones(len(table), dtype=bool)
        return cls(table["place"], table["words"], table["values"].astype(np.float64), none, all_of)


def keyed(values: Any, key: int) -> Words:
    """A word for each cell that tells nothing without the key; 0 where it is missing."""
    words = fingerprints(len(values), [exact_words(values) ^ np.uint64(key)])
    words[missing(values)] = 0
    return words


def _numbers(cells: Any) -> Array:
    """What cells say in numbers, as their readers take them: "1.234,56" tells the amount."""
    read = cells if isinstance(cells, np.ndarray) else attempt(partial(text_numbers, cells))
    return np.full(len(cells), np.nan) if read is None else as_float(read)


def levelled(values: Array) -> Array:
    """Every column about its middle, in the distance that half of the other values have from it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns of text, which have no values
        around = values - np.nanmedian(values, axis=0)
        scale = np.nanmedian(np.where(around == 0, np.nan, np.abs(around)), axis=0)
    return np.asarray(around / np.where(scale > 0, scale, 1.0))


def _form(columns: int) -> np.dtype[Any]:
    return np.dtype([("place", "<i8"), ("words", "<u8", (columns,)), ("values", "<f4", (columns,))])
