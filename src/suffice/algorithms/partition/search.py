"""Searching the tree: nearest and farthest, exactly, ties to the lowest row.

Every bound adds the squares in the order in which a distance adds them, and rounding is monotone, so that a box is
passed over only if no computed distance in it could have won. Leaves hold single-precision copies, moved to an origin
and scaled into the unit ball: they only tell which few records to measure in full.
"""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algorithms.jit import loops
from suffice.algorithms.partition.tree import planted

SLACK = 1e-12
"""What rounding can add to |x|^2 + |q|^2 - 2 x'q, relative to its terms."""

SINGLE = 2.0**-24
"""The rounding of single precision."""

DEEP = 64
"""More than the nodes that wait while a tree is searched."""


@loops
def exact(V, row, q):  # type: ignore[no-untyped-def]
    """The squared distance from q to a record: what decides."""
    total = 0.0
    for j in range(len(q)):
        t = V[row, j] - q[j]
        total += t * t
    return total


@loops
def blur(q, origin, scale, single):  # type: ignore[no-untyped-def]
    """q as the leaves see it, into `single`; by how much a distance from it may be wrong there."""
    length = 0.0
    for j in range(len(q)):
        t = (q[j] - origin[j]) * scale
        single[j] = t
        length += t * t
    return (len(q) + 8) * SINGLE * (1.0 + np.sqrt(length))


@loops
def seen(d, scale, wrong, sign):  # type: ignore[no-untyped-def]
    """The squared distance d as a leaf may see it, at most (sign 1) or at least (-1)."""
    return np.float32(max(np.sqrt(max(d, 0.0)) * scale + sign * wrong, 0.0) ** 2 * (1.0 + sign * 1e-6))


@loops
def distances(cell, q, d) -> None:  # type: ignore[no-untyped-def]
    """Squared distances of the records of a leaf, four columns in a loop."""
    p, size = cell.shape
    for i in range(size):
        t = cell[0, i] - q[0]
        d[i] = t * t
    j = 1
    while j + 4 <= p:
        q1, q2, q3, q4 = q[j], q[j + 1], q[j + 2], q[j + 3]
        for i in range(size):
            a, b = cell[j, i] - q1, cell[j + 1, i] - q2
            e, f = cell[j + 2, i] - q3, cell[j + 3, i] - q4
            d[i] = (((d[i] + a * a) + b * b) + e * e) + f * f
        j += 4
    while j < p:
        qj = q[j]
        for i in range(size):
            t = cell[j, i] - qj
            d[i] += t * t
        j += 1


@loops
def most(box, norm, q, centre):  # type: ignore[no-untyped-def]
    """An upper bound of the distance from q to a record in the box: its far corner, or |x|^2 + |q|^2 - 2 min x'q."""
    corner, own, least = 0.0, 0.0, 0.0
    for j in range(len(q)):
        down, up = q[j] - box[0, j], box[1, j] - q[j]
        away = max(down, up)
        corner += away * away
        o = q[j] - centre[j]
        own += o * o
        least += min(o * (box[0, j] - centre[j]), o * (box[1, j] - centre[j]))
    turned = (norm + own) * (1.0 + SLACK) - 2.0 * least + SLACK * abs(least)
    return min(corner, turned)


@loops
def least(box, q):  # type: ignore[no-untyped-def]
    """A lower bound of the distance from q to a record in the box."""
    total = 0.0
    for j in range(len(q)):
        away = max(max(box[0, j] - q[j], q[j] - box[1, j]), 0.0)
        total += away * away
    return total


