"""Trees grown to their least leaves, all nodes of a level at once; the sums of splits are whole numbers, so that one
tree comes of any order of records."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags

Codes = NDArray[np.int64]
Bins = NDArray[np.uint8]

CELLS = 2**22
"""Sums that are held at a time: nodes of a level are taken in portions."""
POINT = 2.0**24
"""Numbers are whole multiples of this part of their range: sums of 2^20 of them are exact."""
CLASSES = 12
"""Classes that splits are judged by: the most frequent ones, and all others together."""
WORTH = 1e-8
"""A split must lower the impurity of the root by this share."""
LOOPS = 2**14
"""Cells from which on compiled loops are looked for: it takes a while to load them."""


def _loops(bins: Bins) -> Any:
    """The module of compiled loops, which give the same tree, where there is work for them or they are there."""
    if bins.size < LOOPS and f"{__package__}.compiled" not in sys.modules:
        return None
    from suffice.algorithms.trees import compiled

    return compiled if compiled.COMPILED else None


@dataclass(frozen=True, repr=False)
class Tree:
    """Nodes in the order of their levels: the column that splits each, which bins go left, and the two nodes below.

    column: -1 in a leaf; below: the left node, the right one is the next; left: a bit for each of `width` bins
    """

    column: NDArray[np.int16]
    below: NDArray[np.int32]
    left: Bins
    width: int

    @classmethod
    def grown(
        cls,
        bins: Bins,
        ranked: Sequence[bool],
        y: Array,
        least: int,
        counted: Array | None = None,
        classes: int = 0,
        gain: float = 0.0,
    ) -> tuple[Tree, Codes]:
        """A tree, and the leaf of every record.

        bins: a column for each predictor; ranked: whether its bins have an order, else they get one in each node
        y: what leaves are to be alike in, whole numbers; or places among so many `classes`
        counted: 0 for records that are copies of others, which are not counted in a leaf; else 1
        gain: by how many variances of its node a split must lower the sum of squares in it; chance alone lowers it by
            one wherever the cut is, and by more where it is the best of many
        """
        return _Growth(bins, ranked, y, least, counted, classes, gain).tree()

    def leaves(self, bins: Bins) -> Codes:
        """The leaf of every record.

        >>> bins = np.array([[1], [1], [2], [2]], dtype=np.uint8)
        >>> Tree.grown(bins, [True], np.array([0.0, 0, 5, 5]), 2)[0].leaves(bins).tolist()
        [1, 1, 2, 2]
        """
        if loops := _loops(bins):
            return np.asarray(loops.descend(bins, self.column, self.below, self.left, self.width))
        node, rows = np.zeros(len(bins), dtype=np.int64), np.arange(len(bins))
        while True:
            at = node[rows]
            rows, at = rows[(inner := self.column[at] >= 0)], at[inner]
            if not len(rows):
                return node
            b = np.minimum(bins[rows, self.column[at]], self.width - 1)
            node[rows] = self.below[at] + 1 - (self.left[at, b >> 3] >> (7 - (b & 7)) & 1)

    def goes_left(self, node: int) -> Flags:
        """Which bins do, in a node."""
        return np.unpackbits(self.left[node], count=self.width).astype(bool)


def in_fixed_point(y: Array) -> Array:
    """Numbers as whole numbers about their middle.

    >>> in_fixed_point(np.array([0.0, 1.0])).tolist()
    [-8388608.0, 8388608.0]
    """
    low, span = y.min(initial=np.inf), np.ptp(y) if len(y) else 0.0
    return np.asarray(np.rint((y - low) / (span or 1.0) * POINT) - POINT / 2)


def in_classes(codes: Codes) -> tuple[Array, int]:
    """The place of each class, the most frequent first, and how many there are: all but some share the last one. Of two
    classes one is enough: they are numbers."""
    found, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    column = np.empty(len(found))
    column[order] = np.minimum(np.arange(len(found)), CLASSES - 1)
    return (column[places.ravel()], min(len(found), CLASSES)) if len(found) > 2 else (1 - column[places.ravel()], 0)


@dataclass(frozen=True, repr=False)
class _Splits:
    """The best split of every node by one column: gain, and which bins go left."""

    gain: Array
    left: Flags


class _Growth:
    def __init__(
        self, bins: Bins, ranked: Sequence[bool], y: Array, least: int, counted: Array | None, classes: int, gain: float
    ) -> None:
        self.bins, self.ranked, self.y, self.classes, self.least = bins, ranked, y, classes, least
        self.gain, self.counted, self.width = (
            gain,
            counted,
            int(bins.max(initial=0)) + 2,
        )  # a bin that is not there goes right
        squares, n = (float(len(y)) if classes else float((y * y).sum())), max(len(y), 1)
        total = np.bincount(y.astype(np.int64), minlength=classes) * 1.0 if classes else y.sum()
        self.worth = WORTH * (squares - float((total * total).sum()) / n)
        self.loops = _loops(bins)

    def tree(self) -> tuple[Tree, Codes]:
        if self.loops:
            once = np.empty(0) if self.counted is None else self.counted
            ranked, wide = np.array(self.ranked, dtype=bool), self.bins.max(axis=0, initial=0)
            asked = wide, ranked, self.y, self.classes, once, self.least, self.gain, self.worth, self.width
            column, below, left, leaf = self.loops.grow(self.bins, *asked)
            return Tree(column, below, left, self.width), leaf
        levels, known, leaf = list[tuple[Any, ...]](), 1, np.zeros(len(self.y), dtype=np.int64)
        rows, ends, nodes = np.arange(len(self.y)), np.array([0, len(self.y)]), 1
        while nodes:
            chosen, go = np.full(nodes, -1), np.zeros((nodes, self.width), dtype=bool)
            node = np.repeat(np.arange(nodes), np.diff(ends))
            for first, last in self._portions(nodes):
                part = slice(ends[first], ends[last])
                self._choose(rows[part], node[part] - first, chosen[first:last], go[first:last])
            inner = chosen >= 0
            down = np.where(inner, known + 2 * (np.cumsum(inner) - 1), -1)
            levels.append((chosen.astype(np.int16), down.astype(np.int32), np.packbits(go, axis=1)))
            ended = np.repeat(~inner, np.diff(ends))
            leaf[rows[ended]] = np.repeat(known - nodes + np.flatnonzero(~inner), np.diff(ends)[~inner])
            rows, node = rows[stay := inner[node]], node[stay]
            node = down[node] - known + ~go[node, self.bins[rows, chosen[node]]]
            rows = rows[np.argsort(node, kind="stable")]
            nodes = 2 * int(inner.sum())
            ends = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=nodes))])
            known += nodes
        column, below, left = (np.concatenate(each) for each in zip(*levels, strict=True))
        return Tree(column, below, left, self.width), leaf

    def _portions(self, nodes: int) -> Iterator[tuple[int, int]]:
        most = max(1, CELLS // (self.width * (max(self.classes, 1) + 2)))
        for first in range(0, nodes, most):
            yield first, min(first + most, nodes)

    def _choose(self, rows: Codes, node: Codes, chosen: Codes, go: Flags) -> None:
        """Fills in the best column of every node, and its bins that go left."""
        nodes, Y = len(chosen), self.y[rows][:, None]
        Y = (np.arange(self.classes) == Y).astype(np.float64) if self.classes else Y
        counted = None if self.counted is None else self.counted[rows]
        total = np.stack([np.bincount(node, y, nodes) for y in Y.T])
        own, many = (total**2).sum(axis=0) / np.bincount(node, minlength=nodes), np.bincount(node, counted, nodes)
        impurity = np.bincount(node, (Y * Y).sum(axis=1), nodes) - own
        at = np.flatnonzero((many >= 2 * self.least) & (impurity > self.worth))  # others are leaves
        place = np.full(nodes, -1)
        place[at] = np.arange(len(at))
        alive = place[node] >= 0
        rows, node, Y, own = rows[alive], place[node[alive]], Y[alive], own[at]
        counted = None if counted is None else counted[alive]
        best = np.maximum(self.worth, self.gain * impurity[at] / many[at])
        for j, ranked in enumerate(self.ranked if len(at) else ()):
            found = self._by(self.bins[rows, j], node, len(at), Y, counted, ranked)
            better = np.flatnonzero(found.gain - own > best)
            best[better], chosen[at[better]] = (found.gain - own)[better], j
            go[at[better]] = found.left[better]

    def _by(self, bins: Bins, node: Codes, nodes: int, Y: Array, counted: Array | None, ranked: bool) -> _Splits:
        width, key = self.width, node * self.width + bins
        counts = np.bincount(key, minlength=nodes * width)
        cells = np.flatnonzero(counts)
        size: Array = counts[cells].astype(np.float64)
        sums: Array = np.stack([np.bincount(key, y, nodes * width)[cells] for y in Y.T]).astype(np.float64)
        many = size if counted is None else np.bincount(key, counted, nodes * width)[cells].astype(np.float64)
        best = _Splits(np.full(nodes, -np.inf), np.zeros((nodes, width), dtype=bool))
        orders = [None] if ranked else sums / size  # by the mean, or by the share of each class
        for means in orders:
            order: Codes = np.arange(len(cells)) if means is None else np.lexsort((cells, means, cells // width))
            self._ordered(cells[order], size[order], sums[:, order], many[order], means is None, best)
        return best

    def _ordered(self, cells: Codes, size: Array, sums: Array, many: Array, ranked: bool, best: _Splits) -> None:
        """The best cut of every node's cells in this order, where it is better than those before."""
        width, at = self.width, cells // self.width
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        ends, lengths = np.append(starts[1:], len(cells)) - 1, np.diff(np.append(starts, len(cells)))

        def both(values: Array) -> tuple[Array, Array]:
            """What lies up to each cell in its node, and what lies behind it."""
            up = np.cumsum(values, axis=-1)
            up = up - np.repeat(up[..., starts] - values[..., starts], lengths, axis=-1)
            return up, np.repeat(up[..., ends], lengths, axis=-1) - up

        (n, rest), (s, others), (few, left_over) = both(size), both(sums), both(many)
        fine = (few >= self.least) & (left_over >= self.least)
        with np.errstate(all="ignore"):
            gain = np.where(fine, (s * s).sum(axis=0) / n + (others * others).sum(axis=0) / rest, -np.inf)
        top = np.maximum.reduceat(gain, starts)
        nodes = at[starts]
        better = top > best.gain[nodes]
        if not better.any():
            return
        first = np.flatnonzero((gain == np.repeat(top, lengths)) & np.repeat(better, lengths))
        cut = first[np.unique(at[first], return_index=True)[1]]  # the first of equal ones
        won = nodes[better]
        best.gain[won] = top[better]
        best.left[won] = False
        if ranked:  # bins that are not there go where their neighbours go
            best.left[won] = np.arange(width) <= (cells[cut] % width)[:, None]
            return
        last = np.zeros(len(best.gain), dtype=np.int64) - 1
        last[won] = cut
        goes = np.arange(len(cells)) <= last[at]
        best.left[at[goes], cells[goes] % width] = True
