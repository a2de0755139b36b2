"""MDAV's main loop on a k-d tree: two groups at a time are taken from the records that are left."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.partition.jit import loops
from suffice.partition.left import subtract
from suffice.partition.search import farthest, nearest
from suffice.partition.tree import fill, grow, height, remove
from suffice.rows import Progress

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

LEAF = 64
"""Records in a leaf: enough for the processor to work on several at a time."""

THINNED = 0.7
"""The tree is grown again when this share of its records is left."""

DEEP = 64
"""More than the nodes that wait while a tree is searched."""


def take(V: Array, k: int, labels: Rows, high: Array, low: Array, progress: Progress | None) -> int:
    """Label groups until fewer than 3k records are left, keep their sums, and return the number of groups."""
    groups, rows = 0, np.arange(len(V))
    while len(rows) >= 3 * k:
        until = int(THINNED * len(rows))
        groups = _pairs(V, k, until, labels, groups, high, low, *_tree(V, rows))
        rows = np.flatnonzero(labels < 0)
        if progress:
            progress("groups", len(V) - len(rows), len(V))
    return groups


def _tree(V: Array, rows: Rows) -> tuple[Array | Rows | int, ...]:
    depth = height(len(rows), LEAF)
    leaves, nodes, size, p = 1 << depth, (2 << depth) - 1, -(-len(rows) >> depth), V.shape[1]
    boxes, cells, origin = np.empty((nodes, 2, p)), np.empty((leaves, p, size)), V[rows].mean(axis=0)
    names, norms = np.empty((leaves, size), np.int64), np.empty((leaves, size))
    place, left, lowest = np.empty(len(V), np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    longest = np.empty(nodes)
    grow(V, rows, depth, boxes)
    fill(V, rows, depth, origin, cells, names, norms, place, left, lowest, longest)
    return depth, boxes, cells, names, norms, place, left, lowest, longest, origin


@loops
def _pairs(  # type: ignore[no-untyped-def]
    V, k, until, labels, groups, high, low, depth, boxes, cells, names, norms, place, left, lowest, longest, origin
) -> int:
    d, stack, bounds = np.empty(cells.shape[2]), np.empty(DEEP, np.int64), np.empty(DEEP)
    near, rows = np.empty(k), np.empty(k, np.int64)
    while left[0] >= 3 * k and left[0] > until:
        q = (high + low) / left[0]
        for _ in range(2):  # r, farthest from the centroid, and its nearest; then s, farthest from r
            rows[0] = farthest(q, depth, boxes, cells, names, left, lowest, longest, origin, d, stack, bounds)
            q = V[rows[0]]
            remove(rows[0], depth, cells, names, norms, place, left, lowest, longest)
            if k > 1:
                nearest(q, depth, boxes, cells, names, left, lowest, d, stack, bounds, near[1:], rows[1:])
            for i in range(k):
                labels[rows[i]] = groups
                subtract(high, low, V[rows[i]])
                if i > 0:
                    remove(rows[i], depth, cells, names, norms, place, left, lowest, longest)
            groups += 1
    return groups
