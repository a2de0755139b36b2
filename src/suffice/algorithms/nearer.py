"""Whether any of many records is nearer to a point than its own: a k-d tree with tight boxes, asked in its order."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.jit import COMPILED, loops
from suffice.algorithms.partition.tree import grow, height

LEAF = 128
"""Records in a leaf, stored column by column: enough for the processor to work on several at a time."""

Counts = NDArray[np.int64]


def as_near(Y: Array, Ystar: Array, own: Array, same: float) -> Counts:
    """For each Y[i] how many of Ystar are as near as own[i]; -1 where one is nearer: then nothing is counted.

    Distances within a share `same` of each other, or within `same`, are equal. Memory is that of a few copies of Ystar.
    """
    if not COMPILED:
        return _by_scipy(Y, Ystar, own, same)
    centre = Ystar.mean(axis=0)
    axes = np.linalg.eigh(np.cov((Ystar - centre).T).reshape(Ystar.shape[1], -1))[1][:, ::-1]
    Z, Zstar = ((np.ascontiguousarray((A - centre) @ axes)) for A in (Y, Ystar))
    rows, depth = np.arange(len(Zstar)), height(len(Zstar), LEAF)
    boxes = np.empty(((2 << depth) - 1, 2, Z.shape[1]))
    boxes[0] = Zstar.min(axis=0), Zstar.max(axis=0)
    grow(Zstar, rows, depth, boxes)
    cells = np.full((1 << depth, Z.shape[1], -(-len(rows) >> depth)), np.inf)
    filled(Zstar, rows, depth, boxes, cells)
    near, far = np.maximum(own * (1 - same) - same, 0.0) ** 2, (own * (1 + same) + same) ** 2
    home = np.empty(len(Z), np.int64)
    homes(Z, depth, boxes, home)
    found = np.empty(len(Z), np.int64)
    asked(Z, np.argsort(home, kind="stable"), home, near, far, depth, boxes, cells, found)
    return found


def _by_scipy(Y: Array, Ystar: Array, own: Array, same: float) -> Counts:
    """Where loops are not compiled."""
    from scipy.spatial import KDTree

    found = np.full(len(Y), -1)
    free = np.flatnonzero(KDTree(Ystar).query(Y)[0] >= own * (1 - same) - same)
    reach = own[free] * (1 + same) + same
    found[free] = KDTree(Ystar).query_ball_point(Y[free], reach, return_length=True) if len(free) else 0
    return found


@loops
def filled(V, rows, depth, boxes, cells) -> None:  # type: ignore[no-untyped-def]
    """Leaves column by column, and boxes that fit tightly."""
    n, leaves = len(rows), 1 << depth
    boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
    for t in range(leaves):
        start, end = (t * n) >> depth, ((t + 1) * n) >> depth
        for i in range(start, end):
            for j in range(V.shape[1]):
                v = V[rows[i], j]
                cells[t, j, i - start] = v
                boxes[leaves - 1 + t, 0, j] = min(boxes[leaves - 1 + t, 0, j], v)
                boxes[leaves - 1 + t, 1, j] = max(boxes[leaves - 1 + t, 1, j], v)
    for node in range(leaves - 2, -1, -1):
        for j in range(V.shape[1]):
            boxes[node, 0, j] = min(boxes[2 * node + 1, 0, j], boxes[2 * node + 2, 0, j])
            boxes[node, 1, j] = max(boxes[2 * node + 1, 1, j], boxes[2 * node + 2, 1, j])


@loops
def apart(v, box, reach):  # type: ignore[no-untyped-def]
    """The squared distance of a point from a box; no further than it takes to be beyond reach."""
    total = 0.0
    for j in range(len(v)):
        gap = max(box[0, j] - v[j], v[j] - box[1, j])
        if gap > 0:
            total += gap * gap
            if total > reach:
                return total
    return total


@loops
def homes(V, depth, boxes, home) -> None:  # type: ignore[no-untyped-def]
    """The leaf of every point: down to the nearer child."""
    for i in range(len(V)):
        node = 0
        for _ in range(depth):
            left, right = 2 * node + 1, 2 * node + 2
            gap = apart(V[i], boxes[left], np.inf) - apart(V[i], boxes[right], np.inf)
            node = right if gap > 0 else left
        home[i] = node - (1 << depth) + 1


@loops
def seen(v, cell, near, far, squares):  # type: ignore[no-untyped-def]
    """How many records of a leaf are as near as the own one; -1 where one is nearer."""
    squares[:] = 0.0
    for j in range(len(v)):
        for i in range(len(squares)):
            gap = cell[j, i] - v[j]
            squares[i] += gap * gap
    count, least = 0, np.inf
    for i in range(len(squares)):
        least = min(least, squares[i])
        count += squares[i] <= far
    return -1 if least < near else count


@loops
def asked(V, order, home, near, far, depth, boxes, cells, found) -> None:  # type: ignore[no-untyped-def]
    """For each point, its own leaf first; then the tree, the nearer child first, until one is nearer."""
    leaves, stack, squares = 1 << depth, np.empty(2 * depth + 2, np.int64), np.empty(cells.shape[2])
    for i in order:
        v = V[i]
        total = seen(v, cells[home[i]], near[i], far[i], squares)
        top = 0
        if total >= 0:
            stack[0], top = 0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            if node >= leaves - 1:
                if node - leaves + 1 == home[i]:
                    continue
                here = seen(v, cells[node - leaves + 1], near[i], far[i], squares)
                if here < 0:
                    total = -1
                    break
                total += here
                continue
            a, b = 2 * node + 1, 2 * node + 2
            left, right = apart(v, boxes[a], far[i]), apart(v, boxes[b], far[i])
            if left > right:
                a, b, left, right = b, a, right, left
            if right <= far[i]:
                stack[top] = b
                top += 1
            if left <= far[i]:
                stack[top] = a
                top += 1
        found[i] = total