@loops
def farthest(  # type: ignore[no-untyped-def]
    V, q, depth, boxes, cells, names, left, lowest, longest, centre, origin, scale, single, d, stack, bounds
):
    """The row farthest from q; the lowest of equals."""
    first, best, found = (1 << depth) - 1, -1.0, -1
    stack[0], bounds[0], top = 0, np.inf, 1
    wrong = blur(q, origin, scale, single)
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound < best or (bound == best and lowest[node] > found):
            continue
        if node >= first:
            t = node - first
            distances(cells[t], single, d)
            hits, enough = 0, seen(best, scale, wrong, -1.0)
            for i in range(len(d)):
                hits += d[i] >= enough
            if hits:
                for i in range(len(d)):
                    if d[i] >= enough:
                        far = exact(V, names[t, i], q)
                        if far > best or (far == best and names[t, i] < found):
                            best, found = far, names[t, i]
                            enough = seen(best, scale, wrong, -1.0)
        else:
            a, b = 2 * node + 1, 2 * node + 2
            x = most(boxes[a], longest[a], q, centre) if left[a] > 0 else -1.0
            y = most(boxes[b], longest[b], q, centre) if left[b] > 0 else -1.0
            if x < y:
                a, b, x, y = b, a, y, x
            if y >= best and left[b] > 0:
                stack[top], bounds[top] = b, y
                top += 1
            if x >= best and left[a] > 0:
                stack[top], bounds[top] = a, x
                top += 1
    return found


@loops
def nearest(  # type: ignore[no-untyped-def]
    V, q, depth, boxes, cells, names, left, lowest, origin, scale, single, d, stack, bounds, near, rows
) -> None:
    """The rows nearest to q, in order, into `rows`; `near` takes their distances."""
    first, k = (1 << depth) - 1, len(rows)
    near[:] = np.inf
    rows[:] = np.iinfo(np.int64).max
    stack[0], bounds[0], top = 0, 0.0, 1
    wrong = blur(q, origin, scale, single)
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound > near[k - 1] or (bound == near[k - 1] and lowest[node] > rows[k - 1]):
            continue
        if node >= first:
            t = node - first
            distances(cells[t], single, d)
            hits, enough = 0, seen(near[k - 1], scale, wrong, 1.0)
            for i in range(len(d)):
                hits += d[i] <= enough
            if hits:
                for i in range(len(d)):
                    if d[i] <= enough:
                        insert(exact(V, names[t, i], q), names[t, i], near, rows)
                        enough = seen(near[k - 1], scale, wrong, 1.0)
        else:
            a, b = 2 * node + 1, 2 * node + 2
            x, y = least(boxes[a], q), least(boxes[b], q)
            if y < x:
                a, b, x, y = b, a, y, x
            if y <= near[k - 1] and left[b] > 0:
                stack[top], bounds[top] = b, y
                top += 1
            if x <= near[k - 1] and left[a] > 0:
                stack[top], bounds[top] = a, x
                top += 1


@loops
def insert(distance, row, near, rows) -> None:  # type: ignore[no-untyped-def]
    """Put a record among the nearest, by distance and then by row, if it belongs there."""
    i = len(rows) - 1
    if not (distance < near[i] or (distance == near[i] and row < rows[i])):
        return
    while i > 0 and (distance < near[i - 1] or (distance == near[i - 1] and row < rows[i - 1])):
        near[i], rows[i] = near[i - 1], rows[i - 1]
        i -= 1
    near[i], rows[i] = distance, row


def neighbours(V: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """For every record the rows of the `count` nearest, itself among them, nearest first."""
    found = np.empty((len(V), min(count, len(V))), np.int64)
    depth, boxes, cells, names, _, _, left, lowest, _, _, origin, scale = planted(V, np.arange(len(V)))
    _all_nearest(V, found, depth, boxes, cells, names, left, lowest, origin, scale)
    return found


@loops
def _all_nearest(  # type: ignore[no-untyped-def]
    V, found, depth, boxes, cells, names, left, lowest, origin, scale
) -> None:
    d, single = np.empty(cells.shape[2], np.float32), np.empty(V.shape[1], np.float32)
    stack, bounds, near = np.empty(DEEP, np.int64), np.empty(DEEP), np.empty(found.shape[1])
    for i in range(len(V)):
        place = (V, V[i], depth, boxes, cells, names, left, lowest, origin, scale)
        nearest(*place, single, d, stack, bounds, near, found[i])
