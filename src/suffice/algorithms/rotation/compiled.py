"""The same turn, compiled, group after group: optional, and never another release."""

# mypy: disable-error-code="assignment, no-untyped-call, no-untyped-def, untyped-decorator, no-any-return"
from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload, register_jitable
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.rotation import arcs, circles, compass, trigonometry
from suffice.algorithms.rotation.arcs import ROUND, draw, forbidden, limiting
from suffice.algorithms.rotation.circles import (
    beyond,
    circle,
    circle_of_three,
    edits_fail,
    limits,
    onto_bounds,
    orthonormalise,
    turned,
)
from suffice.algorithms.rotation.compass import signed_lg
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.trigonometry import choose, direction
from suffice.algorithms.rotation.turn import TRIES, Chance, only_plane

Rows = NDArray[np.int64]

AHEAD = 64
"""Groups whose records are brought near the processor together."""

_compiled = njit(cache=True, nogil=True, error_model="numpy")  # no fast mathematics: it would be another release


@overload(choose)
def _choose(condition, one, other):
    if isinstance(condition, types.Array):
        return lambda condition, one, other: np.where(condition, one, other)
    return lambda condition, one, other: one if condition else other


for _source in (
    *(arcs.bearing, limiting, forbidden, draw, edits_fail, limits, compass.lg, signed_lg),
    *(circles.dot, orthonormalise, trigonometry.arctangent, trigonometry.turns),
):
    register_jitable(_source)
_hot = (trigonometry.sine, trigonometry.versine, direction, circle, circle_of_three, turned, beyond, onto_bounds)
for _source in _hot:  # a frame for each would cost as much as its work
    register_jitable(inline="always")(_source)


def turn(Y: Array, ground: Constraints, groups: Rows, chance: Chance) -> None:
    """Turn every group as `suffice.algorithms.rotation.turn` does, in place."""
    given = (ground.X, ground.root, ground.centred, only_plane(ground, groups.shape[1]))
    held = ((ground.low, ground.high), ground.columns, ground.C, ground.rhs)
    _groups(Y, groups, chance.normals, chance.uniforms, *given, TRIES if ground.bounded else 1, ground.limits, *held)


@_compiled
def along(Y, scale, factor):
    """Where each record stands, as `suffice.algorithms.rotation.compass` tells it."""
    out = np.zeros(len(Y))
    for i in range(len(Y)):
        total = 0.0
        for j in range(Y.shape[1]):
            total += signed_lg(Y[i, j], scale[j]) * factor[j]
        out[i] = total
    return out


@_compiled
def _fetched(A, groups, first) -> float:
    """Reads both ends of the records of the next groups, many at once; their sum is for no one, but it must be used."""
    total = 0.0
    for i in range(first, min(first + AHEAD, len(groups))):
        for row in groups[i]:
            total += A[row, 0] + A[row, -1]
    return total


@_compiled
def _groups(Y, groups, normals, uniforms, X, root, centred, three, tries, most, bounds, columns, C, rhs) -> float:
    g, k, r, read = groups.shape[1], Y.shape[1], X.shape[1], 0.0
    y, b, d, new = np.empty((g, k)), np.empty((g, k)), np.empty((g, k)), np.empty((g, k))
    basis, w, own = np.empty((r + 2, g)), np.empty(g), np.empty((g, len(C)))
    room = np.empty((4, g * most + 1))
    for i in range(len(groups)):
        lane, rows = i % AHEAD, groups[i]
        if lane == 0:
            read += _fetched(Y, groups, i)
            if not three:
                read += _fetched(X, groups, i)
        for e in range(g):
            row = rows[e]
            for j in range(k):
                y[e, j] = Y[row, j]
        for e in range(g if len(C) else 0):
            own[e] = rhs[rows[e]]
        if three:
            circle_of_three(y, b, d)
        else:
            for e in range(g):
                row = rows[e]
                w[e] = root[row]
                for c in range(r):
                    basis[c, e] = X[row, c]
                basis[r, e], basis[r + 1, e] = normals[i, 0, e], normals[i, 1, e]
            orthonormalise(basis)
            circle(y, basis[r], basis[r + 1], w, centred, b, d, new[0], new[1])
        if _settled(y, b, d, new, uniforms[i], tries, bounds, columns, C, own, room):
            for e in range(g):
                row = rows[e]
                for j in range(k):
                    Y[row, j] = new[e, j]
    return read


