"""The records of a file at a level: columns, labels and weights, folded to moments within groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.group_moments import Cells, Grouping, GroupMoments, Pairs, looked_up
from suffice.design.design import Design
from suffice.rows.arrow import as_float
from suffice.rows.multiset import Words
from suffice.rows.rows import BLOCK, Block, Rows

if TYPE_CHECKING:
    from suffice.statistics.domain import Domain


CELLS = 2**21
"""Numbers that are sorted into groups at a time."""


@dataclass(frozen=True, repr=False)
class DomainColumns:
    """How the records of a file become columns, labels and weights."""

    level: Domain
    design: Design

    @property
    def centred(self) -> bool:
        """Second moments are about the means of the group where these are kept, else raw."""
        return self.design.intercept or "mean" in self.level.statistics

    @cached_property
    def given(self) -> tuple[int, ...]:
        return self.level.given(self.design)

    @cached_property
    def pairs(self) -> Pairs:
        """The products that the statistics of the level need."""
        m, k = len(self.given), self.design.k
        one, two = np.triu_indices(k if "covariance" in self.level.statistics else 0)
        across = np.repeat(np.arange(m), k), m + np.tile(np.arange(k), m)
        return Pairs.among(m + k, (one + m, two + m), across)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.design.columns, *self.level.by]))

    def moments(self, rows: Rows, groups: Words, centre: Array, sized: bool) -> tuple[GroupMoments, int, Array]:
        """Moments of the known groups about their centres, how many records are of other groups, largest values."""
        padded = np.pad(centre, ((0, 0), (0, 1)))  # the records of unknown groups are only counted

        def of(W: Array, words: Words, w: Array | None) -> Cells:
            records = Grouping.of(words)
            found, known = looked_up(records.labels, groups)
            found[~known] = len(groups)
            place = found[records.place]
            for row, middle in zip(W, padded, strict=True):
                row -= np.take(middle, place)
            return Cells.of(self.filled(W), records, w, self.pairs, sized)

        cells = self.fold(rows, of)
        place, known = looked_up(cells.labels, groups)
        size = np.abs(centre)
        if sized:
            size[:, place[known]] += cells.size[:, known]
        return cells.moments(groups, self.pairs), int(cells.records[~known].sum()), size

    def fold(self, rows: Rows, of: Callable[[Array, Words, Array | None], Cells]) -> Cells:
        """`of` some records at a time: as many as do not take too much room."""
        size = max(1, CELLS // (BLOCK * self.pairs.columns))

        def run_of(run: Sequence[Block]) -> Cells:
            parts = [run[first : first + size] for first in range(0, len(run), size)]
            return reduce(add, (of(*self._joined(part)) for part in parts))

        return reduce(add, rows.map(run_of, self.columns, "certifying"))

    def filled(self, W: Array) -> Array:
        """A column that is missing in a pattern counts as zeros there, before and after; other missing cells stay."""
        return np.where(np.isnan(W), 0.0, W) if self.level.holes else W

    def _joined(self, blocks: Sequence[Block]) -> tuple[Array, Words, Array | None]:
        W, words, weights = zip(*map(self._read, blocks), strict=True)
        w = None if self.design.roles.weight is None else np.concatenate(weights)
        return np.concatenate(W, axis=1), np.concatenate(words), w

    def _read(self, block: Block) -> tuple[Array, Words, Array | None]:
        Y = np.array([as_float(block.columns[name]) for name in self.design.confidential])
        X = self.design.given(block).T[list(self.given)] if self.given else np.empty((0, len(block)))
        return np.concatenate([X, Y]), self.level.labels(block, Y, self.design), self.design.weights(block)
