"""The levels of a column, each with the position that its dummies have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.design.levels import Levels, integers, joined_note, missing, small
from suffice.design.local_levels import LocalLevels
from suffice.design.term import Codes
from suffice.errors import InputError, count_of
from suffice.rows.bridge import numbers
from suffice.rows.rows import Block
from suffice.rows.sightings import Sightings


@dataclass(frozen=True)
class Category:
    """The levels of one column, each with the position that its dummies have.

    name: the column
    texts: the position of each level, where levels are text
    numbers: the levels in order, where they are whole numbers
    positions: the position of each of these
    absent: the position of missing cells, where these are a level; else -1
    size: how many positions there are
    notes: which levels were joined, and how many cells are missing, as counts
    local: which levels are joined in some groups only
    """

    name: str
    texts: Mapping[str, int] = field(repr=False)
    numbers: np.ndarray[Any, np.dtype[np.int64]] = field(repr=False)
    positions: Codes = field(repr=False)
    absent: int
    size: int
    notes: tuple[str, ...] = ()
    local: LocalLevels | None = None

    @classmethod
    def of(cls, name: str, levels: Levels, merge_below: int) -> Category:
        """Small levels are joined - and, where together they are still small, the next smallest with them."""
        ordered, known = sorted(levels.counts), dict(levels.counts.items())  # all text or all whole numbers
        holes = [levels.missing.count] if levels.missing else []
        counts = np.array([*map(known.__getitem__, ordered), *holes], dtype=np.intp)
        joined = small(counts, merge_below)
        positions = (np.cumsum(~joined) - 1).astype(np.intp)
        positions[joined] = (~joined).sum()
        size = int((~joined).sum() + joined.any())
        absent = int(positions[-1]) if holes else -1
        text = bool(ordered) and isinstance(ordered[0], str)
        texts = dict(zip(map(str, ordered), positions.tolist(), strict=False)) if text else {}
        numbers = integers([] if text else ordered)
        return cls(name, texts, numbers, positions[: len(numbers)], absent, size, _notes(name, counts[joined], holes))

    def codes(self, block: Block) -> Codes:
        """Position of every row's level; a level that was not learnt is an error."""
        column = block.columns[self.name]
        found = self._find_text(column) if isinstance(column, pa.Array) else self._find_number(column)
        if (found < 0).any():
            raise InputError(
                f"Column {self.name!r} is missing, or has a level that was not learnt: "
                f"{Sightings.of(found < 0, block.start)}.\nLearn from a file that has every level."
            )
        return found if self.local is None else self.local.codes(found, block)

    def without(self, gone: set[str]) -> Category:
        """The same for records that lack these confidential columns."""
        return self if self.local is None else replace(self, local=self.local.part(gone))

    def _find_text(self, column: Any) -> Codes:
        """Only the block's own levels are looked up: there may be a million others."""
        coded = column.dictionary_encode()
        places = [self.texts.get(level, -1) for level in coded.dictionary.to_pylist()]
        indices = numbers(coded.indices, len(places))
        return np.asarray(np.array([*places, self.absent], dtype=np.intp)[indices])

    def _find_number(self, column: Any) -> Codes:
        absent = missing(column)
        values = integers(np.where(absent, 0, column)) if absent.any() else integers(column)
        if not len(self.numbers):
            return np.where(absent, self.absent, -1)
        first, last = int(self.numbers[0]), len(self.numbers) - 1
        if int(self.numbers[-1]) - first == last:  # one after the other: a search would take ten times as long
            found = (values - first).clip(0, last)
        else:
            found = np.searchsorted(self.numbers, values).clip(max=last)
        known = np.where(self.numbers[found] == values, self.positions[found], -1)
        return np.where(absent, self.absent, known)


def _notes(name: str, joined: Codes, holes: list[int]) -> tuple[str, ...]:
    told = [f"{name}: missing in {count_of(each, 'record')}: a level of its own" for each in holes]
    if len(joined):
        told.append(joined_note(name, len(joined), count_of(int(joined.sum()), "record")))
    return tuple(told)