@_compiled
def _fill(basis, X, groups, normals, first) -> None:
    """The given columns of the next groups, and two random ones, group beside group."""
    r = X.shape[1]
    for lane in range(min(AHEAD, len(groups) - first)):
        for e in range(groups.shape[1]):
            row = groups[first + lane, e]
            for c in range(r):
                basis[c, e, lane] = X[row, c]
            basis[r, e, lane], basis[r + 1, e, lane] = normals[first + lane, 0, e], normals[first + lane, 1, e]


@_compiled
def _settled(y, b, d, new, uniforms, tries, bounds, columns, C, rhs, room) -> bool:
    """Draw the angle of one group and turn it; whether every limit holds."""
    low, high = bounds
    for attempt in range(tries):
        cos, sin = direction(uniforms[attempt])
        if _within(y, b, d, cos, sin, low, high):
            _turned(y, b, d, cos, sin, new)
            if _edits_hold(new, C, rhs):
                return True
    B, D, H, terms = room
    limits(y, b, d, bounds, columns, C, rhs, B, D, H, terms)
    count = _gaps(B, D, H, terms)
    cos, sin = direction(draw(B[:count], D[:count], uniforms[-1]))
    _turned(y, b, d, cos, sin, new)
    for e in range(len(y)):
        if onto_bounds(y[e], b[e], d[e], low, high, new[e]):
            return False
    return _edits_hold(new, C, rhs)


@_compiled
def _turned(y, b, d, cos, sin, new) -> None:
    for e in range(y.shape[0]):
        for j in range(y.shape[1]):
            new[e, j] = turned(y[e, j], b[e, j], d[e, j], cos, sin)


@_compiled
def _within(y, b, d, cos, sin, low, high) -> bool:
    """Whether every bound holds after a turn; most groups are told apart by their first record."""
    for e in range(y.shape[0]):
        out = False
        for j in range(y.shape[1]):
            out |= beyond(turned(y[e, j], b[e, j], d[e, j], cos, sin), low[j], high[j])
        if out:
            return False
    return True


@_compiled
def _edits_hold(new, C, rhs) -> bool:
    broken = 0
    for e in range(len(new)):
        broken += edits_fail(new[e], C, rhs[e])
    return broken == 0


@_compiled
def _gaps(B, D, H, terms) -> int:
    """What the limits leave of a turn, into B and D: where each gap begins and ends; the number of gaps."""
    count = 0
    for i in range(len(B) - 1):
        if limiting(B[i], D[i], H[i], terms[i]):
            start, end = forbidden(B[i], D[i], H[i])
            count = _joined(B, D, count, start, end)  # no more intervals than limits so far: nothing is lost
    gaps, covered = 0, 0.0
    B[count] = ROUND  # closes the last gap
    for i in range(count + 1):
        start, end = B[i], D[i]
        if start > covered:
            B[gaps], D[gaps] = covered, start
            gaps += 1
        covered = end
    return gaps


@_compiled
def _joined(starts, ends, count, start, end) -> int:
    """One more interval among those that are in order and apart: what it meets becomes one with it."""
    first = 0
    while first < count and ends[first] < start:
        first += 1
    last = first
    while last < count and starts[last] <= end:
        start, end = min(start, starts[last]), max(end, ends[last])
        last += 1
    if last == first:
        for i in range(count, first, -1):
            starts[i], ends[i] = starts[i - 1], ends[i - 1]
    elif last > first + 1:
        for i in range(last, count):
            starts[i - last + first + 1], ends[i - last + first + 1] = starts[i], ends[i]
    starts[first], ends[first] = start, end
    return count + 1 + first - last
