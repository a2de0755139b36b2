"""A regression whose columns are crossed with clusters, pieces and groups of clusters, fitted to any file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.crossed import basis, noise, rank, removed
from suffice.algebra.group_moments import Grouping, in_order
from suffice.design.design import Design
from suffice.rows.arrow import as_float
from suffice.rows.multiset import Words
from suffice.rows.rows import Block, Rows
from suffice.statistics.domain import Domain
from suffice.statistics.sums import Fold, Look

ColumnList = list[Array]

TOGETHER = 2**14
"""Records whose clusters are worked on at a time: their columns fit near the processor."""


class Remainder(NamedTuple):
    """What a regression leaves of X and Y, and its rank in every group."""

    X: Mapping[str, ColumnList]
    Y: ColumnList
    ranks: NDArray[np.int64]


@dataclass(frozen=True)
class CrossedRegression:
    """The regression of (18): local columns crossed with clusters, others with pieces or groups, the rest with nothing.

    by: columns that tell "clusters", "pieces" and "groups" of clusters, and those within which "all" is done
    formulas: terms that are "local", "pieces_given", "groups_given" and "overall"; the constant is crossed with
        clusters and pieces
    holes: whether patterns of missing cells are apart from each other
    """

    by: tuple[tuple[str, tuple[str, ...]], ...]
    formulas: tuple[tuple[str, str], ...]
    holes: bool = False

    @property
    def levels(self) -> Mapping[str, Domain]:
        return {place: Domain(place, names, self.holes) for place, names in self.by}

    def designs(self, rows: Rows, design: Design) -> dict[str, Design]:
        """How the columns of each kind are made from those of a file; levels are learnt from the original."""
        roles = replace(design.roles, labels=(), keep=(), identifiers=(), edits=())
        return {
            name: Design.learn(rows, replace(roles, given=formula), absorb=False) for name, formula in self.formulas
        }


@dataclass(frozen=True, repr=False)
class CrossedFit:
    """A file with its regression: residuals E_3 + E_4 of the whole, E_4 of each cluster's own, and their scale."""

    design: Design
    designs: Mapping[str, Design]
    words: Mapping[str, Words]
    given: Mapping[str, ColumnList]
    """The columns as they are, times `root`: how large they are tells what is rounding."""
    X: Mapping[str, ColumnList]
    """The same, where there are weights less the first record of each cluster: a constant is taken out anyway, and an
    offset times a root would cost digits."""
    Y: ColumnList
    root: Array
    """Roots of the weights; ones without."""

    @classmethod
    def look(cls, design: Design, crossing: CrossedRegression, designs: Mapping[str, Design]) -> Look:
        """A pass over the file; all of it is held, sorted by clusters."""
        levels, by = crossing.levels, [name for _, names in crossing.by for name in names]
        columns = tuple(dict.fromkeys([*design.columns, *by]))
        parts = yield Fold(lambda run: [_read(block, design, levels, designs) for block in run], columns)
        Y, roots, words, given = zip(*parts, strict=True)
        labels = {place: np.concatenate([each[place] for each in words]) for place in levels}
        order = in_order(labels["clusters"])  # a cluster's records side by side: its sums are fast

        def sorted_(blocks: Sequence[NDArray[Any]]) -> NDArray[Any]:
            column = np.concatenate(blocks)
            return column if order is None else np.take(column, order, mode="clip")  # to look at each takes as long

        def columns_of(tables: Sequence[Array]) -> ColumnList:
            return [sorted_([table[j] for table in tables]) for j in range(len(tables[0]))]

        root, told = sorted_(roots), {place: sorted_([each]) for place, each in labels.items()}
        X, Ys = {name: columns_of([each[name] for each in given]) for name in designs}, columns_of(Y)
        if design.roles.weight is None:
            return cls(design, designs, told, X, X, Ys, root)
        clusters = Grouping.of(told["clusters"])
        first = clusters.order[clusters.starts][clusters.place]
        weighted = {name: [root * column for column in columns] for name, columns in X.items()}
        apart = {name: [root * (column - column[first]) for column in columns] for name, columns in X.items()}
        return cls(design, designs, told, weighted, apart, [root * y for y in Ys], root)

    @cached_property
    def groupings(self) -> Mapping[str, Grouping]:
        return {place: Grouping.of(words) for place, words in self.words.items()}

    def _taken(
        self, X: Mapping[str, ColumnList], Y: ColumnList, place: str, names: Sequence[str], constant: bool
    ) -> Remainder:
        """What the columns of some names, crossed with some groups, leave of Y and of the columns of other names."""
        groups, others = self.groupings[place], [name for name in X if name not in names]
        left = {name: [np.empty_like(x) for x in X[name]] for name in others}
        rest, ranks = [np.empty_like(y) for y in Y], []
        wide = place != "clusters"  # only the records of a cluster stand side by side
        for here, part in [(slice(None), groups)] if wide else groups.parts(TOGETHER):
            raw = [x[here] for name in names for x in self.given.get(name, [])]
            ones = [self.root[here]] if constant else []
            least = np.vstack([np.zeros((len(ones), len(part.labels))), noise(part, raw, self.root[here])])
            Q = basis(part, [*ones, *(x[here] for name in names for x in X.get(name, []))], least)
            for name in others:
                for out, x in zip(left[name], X[name], strict=True):
                    out[here] = removed(part, Q, x[here])
            for out, y in zip(rest, Y, strict=True):
                out[here] = removed(part, Q, y[here])
            ranks.append(rank(part, Q))
        return Remainder(left, rest, np.concatenate(ranks))

    @cached_property
    def _local(self) -> Remainder:
        """Less fits in pieces and clusters; the ranks are those in clusters."""
        if "pieces" not in self.groupings:
            return self._taken(self.X, self.Y, "clusters", ["local"], constant=True)
        fine = self._taken(self.X, self.Y, "pieces", ["pieces_given"], constant=True)
        found = self._taken(fine.X, fine.Y, "clusters", ["local"], constant=False)
        return found._replace(ranks=found.ranks + self._in_clusters(fine.ranks))

    def _in_clusters(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Ranks in pieces, added up in the clusters that these are pieces of."""
        clusters, pieces = self.groupings["clusters"], self.groupings["pieces"]
        of = pieces.sorted(clusters.place)[pieces.starts]
        return np.bincount(of, weights=ranks, minlength=len(clusters.labels)).astype(np.int64)

    @cached_property
    def _own(self) -> Remainder:
        """E_4: what each cluster's own regression on all columns leaves."""
        return self._taken(*self._local[:2], "clusters", ["groups_given", "overall"], constant=False)

    @property
    def own(self) -> ColumnList:
        return self._own.Y

    @property
    def freedom(self) -> NDArray[np.int64]:
        """Dimensions that each cluster's own regression leaves."""
        return np.asarray(self.groupings["clusters"].counts - self._local.ranks - self._own.ranks)

    @cached_property
    def whole(self) -> ColumnList:
        """E_3 + E_4: what the whole regression leaves."""
        X, Y, _ = self._local
        for name, place in (("groups_given", "groups"), ("overall", "all")):
            if name in X:
                X, Y, _ = self._taken(X, Y, place, [name], constant=False)
        return Y


def _read(
    block: Block, design: Design, levels: Mapping[str, Domain], designs: Mapping[str, Design]
) -> tuple[Array, Array, dict[str, Words], dict[str, Array]]:
    Y = np.array([as_float(block.columns[name]) for name in design.confidential])
    w = design.weights(block)
    root = np.ones(len(block)) if w is None else np.sqrt(w)
    words = {place: level.labels(block, Y, design) for place, level in levels.items()}
    given = {name: own.given(block).T[1:] for name, own in designs.items()}  # the constant is crossed as it is
    return np.where(np.isnan(Y), 0.0, Y), root, words, given
