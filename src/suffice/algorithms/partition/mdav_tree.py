"""MDAV's main loop on a k-d tree: two groups at a time are taken from the records that are left."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.jit import loops
from suffice.algorithms.partition.remaining import subtract
from suffice.algorithms.partition.search import DEEP, farthest, nearest
from suffice.algorithms.partition.tree import planted, refit, remove
from suffice.progress import Progress

Rows = NDArray[np.int64]

THINNED = 0.75
"""A tree is grown again when this share of its records is left."""

FITTED = 0.95
"""Until then it is fitted to the records left whenever they are this share of those at the last fit."""


def take(V: Array, k: int, labels: Rows, high: Array, low: Array, progress: Progress | None) -> int:
    """Label groups until fewer than 3k records are left, keep their sums, and return the number of groups."""
    groups, rows = 0, np.arange(len(V))
    while len(rows) >= 3 * k:
        tree = planted(V, rows)
        _, boxes, _, names, norms, _, left, lowest, longest, centre, _, _ = tree
        while left[0] >= 3 * k and left[0] > THINNED * len(rows):
            groups = _pairs(V, k, int(FITTED * left[0]), labels, groups, high, low, *tree)
            centre[:] = (high + low) / max(left[0], 1)
            refit(V, centre, names, boxes, norms, left, lowest, longest)
        rows = np.flatnonzero(labels < 0)
        if progress:
            progress("groups", len(V) - len(rows), len(V))
    return groups


@loops
def _pairs(  # type: ignore[no-untyped-def]
    V,
    k,
    until,
    labels,
    groups,
    high,
    low,
    depth,
    boxes,
    cells,
    names,
    norms,
    place,
    left,
    lowest,
    longest,
    centre,
    origin,
    scale,
) -> int:
    d, single = np.empty(cells.shape[2], np.float32), np.empty(V.shape[1], np.float32)
    stack, bounds = np.empty(DEEP, np.int64), np.empty(DEEP)
    near, rows = np.empty(k), np.empty(k, np.int64)
    while left[0] >= 3 * k and left[0] > until:
        q = (high + low) / left[0]
        for _ in range(2):  # r, farthest from the centroid, and its nearest; then s, farthest from r
            rows[0] = farthest(
                V, q, depth, boxes, cells, names, left, lowest, longest, centre, origin, scale, single, d, stack, bounds
            )
            q = V[rows[0]]
            remove(rows[0], depth, cells, names, norms, place, left, lowest, longest)
            if k > 1:
                at = (V, q, depth, boxes, cells, names, left, lowest, origin, scale)
                nearest(*at, single, d, stack, bounds, near[1:], rows[1:])
            for i in range(k):
                labels[rows[i]] = groups
                subtract(high, low, V[rows[i]])
                if i > 0:
                    remove(rows[i], depth, cells, names, norms, place, left, lowest, longest)
            groups += 1
    return groups
