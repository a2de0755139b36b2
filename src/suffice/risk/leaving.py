"""Some records as they leave: what stands unchanged beside the confidential values, for whoever guesses these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.group_moments import Grouping
from suffice.design.design import Design
from suffice.errors import attempt
from suffice.protection.aligned import AlignedBlock
from suffice.protection.protected import Protected
from suffice.risk.text_numbers import text_numbers
from suffice.rows.arrow import as_float, concatenated
from suffice.rows.bridge import arrow
from suffice.rows.multiset import Words, text_words
from suffice.rows.rows import Block
from suffice.statistics.domain import Domain

SAMPLE = 5000
"""Records that are looked at, where a file has more; always the same ones, so that a request has one verdict."""
WHOLE = 400
"""Records of a group that are looked at, where there are groups: all of a smaller one."""
CODE = 1e150
"""From here on a number has no square, and is a code for what is missing: -1.8e308 in files of SPSS."""
ROOM = 2**23
"""Numbers that may be held of them."""


@dataclass(frozen=True, repr=False)
class LeavingMeasure:
    """Gathers the columns of some records while all are mapped.

    places: rows that may be taken, in order
    part: of the groups, the share that is taken; the others' records are not
    """

    design: Design
    places: NDArray[np.int64]
    part: float = 1.0

    @classmethod
    def of_file(cls, n: int, design: Design, groups: int) -> Self:
        """groups: how many are protected by themselves"""
        size, groups = min(n, SAMPLE, max(1, ROOM // (design.m + len(design.columns)))), max(groups, design.levels)
        share = min(1.0, max(size, WHOLE * groups if groups > 1 else 0) / n)
        count = max(1, round(n * share))
        jitter = np.random.default_rng(0).random(count)
        places = ((np.arange(count) + jitter) * n / count).astype(np.int64)  # in order
        return cls(design, places[np.diff(places, prepend=-1) > 0], min(1.0, size / (n * share)))

    def of(self, aligned: AlignedBlock) -> list[Block]:
        """Records that were drawn anew are nobody's."""
        return self.taken(aligned.block, self.design.columns) if aligned.block.columns else []

    def taken(self, block: Block, columns: Sequence[str]) -> list[Block]:
        first, last = np.searchsorted(self.places, [block.start, block.start + len(block)])
        chosen = self.places[first:last] - block.start
        if self.part < 1 and len(chosen):
            chosen = chosen[_strata(self.design, block)[chosen] < np.uint64(self.part * 2**64)]
        return [Block(block.start, {n: cells_at(block.columns[n], chosen) for n in columns})] if len(chosen) else []


@dataclass(frozen=True, repr=False)
class LeavingSample:
    """The columns of some records: confidential ones, and all that leave as they are."""

    design: Design
    block: Block
    kept: tuple[str, ...] = ()
    """Columns of `keep`."""
    dates: tuple[str, ...] = ()
    """Confidential columns whose zero means nothing."""
    unread: tuple[str, ...] = ()
    """Columns of `keep` that nobody looks into: lists, bytes."""

    @classmethod
    def of(cls, done: Protected, dates: tuple[str, ...] = ()) -> Self:
        """Kept columns are no part of what was mapped: they cost a pass."""
        design, rows = done.design, done.rows
        keep = () if done.drawn else design.roles.keep
        kept = tuple(name for name in keep if rows.kinds[name] in READ)
        unread = tuple(name for name in keep if name not in kept)
        columns, parts = tuple(dict.fromkeys([*design.columns, *kept])), done.seen["leaving"]
        if kept or (done.drawn and rows.held):
            measure = LeavingMeasure.of_file(rows.n, design, len(done.strata))
            parts = rows.fold(lambda block: measure.taken(block, columns), columns, "looking")
        if not parts:
            return cls(design, Block(0, {name: np.empty(0) for name in columns}), kept, dates, unread)
        found = {name: concatenated([part.columns[name] for part in parts]) for name in columns}
        return cls(design, Block(0, found), kept, dates, unread)

    def __len__(self) -> int:
        return len(self.block)

    @cached_property
    def Y(self) -> Array:
        """Column by column, as they are looked at."""
        return np.array([as_float(self.block.columns[name]) for name in self.design.confidential]).T

    @cached_property
    def traits(self) -> tuple[str, ...]:
        """Confidential columns of two values, one of them zero: their totals are counts."""
        pairs = zip(self.design.confidential, self.Y.T, strict=True)
        return tuple(name for name, y in pairs if len(y) and 0 in y and len(np.unique(y[np.isfinite(y)])) == 2)

    @cached_property
    def X(self) -> Array:
        return self.design.given(self.block)

    @cached_property
    def strata(self) -> Grouping | None:
        """Groups within which everything is kept, and levels of an absorbed factor."""
        design = self.design
        if not (design.roles.groups or design.absorbed or design.roles.missing == "patterns"):
            return None
        return Grouping.of(_strata(design, self.block))

    @cached_property
    def numbers(self) -> dict[str, Array]:
        """Numeric columns that leave as they are, and text that can be read as numbers."""
        columns = {name: self.block.columns[name] for name in (*self.design.fixed, *self.kept)}
        read = {
            name: v if isinstance(v, np.ndarray) else attempt(partial(text_numbers, v)) for name, v in columns.items()
        }
        found = {name: as_float(values) for name, values in read.items() if values is not None}
        return {name: np.where(np.abs(x) < CODE, x, np.nan) if len(x) else x for name, x in found.items()}

    @cached_property
    def levels(self) -> dict[str, NDArray[Any]]:
        """Kept columns as categories: text, and whole numbers."""
        columns = {name: self.block.columns[name] for name in self.kept}
        return {name: text_words(v) if isinstance(v, pa.Array) else v for name, v in columns.items()}


READ = ("float", "integer", "category", "date")


def cells_at(values: Any, chosen: NDArray[np.int64]) -> Any:
    """Some cells of a column."""
    return values.take(arrow(chosen) if isinstance(values, pa.Array) else chosen)


def _strata(design: Design, block: Block) -> Words:
    by = (*design.roles.groups, *([design.absorbed] if design.absorbed else []))
    Y = np.array([as_float(block.columns[name]) for name in design.confidential])
    return Domain.by_columns(by, design.roles.missing == "patterns").labels(block, Y, design)
