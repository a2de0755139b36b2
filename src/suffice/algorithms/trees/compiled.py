"""The loops of growing a tree, a node at a time; they give the tree that `tree.py` gives without them."""

# mypy: disable-error-code="untyped-decorator, unused-ignore, type-var, operator, assignment, arg-type, index"
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algorithms.jit import COMPILED, loops
from suffice.algorithms.trees.tree import Bins, Codes

__all__ = ["COMPILED", "descend", "grow"]


@loops
def grow(
    bins: Bins, wide: Bins, ranked: Flags, y: Array, classes: int, once: Array, least: int, gain: float, worth: float,
    width: int,
) -> tuple[NDArray[np.int16], NDArray[np.int32], Bins, Codes]:  # fmt: skip
    """The tree level by level: the columns that split, the nodes below, the bins that go left as bits; and the leaf of
    every record.

    wide: the last bin of each column; classes: y are places of so many classes; 0: y are numbers
    once: 0 for copies; empty where all records count; width: bins of a node
    """
    deep = max(classes, 1)
    starts = np.zeros(bins.shape[1] + 1, np.int64)  # the cells of a column lie behind those of the one before
    for j in range(bins.shape[1]):
        starts[j + 1] = starts[j] + wide[j] + 1
    sums, many = np.zeros((starts[-1], deep + 1)), np.zeros(starts[-1])
    column, below = np.empty(64, np.int16), np.empty(64, np.int32)
    left = np.zeros((64, (width + 7) // 8), np.uint8)
    leaf, rows, ends = np.zeros(len(y), np.int64), np.arange(len(y)), np.array([0, len(y)])
    known, nodes = 0, 1
    while nodes:
        chosen, go = np.full(nodes, -1), np.zeros((nodes, width), np.bool_)
        choose(bins, starts, ranked, y, classes, once, least, gain, worth, ends, chosen, go, sums, many)
        while known + nodes > len(column):
            column, below = np.append(column, column), np.append(below, below)
            left = np.concatenate((left, np.zeros_like(left)))
        inner = 0
        for node in range(nodes):
            at = known + node
            column[at], below[at] = chosen[node], -1
            if chosen[node] < 0:
                leaf[rows[ends[node] : ends[node + 1]]] = at
                continue
            below[at] = known + nodes + 2 * inner
            inner += 1
            for b in range(width):
                if go[node, b]:
                    left[at, b >> 3] |= 128 >> (b & 7)
        bins, y, once, rows, ends = part(bins, y, once, rows, ends, chosen, go)
        known, nodes = known + nodes, 2 * inner
    return column[:known].copy(), below[:known].copy(), left[:known].copy(), leaf


@loops
def choose(
    bins: Bins, starts: Codes, ranked: Flags, y: Array, classes: int, once: Array, least: int, gain: float,
    worth: float, ends: Codes, chosen: Codes, go: Flags, sums: Array, many: Array,
) -> None:  # fmt: skip
    """Fills in the best column of every node of a level, and its bins that go left.

    starts: the first cell of each column, a cell for each of its bins; sums: room for those of cells, all 0, that of
    records first; many: for the records that count
    """
    columns, width, deep, copies = bins.shape[1], go.shape[1], max(classes, 1), len(once) > 0
    cells, order, kept = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width, np.int64)
    means = np.empty(width)
    total, left, here = np.zeros(deep), np.zeros(deep), np.empty(deep, np.int64)
    for node in range(len(ends) - 1):
        first, last = ends[node], ends[node + 1]
        total[:] = 0.0
        squares, counted = 0.0, 0.0
        for r in range(first, last):
            counted += once[r] if copies else 1.0
            if classes:
                total[int(y[r])] += 1.0
                squares += 1.0
            else:
                total[0] += y[r]
                squares += y[r] * y[r]
        own = 0.0
        for k in range(deep):
            own += total[k] * total[k]
        own /= last - first
        if counted < 2 * least or not squares - own > worth:
            continue
        for r in range(first, last):
            if classes:
                k, value = 1 + int(y[r]), 1.0
            else:
                k, value = 1, y[r]
            for j in range(columns):
                cell = starts[j] + bins[r, j]
                sums[cell, 0] += 1.0
                sums[cell, k] += value
            if copies:
                value = once[r]
                for j in range(columns):
                    many[starts[j] + bins[r, j]] += value
        present = 0
        for k in range(deep):
            if total[k] != 0 or not classes:
                here[present] = k
                present += 1
        best = max(worth, gain * (squares - own) / counted)
        for j in range(columns):
            found, base = 0, starts[j]
            for cell in range(base, starts[j + 1]):
                if sums[cell, 0] > 0:
                    cells[found] = cell
                    found += 1
            top, goes, as_they_are = -np.inf, 0, False
            for k in range(1 if ranked[j] else deep):
                if found < 2 or (found == 2 and goes):  # two bins have one cut
                    break
                if not ranked[j]:
                    if classes and total[k] == 0:  # all shares are 0: the order of the bins, which is looked at once
                        if as_they_are:
                            continue
                        as_they_are = True
                    for i in range(found):
                        means[i] = sums[cells[i], 1 + k] / sums[cells[i], 0]
                for i in range(found):
                    order[i] = cells[i]
                if not ranked[j]:
                    for i in range(1, found):
                        mean, cell, to = means[i], order[i], i
                        while to > 0 and means[to - 1] > mean:
                            means[to], order[to] = means[to - 1], order[to - 1]
                            to -= 1
                        means[to], order[to] = mean, cell
                left[:] = 0.0
                n, few, cut = 0.0, 0.0, -1
                for i in range(found - 1):
                    cell = order[i]
                    n += sums[cell, 0]
                    few += many[cell] if copies else sums[cell, 0]
                    for h in range(present):
                        left[here[h]] += sums[cell, 1 + here[h]]
                    if few < least or counted - few < least:
                        continue
                    low, high = 0.0, 0.0
                    for h in range(present):
                        s = left[here[h]]
                        low += s * s
                        s = total[here[h]] - s
                        high += s * s
                    told = low / n + high / (last - first - n)
                    if told > top:
                        top, cut = told, i
                if cut >= 0:
                    goes = cut + 1
                    kept[:goes] = order[:goes]
            if top - own > best:
                best, chosen[node] = top - own, j
                go[node] = False
                if ranked[j]:  # bins that are not there go where their neighbours go
                    go[node, : kept[goes - 1] - base + 1] = True
                else:
                    for i in range(goes):
                        go[node, kept[i] - base] = True
            for i in range(found):
                many[cells[i]] = 0.0
                sums[cells[i]] = 0.0


@loops
def part(
    bins: Bins, y: Array, once: Array, rows: Codes, ends: Codes, chosen: Codes, go: Flags
) -> tuple[Bins, Array, Array, Codes, Codes]:
    """The records of the next level's nodes, one node behind the other, so that they are read as they lie; and where
    each node begins."""
    n, starts = 0, np.zeros(2 * np.sum(chosen >= 0) + 1, np.int64)
    for node in range(len(chosen)):
        n += ends[node + 1] - ends[node] if chosen[node] >= 0 else 0
    new_bins, new_y, new_rows = np.empty((n, bins.shape[1]), bins.dtype), np.empty(n), np.empty(n, rows.dtype)
    new_once, known, at = np.empty(n if len(once) else 0), 0, 0
    for node in range(len(chosen)):
        column = chosen[node]
        if column < 0:
            continue
        right = at
        for i in range(ends[node], ends[node + 1]):
            right += go[node, bins[i, column]]
        known += 2
        starts[known - 1], starts[known] = right, at + ends[node + 1] - ends[node]
        for i in range(ends[node], ends[node + 1]):
            if go[node, bins[i, column]]:
                to, at = at, at + 1
            else:
                to, right = right, right + 1
            for j in range(bins.shape[1]):
                new_bins[to, j] = bins[i, j]
            new_y[to], new_rows[to] = y[i], rows[i]
            if len(once):
                new_once[to] = once[i]
        at = right
    return new_bins, new_y, new_once, new_rows, starts


@loops
def descend(bins: Bins, column: Codes, below: Codes, left: Bins, width: int) -> Codes:
    """The leaf of every record."""
    found = np.empty(len(bins), np.int64)
    for i in range(len(bins)):
        node = 0
        while column[node] >= 0:
            b = min(np.int64(bins[i, column[node]]), width - 1)
            node = below[node] + 1 - (np.int64(left[node, b >> 3]) >> (7 - (b & 7)) & 1)
        found[i] = node
    return found
