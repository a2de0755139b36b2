"""A k-d tree from which records are taken away, its leaves stored column by column."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice.partition.jit import loops

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Single = NDArray[np.float32]

LEAF = 256
"""Records in a leaf: enough for the processor to work on several at a time."""


def planted(V: Array, rows: Rows) -> tuple[int, Array, Single, Rows, Array, Rows, Rows, Rows, Array, Array, float]:
    """The records `rows` of V in a tree, which reorders `rows`.

    depth; of every node its box, and further on records left, lowest row and longest norm; of every leaf its cells,
    row numbers and norms, which are taken from an origin; of every record its place. Cells are (v - origin) scale.
    """
    depth = height(len(rows), LEAF)
    leaves, nodes, size, p = 1 << depth, (2 << depth) - 1, -(-len(rows) >> depth), V.shape[1]
    boxes, cells = np.empty((nodes, 2, p)), np.empty((leaves, p, size), np.float32)
    names, norms = np.empty((leaves, size), np.int64), np.empty((leaves, size))
    place, left, lowest = np.empty(len(V), np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    longest, origin = np.empty(nodes), V[rows].mean(axis=0)
    grow(V, rows, depth, boxes)
    fill(V, rows, depth, origin, names, norms, place, left, lowest, longest)
    scale = math.ldexp(1.0, -math.frexp(math.sqrt(longest[0]))[1])
    copy(V, origin, scale, names, cells)
    return depth, boxes, cells, names, norms, place, left, lowest, longest, origin, scale


@loops
def before(V, a, b, j):  # type: ignore[no-untyped-def]
    """Whether record a stands before record b along column j; rows decide ties."""
    return V[a, j] < V[b, j] or (V[a, j] == V[b, j] and a < b)


@loops
def select(V, rows, start, end, middle, j) -> None:  # type: ignore[no-untyped-def]
    """Reorder rows[start:end] so that rows[middle] is where sorting would put it (Hoare's selection)."""
    first, last = start, end - 1
    while first < last:
        a, b, c = rows[first], rows[(first + last) // 2], rows[last]
        if before(V, b, a, j):
            a, b = b, a
        if before(V, c, b, j):
            b = c
            if before(V, b, a, j):
                b = a
        up, down = first, last
        while up <= down:
            while before(V, rows[up], b, j):
                up += 1
            while before(V, b, rows[down], j):
                down -= 1
            if up <= down:
                rows[up], rows[down] = rows[down], rows[up]
                up += 1
                down -= 1
        if middle <= down:
            last = down
        elif middle >= up:
            first = up
        else:
            return


@loops
def height(n, leaf):  # type: ignore[no-untyped-def]
    """How deep a tree is whose leaves hold at most `leaf` of n records."""
    depth = 0
    while (leaf << depth) < n:
        depth += 1
    return depth


@loops
def grow(V, rows, depth, boxes) -> None:  # type: ignore[no-untyped-def]
    """Order the rows: leaf l holds rows[l n >> depth : (l + 1) n >> depth]. Boxes are cut on their widest side."""
    n, p = len(rows), V.shape[1]
    for level in range(depth + 1):
        for t in range(1 << level):
            node = (1 << level) - 1 + t
            start, end = ((t << (depth - level)) * n) >> depth, (((t + 1) << (depth - level)) * n) >> depth
            for j in range(p):
                boxes[node, 0, j], boxes[node, 1, j] = np.inf, -np.inf
            for i in range(start, end):
                for j in range(p):
                    value = V[rows[i], j]
                    if value < boxes[node, 0, j]:
                        boxes[node, 0, j] = value
                    if value > boxes[node, 1, j]:
                        boxes[node, 1, j] = value
            if level < depth and start < end:
                widest = 0
                for j in range(1, p):
                    if boxes[node, 1, j] - boxes[node, 0, j] > boxes[node, 1, widest] - boxes[node, 0, widest]:
                        widest = j
                middle = (((2 * t + 1) << (depth - level - 1)) * n) >> depth
                if middle < end:
                    select(V, rows, start, end, middle, widest)


@loops
def fill(V, rows, depth, origin, names, norms, place, left, lowest, longest) -> None:  # type: ignore[no-untyped-def]
    """Put the records into their leaves; count them and bound rows and norms in every node."""
    n, p = len(rows), V.shape[1]
    norms[:], names[:] = -1.0, V.shape[0]
    first = (1 << depth) - 1
    for t in range(1 << depth):
        start, end = (t * n) >> depth, ((t + 1) * n) >> depth
        for i in range(start, end):
            row, norm = rows[i], 0.0
            for j in range(p):
                norm += (V[row, j] - origin[j]) ** 2
            names[t, i - start], norms[t, i - start] = row, norm
            place[row] = t * names.shape[1] + i - start
        left[first + t] = end - start
        lowest[first + t], longest[first + t] = lead(names[t], norms[t])
    for node in range(first - 1, -1, -1):
        gather(node, left, lowest, longest)


@loops
def copy(V, origin, scale, names, cells) -> None:  # type: ignore[no-untyped-def]
    """The records of every leaf, column by column, moved to the origin and scaled into the unit ball."""
    cells[:] = np.nan
    for t in range(names.shape[0]):
        for i in range(names.shape[1]):
            if names[t, i] < V.shape[0]:
                for j in range(V.shape[1]):
                    cells[t, j, i] = (V[names[t, i], j] - origin[j]) * scale


@loops
def lead(names, norms):  # type: ignore[no-untyped-def]
    """The lowest row and the largest norm among the records of a leaf."""
    row, norm = names[0], norms[0]
    for i in range(1, len(names)):
        row, norm = min(row, names[i]), max(norm, norms[i])
    return row, norm


@loops
def gather(node, left, lowest, longest) -> None:  # type: ignore[no-untyped-def]
    """What a node knows, from its two children."""
    a, b = 2 * node + 1, 2 * node + 2
    left[node] = left[a] + left[b]
    lowest[node], longest[node] = min(lowest[a], lowest[b]), max(longest[a], longest[b])


@loops
def remove(row, depth, cells, names, norms, place, left, lowest, longest) -> None:  # type: ignore[no-untyped-def]
    """Take a record away: what is not a number is neither near nor far."""
    t, i = place[row] // names.shape[1], place[row] % names.shape[1]
    cells[t, 0, i], norms[t, i], names[t, i] = np.nan, -1.0, len(place)
    node = (1 << depth) - 1 + t
    left[node] -= 1
    lowest[node], longest[node] = lead(names[t], norms[t])
    while node > 0:
        node = (node - 1) // 2
        gather(node, left, lowest, longest)
