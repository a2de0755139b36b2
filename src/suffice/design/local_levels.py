"""Levels that are small in a group or a pattern of missing cells, and are joined there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.design.levels import joined_note, small
from suffice.design.term import Codes
from suffice.design.units import few_units, once, unit_words
from suffice.errors import count_of
from suffice.rows.arrow import as_float
from suffice.rows.multiset import Words
from suffice.rows.rows import Block, Rows, Run

if TYPE_CHECKING:
    from suffice.design.category import Category

Keys = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class StratumKeys:
    """What tells the strata of a file: groups, and which confidential cells are missing.

    gone: columns that are missing in all records that are looked at, and not among their columns
    """

    groups: tuple[Category, ...]
    holes: tuple[str, ...]
    gone: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        return (*(each.name for each in self.groups), *self.holes)

    def keys(self, block: Block) -> Keys:
        """One number for each record, the same in the same stratum; an odd factor loses nothing where it overflows."""
        found = np.zeros(len(block), dtype=np.int64)
        for category in self.groups:
            found = found * category.size + category.codes(block)
        for name in self.holes:
            found = 3 * found + (1 if name in self.gone else np.isnan(as_float(block.columns[name])))
        return found


@dataclass(frozen=True, repr=False)
class LocalLevels:
    """Which levels are joined in which strata, and the positions that are left.

    cells: of a stratum and a level, where it is joined; positions: of each level where it is not; last: where it is
    """

    within: StratumKeys
    cells: Keys
    positions: Codes
    last: int

    def codes(self, found: Codes, block: Block) -> Codes:
        """Positions as they are after joining."""
        cells = _cells(self.within.keys(block), found, len(self.positions))
        at = np.searchsorted(self.cells, cells).clip(max=len(self.cells) - 1)
        return np.asarray(np.where(self.cells[at] == cells, self.last, self.positions[found]))

    def part(self, gone: set[str]) -> LocalLevels:
        """The same for records that lack these columns."""
        return replace(self, within=replace(self.within, gone=self.within.gone | gone))


def merged(
    rows: Rows, categories: Sequence[Category], within: StratumKeys, below: int, unit: str | None = None
) -> dict[str, Category]:
    """Categories whose levels with few records, or units, are joined stratum by stratum: in one pass over the file."""

    def of(run: Run) -> list[tuple[Any, ...]]:
        strata = np.concatenate([within.keys(block) for block in run])
        codes = [np.concatenate([category.codes(block) for block in run]) for category in categories]
        units = None if unit is None else np.concatenate([unit_words(block, unit) for block in run])
        return [_counted(strata, code, category.size, units) for category, code in zip(categories, codes, strict=True)]

    columns = tuple(
        dict.fromkeys([*(category.name for category in categories), *within.columns, *([unit] if unit else [])])
    )
    parts = list(zip(*rows.map(of, columns, "learning levels in groups"), strict=True))
    return {
        each.name: _joined(each, part, within, below, unit is not None)
        for each, part in zip(categories, parts, strict=True)
    }


def _cells(strata: Keys, codes: Codes, size: int) -> Keys:
    return np.asarray(strata * (size | 1) + codes)


def _counted(strata: Keys, codes: Codes, size: int, units: Words | None) -> tuple[Any, ...]:
    """Every cell of a stratum and a level, both of these, and the records that it has, or its units one by one."""
    cells = _cells(strata, codes, size)
    if units is not None:
        first = once(cells, units)
        return cells[first], strata[first], codes[first], units[first]
    cells, first, counts = np.unique(cells, return_index=True, return_counts=True)
    return cells, strata[first], codes[first], counts


def _joined(
    category: Category, parts: Sequence[tuple[Any, ...]], within: StratumKeys, below: int, by_units: bool
) -> Category:
    cells, strata, codes, told = (np.concatenate(each) for each in zip(*parts, strict=True))
    if by_units:
        again = once(cells, told)
        cells, strata, codes, told = cells[again], strata[again], codes[again], told[again]
    cells, first, inverse = np.unique(cells, return_index=True, return_inverse=True)
    counts = np.bincount(inverse, weights=None if by_units else told).astype(np.intp)
    strata, codes = strata[first], codes[first]
    order = np.lexsort((codes, strata))
    joined, place = np.zeros(len(cells), dtype=bool), np.empty(len(cells), dtype=np.intp)
    by_cell = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))[:-1]) if by_units else []
    for members in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        if by_units and (counts[members] < below).any():
            own = np.concatenate([by_cell[each] for each in members])
            place[members] = np.arange(len(members))
            joined[members] = few_units(place[inverse[own]], told[own], below)
        elif not by_units:
            joined[members] = small(counts[members], below)
    if not joined.any():
        return category
    left = np.bincount(codes[~joined], minlength=category.size) > 0  # a level that is nowhere left has no column
    many = len(np.unique(told[joined[inverse]])) if by_units else int(counts[joined].sum())
    note = joined_note(category.name, int(joined.sum()), count_of(many, "unit" if by_units else "record"))
    if (every := len(np.unique(strata))) > 1:
        note += f", each in its group or pattern of missing cells: {len(np.unique(strata[joined]))} of {every} have any"
    local = LocalLevels(within, cells[joined], np.maximum(np.cumsum(left) - 1, 0), int(left.sum()))
    return replace(category, local=local, size=local.last + 1, notes=(*category.notes, note))
