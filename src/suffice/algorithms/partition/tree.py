"""A k-d tree from which records are taken away, its leaves stored column by column."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.jit import loops

Rows = NDArray[np.int64]
Single = NDArray[np.float32]

LEAF = 256
"""Records in a leaf: enough for the processor to work on several at a time."""


def planted(
    V: Array, rows: Rows
) -> tuple[int, Array, Single, Rows, Array, Rows, Rows, Rows, Array, Array, Array, float]:
    """The records `rows` of V in a tree, which reorders `rows`.

    depth; boxes of nodes; cells, row numbers and norms of leaves; places of records; records left, lowest row and
    longest norm of nodes; the centre from which norms are measured; origin and scale of the cells, (v - origin) scale.
    """
    depth = height(len(rows), LEAF)
    leaves, nodes, size, p = 1 << depth, (2 << depth) - 1, -(-len(rows) >> depth), V.shape[1]
    boxes, cells = np.empty((nodes, 2, p)), np.empty((leaves, p, size), np.float32)
    names, norms = np.empty((leaves, size), np.int64), np.empty((leaves, size))
    place, left, lowest = np.empty(len(V), np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    longest, origin = np.empty(nodes), V[rows].mean(axis=0)
    boxes[0] = V[rows].min(axis=0), V[rows].max(axis=0)
    grow(V, rows, depth, boxes)
    fill(rows, depth, names, place)
    refit(V, origin, names, boxes, norms, left, lowest, longest)
    scale = math.ldexp(1.0, -math.frexp(math.sqrt(longest[0]))[1])
    copy(V, origin, scale, names, cells)
    return depth, boxes, cells, names, norms, place, left, lowest, longest, origin.copy(), origin, scale


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
    """Order the rows: leaf l holds rows[l n >> depth : (l + 1) n >> depth]. Boxes are cut on their widest side.

    The boxes of this stage are those of the root, cut; `refit` fits them to the records.
    """
    n = len(rows)
    for level in range(depth):
        for t in range(1 << level):
            node, step = (1 << level) - 1 + t, depth - level
            start, end, middle = (
                ((t << step) * n) >> depth,
                ((t + 1) << step) * n >> depth,
                ((2 * t + 1) << step - 1) * n >> depth,
            )
            widest = np.argmax(boxes[node, 1] - boxes[node, 0])
            select(V, rows, start, end, middle, widest)
            boxes[2 * node + 1], boxes[2 * node + 2] = boxes[node], boxes[node]
            boxes[2 * node + 1, 1, widest] = boxes[2 * node + 2, 0, widest] = V[rows[middle], widest]


@loops
def fill(rows, depth, names, place) -> None:  # type: ignore[no-untyped-def]
    """Put the rows into their leaves; empty places hold a row that does not exist."""
    n = len(rows)
    names[:] = len(place)
    for t in range(1 << depth):
        start, end = (t * n) >> depth, ((t + 1) * n) >> depth
        for i in range(start, end):
            names[t, i - start], place[rows[i]] = rows[i], t * names.shape[1] + i - start


@loops
def refit(V, centre, names, boxes, norms, left, lowest, longest) -> None:  # type: ignore[no-untyped-def]
    """Fit everything by which the tree is searched to the records that are left, and to their centre.

    Of every node the box, which is inside out where no record is left, the number of records, the lowest row and the
    longest norm: the squared distance from the centre.
    """
    leaves, size = names.shape
    boxes[:, 0], boxes[:, 1], norms[:], left[:] = np.inf, -np.inf, -1.0, 0
    for t in range(leaves):
        low, high = boxes[leaves - 1 + t]
        for i in range(size):
            row = names[t, i]
            if row < len(V):  # a record is fetched once for all that is asked of it
                norm = 0.0
                for j in range(V.shape[1]):
                    v = V[row, j]
                    low[j], high[j] = min(low[j], v), max(high[j], v)
                    norm += (v - centre[j]) ** 2
                norms[t, i] = norm
                left[leaves - 1 + t] += 1
        lowest[leaves - 1 + t], longest[leaves - 1 + t] = lead(names[t], norms[t])
    for node in range(leaves - 2, -1, -1):
        gather(node, left, lowest, longest)
        for j in range(V.shape[1]):
            boxes[node, 0, j] = min(boxes[2 * node + 1, 0, j], boxes[2 * node + 2, 0, j])
            boxes[node, 1, j] = max(boxes[2 * node + 1, 1, j], boxes[2 * node + 2, 1, j])


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
    node = (1 << depth) - 1 + t
    led = row == lowest[node] or norms[t, i] == longest[node]  # else only a number changes
    cells[t, 0, i], norms[t, i], names[t, i] = np.nan, -1.0, len(place)
    left[node] -= 1
    if led:
        lowest[node], longest[node] = lead(names[t], norms[t])
    while node > 0:
        node = (node - 1) // 2
        if led:
            gather(node, left, lowest, longest)
        else:
            left[node] -= 1
