"""Some records as they leave: what stands unchanged beside the confidential values, for whoever guesses these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.group_moments import Grouping
from suffice.design.design import Design
from suffice.protection.protected import Protected
from suffice.rows.arrow import as_float, concatenated
from suffice.rows.multiset import Words, text_words
from suffice.rows.rows import Block
from suffice.statistics.domain import Domain

SAMPLE = 5000
"""Records that are looked at, where a file has more; always the same ones, so that a request has one verdict."""
WHOLE = 400
"""Records of a group that are looked at, where there are groups: all of a smaller one."""
ROOM = 2**23
"""Numbers that may be held of them."""


@dataclass(frozen=True, repr=False)
class LeavingSample:
    """The columns of some records: confidential ones, and all that leave as they are."""

    design: Design
    block: Block
    kept: tuple[str, ...]
    """Columns of `keep`."""

    @classmethod
    def of(cls, done: Protected) -> Self:
        design, rows = done.design, done.rows
        kept = [] if done.drawn is not None else [name for name in design.roles.keep if rows.kinds[name] in READ]
        columns = tuple(dict.fromkeys([*design.columns, *kept]))
        size = min(rows.n, SAMPLE, max(1, ROOM // (design.m + len(columns))))
        strata = max(design.levels, len(done.strata))
        share = min(1.0, max(size / rows.n, WHOLE * strata / rows.n)) if strata > 1 else size / rows.n
        groups = min(1.0, size / (rows.n * share))
        jitter = np.random.default_rng(0).random(count := max(1, round(rows.n * share)))
        places = np.unique(((np.arange(count) + jitter) * rows.n / count).astype(np.int64))

        def of(block: Block) -> list[dict[str, Any]]:
            first, last = np.searchsorted(places, [block.start, block.start + len(block)])
            chosen = places[first:last] - block.start
            if groups < 1:
                words = _strata(design, block)
                chosen = chosen[words[chosen] < np.uint64(groups * 2**64)]
            return [{name: values.take(_index(values, chosen)) for name, values in block.columns.items()}]

        parts = rows.fold(of, columns, "looking")
        return cls(design, Block(0, {name: concatenated([p[name] for p in parts]) for name in columns}), tuple(kept))

    @cached_property
    def Y(self) -> Array:
        return np.column_stack([as_float(self.block.columns[name]) for name in self.design.confidential])

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
        """Numeric columns that leave as they are."""
        columns = {name: self.block.columns[name] for name in (*self.design.fixed, *self.kept)}
        return {name: as_float(values) for name, values in columns.items() if isinstance(values, np.ndarray)}

    @cached_property
    def levels(self) -> dict[str, NDArray[Any]]:
        """Kept columns as categories: text, and whole numbers."""
        columns = {name: self.block.columns[name] for name in self.kept}
        return {name: text_words(v) if isinstance(v, pa.Array) else v for name, v in columns.items()}


READ = ("float", "integer", "category")


def _index(values: Any, chosen: NDArray[np.int64]) -> Any:
    return pa.array(chosen) if isinstance(values, pa.Array) else chosen


def _strata(design: Design, block: Block) -> Words:
    by = (*design.roles.groups, *([design.absorbed] if design.absorbed else []))
    Y = np.array([as_float(block.columns[name]) for name in design.confidential])
    return Domain.by_columns(by, design.roles.missing == "patterns").labels(block, Y, design)
