"""Levels that are small in a group or a pattern of missing cells, and are joined there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.design.levels import JOINED, small
from suffice.design.term import Codes
from suffice.rows.arrow import as_float
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


def merged(rows: Rows, categories: Sequence[Category], within: StratumKeys, below: int) -> dict[str, Category]:
    """Categories whose small levels are joined stratum by stratum: in one pass over the file."""

    def of(run: Run) -> list[tuple[Keys, Keys, Codes, Keys]]:
        strata = np.concatenate([within.keys(block) for block in run])
        codes = [np.concatenate([category.codes(block) for block in run]) for category in categories]
        return [_counted(strata, code, category.size) for category, code in zip(categories, codes, strict=True)]

    columns = tuple(dict.fromkeys([*(category.name for category in categories), *within.columns]))
    parts = list(zip(*rows.map(of, columns, "learning levels in groups"), strict=True))
    return {each.name: _joined(each, part, within, below) for each, part in zip(categories, parts, strict=True)}


def _cells(strata: Keys, codes: Codes, size: int) -> Keys:
    return np.asarray(strata * (size | 1) + codes)


def _counted(strata: Keys, codes: Codes, size: int) -> tuple[Keys, Keys, Codes, Keys]:
    """Every cell of a stratum and a level, both of these, and the records that it has."""
    cells, first, counts = np.unique(_cells(strata, codes, size), return_index=True, return_counts=True)
    return cells, strata[first], codes[first], counts


def _joined(category: Category, parts: Sequence[tuple[Keys, ...]], within: StratumKeys, below: int) -> Category:
    cells, strata, codes, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    cells, first, inverse = np.unique(cells, return_index=True, return_inverse=True)
    strata, codes, counts = strata[first], codes[first], np.bincount(inverse, weights=counts).astype(np.intp)
    order = np.lexsort((codes, strata))
    joined = np.zeros(len(cells), dtype=bool)
    for members in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        joined[members] = small(counts[members], below)
    if not joined.any():
        return category
    left = np.bincount(codes[~joined], minlength=category.size) > 0  # a level that is nowhere left has no column
    note = f"{category.name}: {joined.sum()} small levels ({counts[joined].sum()} records) {JOINED}"
    if (every := len(np.unique(strata))) > 1:
        note += f", each in its group or pattern of missing cells: {len(np.unique(strata[joined]))} of {every} have any"
    local = LocalLevels(within, cells[joined], np.maximum(np.cumsum(left) - 1, 0), int(left.sum()))
    return replace(category, local=local, size=local.last + 1, notes=(*category.notes, note))
