"""Trees grown to their least leaves, all nodes of a level at once; the sums of splits are whole numbers, so that one
tree comes of any order of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, repr=False)
class Tree:
    """Nodes in the order of their levels: the column that splits each, which bins go left, and the two nodes below.

    column: -1 in a leaf; below: the left node, the right one is the next
    """

    column: Codes
    below: Codes
    left: Flags

    @classmethod
    def grown(cls, bins: Bins, ranked: Sequence[bool], Y: Array, least: int, counted: Array | None = None) -> Tree:
        """bins: a column for each predictor; ranked: whether its bins have an order, else they get one in each node
        Y: what leaves are to be alike in, whole numbers: one column, or one of 0 and 1 for each class
        counted: 0 for records that are copies of others, which are not counted in a leaf; else 1
        """
        return _Growth(bins, ranked, Y, least, counted).tree()

    def leaves(self, bins: Bins) -> Codes:
        """The leaf of every record.

        >>> bins = np.array([[1], [1], [2], [2]], dtype=np.uint8)
        >>> Tree.grown(bins, [True], np.array([[0.0], [0], [5], [5]]), 2).leaves(bins).tolist()
        [1, 1, 2, 2]
        """
        node, rows = np.zeros(len(bins), dtype=np.int64), np.arange(len(bins))
        while True:
            at = node[rows]
            rows, at = rows[(inner := self.column[at] >= 0)], at[inner]
            if not len(rows):
                return node
            at_bin = np.minimum(bins[rows, self.column[at]], self.left.shape[1] - 1)
            node[rows] = self.below[at] + ~self.left[at, at_bin]


def in_fixed_point(y: Array) -> Array:
    """Numbers as whole numbers about their middle, one column.

    >>> in_fixed_point(np.array([0.0, 1.0])).tolist()
    [[-8388608.0], [8388608.0]]
    """
    low, span = y.min(initial=np.inf), np.ptp(y) if len(y) else 0.0
    return np.asarray(np.rint((y - low) / (span or 1.0) * POINT) - POINT / 2)[:, None]


def in_classes(codes: Codes) -> Array:
    """A column of 0 and 1 for each class; all but the most frequent ones share one, of two classes one is enough."""
    found, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    column = np.empty(len(found), dtype=np.int64)
    column[order] = np.minimum(np.arange(len(found)), CLASSES - 1)
    width = min(len(found), CLASSES)
    return np.asarray(column[places.ravel()][:, None] == np.arange(width if width > 2 else 1), dtype=np.float64)


@dataclass(frozen=True, repr=False)
class _Splits:
    """The best split of every node by one column: gain, and which bins go left."""

    gain: Array
    left: Flags


class _Growth:
    def __init__(self, bins: Bins, ranked: Sequence[bool], Y: Array, least: int, counted: Array | None) -> None:
        self.bins, self.ranked, self.Y, self.least = bins, ranked, Y, least
        self.counted, self.width = counted, int(bins.max(initial=0)) + 2  # a bin that is not there goes right
        total = Y.sum(axis=0)
        self.worth = WORTH * float((Y * Y).sum() - (total * total).sum() / max(len(Y), 1))

    def tree(self) -> Tree:
        levels, known = list[tuple[Codes, Codes, Flags]](), 1
        rows, node, nodes = np.arange(len(self.Y)), np.zeros(len(self.Y), dtype=np.int64), 1
        while nodes:
            chosen, go = np.full(nodes, -1), np.zeros((nodes, self.width), dtype=bool)
            ends = np.searchsorted(node, np.arange(nodes + 1))
            for first, last in self._portions(np.diff(ends)):
                part = slice(ends[first], ends[last])
                self._choose(rows[part], node[part] - first, chosen[first:last], go[first:last])
            inner = chosen >= 0
            down = np.where(inner, known + 2 * (np.cumsum(inner) - 1), -1)
            levels.append((chosen, down, go))
            rows, node = rows[stay := inner[node]], node[stay]
            node = down[node] - known + ~go[node, self.bins[rows, chosen[node]]]
            order = np.argsort(node, kind="stable")
            rows, node, nodes = rows[order], node[order], 2 * int(inner.sum())
            known += nodes
        return Tree(*(np.concatenate(each) for each in zip(*levels, strict=True)))

    def _portions(self, sizes: Codes) -> Iterator[tuple[int, int]]:
        most = max(1, CELLS // (self.width * (self.Y.shape[1] + 2)))
        for first in range(0, len(sizes), most):
            yield first, min(first + most, len(sizes))

    def _choose(self, rows: Codes, node: Codes, chosen: Codes, go: Flags) -> None:
        """Fills in the best column of every node, and its bins that go left."""
        nodes, Y = len(chosen), self.Y[rows]
        counted = None if self.counted is None else self.counted[rows]
        total = np.stack([np.bincount(node, y, nodes) for y in Y.T])
        own = (total**2).sum(axis=0) / np.bincount(node, minlength=nodes)
        impure = np.bincount(node, (Y * Y).sum(axis=1), nodes) - own > self.worth
        at = np.flatnonzero((np.bincount(node, counted, nodes) >= 2 * self.least) & impure)  # others are leaves
        place = np.full(nodes, -1)
        place[at] = np.arange(len(at))
        alive = place[node] >= 0
        rows, node, Y, own = rows[alive], place[node[alive]], Y[alive], own[at]
        counted, best = None if counted is None else counted[alive], np.full(len(at), self.worth)
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
