"""The same turn, compiled: optional, and never another release."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.rotation.arcs import ROUND
from suffice.algorithms.rotation.compass import FRACTION, ONE
from suffice.algorithms.rotation.constraints import ROUNDING, SLACK, Constraints
from suffice.algorithms.rotation.trigonometry import QUARTER, arctangent, sine, versine
from suffice.algorithms.rotation.turn import THIRD, TRIES, VANISHED, Chance, only_plane

Rows = NDArray[np.int64]

AHEAD = 64
"""Groups whose records are brought near the processor together."""

_compiled = njit(cache=True, nogil=True, error_model="numpy")  # no fast mathematics: it would be another release
_sine, _versine, _arctangent = _compiled(sine), _compiled(versine), _compiled(arctangent)


def turn(Y: Array, ground: Constraints, groups: Rows, chance: Chance) -> None:
    """Turn every group as `suffice.algorithms.rotation.turn` does, in place."""
    limits = (ground.low, ground.high, ground.C, ground.rhs)
    if only_plane(ground, groups.shape[1]):
        _threes(Y, groups, chance.uniforms, ground.bounded, *limits)
    else:
        given = (ground.X, ground.root, ground.centred)
        _groups(Y, groups, chance.normals, chance.uniforms, ground.bounded, *given, *limits)


def along(Y: Array, scale: Array, factor: Array) -> Array:
    """Where each record stands, as `suffice.algorithms.rotation.compass` tells it."""
    return _along(Y, scale, factor)


@_compiled
def _along(Y, scale, factor):  # type: ignore[no-untyped-def]
    out = np.zeros(len(Y))
    for i in range(len(Y)):
        total = 0.0
        for j in range(Y.shape[1]):
            size = np.float64(1.0 + abs(Y[i, j]) / scale[j])
            total += math.copysign((size.view(np.int64) - ONE) * FRACTION, Y[i, j]) * factor[j]
        out[i] = total
    return out


@_compiled
def _fetched(A, groups, first) -> float:  # type: ignore[no-untyped-def]
    """Reads both ends of the records of the next groups, many at once; their sum is for no one, but it must be used."""
    total = 0.0
    for i in range(first, min(first + AHEAD, len(groups))):
        for row in groups[i]:
            total += A[row, 0] + A[row, -1]
    return total


@_compiled
def _threes(Y, groups, uniforms, bounded, low, high, C, rhs) -> float:  # type: ignore[no-untyped-def]
    k = Y.shape[1]
    y, b, d, new = np.empty((3, k)), np.empty((3, k)), np.empty((3, k)), np.empty((3, k))
    arcs, read = _room(3, k, C), 0.0
    for i in range(len(groups)):
        if i % AHEAD == 0:
            read += _fetched(Y, groups, i)
        rows = groups[i]
        r0, r1, r2 = rows[0], rows[1], rows[2]
        for j in range(k):
            y0, y1, y2 = Y[r0, j], Y[r1, j], Y[r2, j]
            y[0, j], y[1, j], y[2, j] = y0, y1, y2
            e1, e2 = y1 - y0, y2 - y0
            m = (e1 + e2) / 3.0
            b[0, j], b[1, j], b[2, j] = -m, e1 - m, e2 - m
            d[0, j], d[1, j], d[2, j] = (y2 - y1) * THIRD, (y0 - y2) * THIRD, (y1 - y0) * THIRD
        _settle(Y, rows, y, b, d, new, uniforms[i], bounded, low, high, C, rhs, arcs)
    return read


@_compiled
def _groups(  # type: ignore[no-untyped-def]
    Y, groups, normals, uniforms, bounded, X, root, centred, low, high, C, rhs
) -> float:
    g, k, r = groups.shape[1], Y.shape[1], X.shape[1]
    y, b, d, new = np.empty((g, k)), np.empty((g, k)), np.empty((g, k)), np.empty((g, k))
    basis, good, p, q = np.empty((r + 2, g, AHEAD)), np.empty(AHEAD, np.bool_), np.empty(k), np.empty(k)
    arcs, read = _room(g, k, C), 0.0
    for i in range(len(groups)):
        lane = i % AHEAD
        if lane == 0:
            read += _fetched(Y, groups, i)
            _fill(basis, X, groups, normals, i)
            _planes(basis, good)
        if not good[lane]:
            continue
        rows, us, vs = groups[i], basis[r, :, lane], basis[r + 1, :, lane]
        p[:] = 0.0
        q[:] = 0.0
        for e in range(g):
            row = rows[e]
            u, v = root[row] * us[e], root[row] * vs[e]
            for j in range(k):
                y[e, j] = Y[row, j]
                away = y[e, j] - y[0, j] if centred else y[e, j]
                p[j] += u * away
                q[j] += v * away
        for e in range(g):
            u, v = us[e] / root[rows[e]], vs[e] / root[rows[e]]
            for j in range(k):
                b[e, j] = u * p[j] + v * q[j]
                d[e, j] = v * p[j] - u * q[j]
        _settle(Y, rows, y, b, d, new, uniforms[i], bounded, low, high, C, rhs, arcs)
    return read


@_compiled
def _fill(basis, X, groups, normals, first) -> None:  # type: ignore[no-untyped-def]
    """The given columns of the next groups, and two random ones, group beside group."""
    r = X.shape[1]
    for lane in range(min(AHEAD, len(groups) - first)):
        for e in range(groups.shape[1]):
            row = groups[first + lane, e]
            for c in range(r):
                basis[c, e, lane] = X[row, c]
            basis[r, e, lane], basis[r + 1, e, lane] = normals[first + lane, 0, e], normals[first + lane, 1, e]


@_compiled
def _planes(basis, good) -> None:  # type: ignore[no-untyped-def]
    """Gram-Schmidt, twice, in place, for many groups at once; whether the last two vectors of each both count."""
    size, dot, left = np.empty(AHEAD), np.empty(AHEAD), np.empty(AHEAD)
    good[:] = True
    for c in range(len(basis)):
        _dots(basis[c], basis[c], size)
        for _ in range(2):
            for o in range(c):
                _dots(basis[o], basis[c], dot)
                _subtract(basis[c], dot, basis[o])
        _dots(basis[c], basis[c], left)
        for lane in range(AHEAD):
            counts = math.sqrt(left[lane]) > VANISHED * math.sqrt(size[lane])
            left[lane] = 1.0 / math.sqrt(left[lane]) if counts else 0.0
            good[lane] &= counts or c < len(basis) - 2
        for e in range(basis.shape[1]):
            for lane in range(AHEAD):
                basis[c, e, lane] *= left[lane]


@_compiled
def _dots(x, y, total) -> None:  # type: ignore[no-untyped-def]
    """Per group, record after record."""
    total[:] = 0.0
    for e in range(x.shape[0]):
        for lane in range(AHEAD):
            total[lane] += x[e, lane] * y[e, lane]


@_compiled
def _subtract(x, dot, y) -> None:  # type: ignore[no-untyped-def]
    for e in range(x.shape[0]):
        for lane in range(AHEAD):
            x[e, lane] -= dot[lane] * y[e, lane]


@_compiled
def _settle(  # type: ignore[no-untyped-def]
    Y, rows, y, b, d, new, uniforms, bounded, low, high, C, rhs, arcs
) -> None:
    """Draw the angle of one group, and write its records if every limit holds."""
    if not bounded:
        _turned(y, b, d, uniforms[0], new)
        _write(Y, rows, new)
        return
    for attempt in range(TRIES):
        angle = uniforms[attempt]
        if _within(y, b, d, angle, low, high):
            _turned(y, b, d, angle, new)
            if _edits_hold(new, rows, C, rhs):
                _write(Y, rows, new)
                return
    _turned(y, b, d, _feasible_angle(y, b, d, rows, uniforms[TRIES], low, high, C, rhs, arcs), new)
    if _onto_bounds(y, b, d, new, low, high) and _edits_hold(new, rows, C, rhs):
        _write(Y, rows, new)


@_compiled
def _write(Y, rows, new) -> None:  # type: ignore[no-untyped-def]
    for e in range(len(rows)):
        for j in range(new.shape[1]):
            Y[rows[e], j] = new[e, j]


@_compiled
def _direction(turns):  # type: ignore[no-untyped-def]
    """See `suffice.algorithms.rotation.trigonometry.direction`."""
    quarter = math.floor(4.0 * turns + 0.5)
    r = (4.0 * turns - quarter) * QUARTER
    s, v = _sine(r), _versine(r)
    if quarter == 1:
        return -s - 1.0, 1.0 + v
    if quarter == 2:
        return -2.0 - v, -s
    if quarter == 3:
        return s - 1.0, -(1.0 + v)
    return v, s


@_compiled
def _turned(y, b, d, angle, new) -> None:  # type: ignore[no-untyped-def]
    c, s = _direction(angle)
    for e in range(y.shape[0]):
        for j in range(y.shape[1]):
            new[e, j] = c * b[e, j] + s * d[e, j] + y[e, j]


@_compiled
def _within(y, b, d, angle, low, high) -> bool:  # type: ignore[no-untyped-def]
    """Whether every bound holds after a turn; most groups are told apart by their first record."""
    c, s = _direction(angle)
    for e in range(y.shape[0]):
        out = 0
        for j in range(y.shape[1]):
            value = c * b[e, j] + s * d[e, j] + y[e, j]
            out += (value < low[j]) | (value > high[j])
        if out:
            return False
    return True


@_compiled
def _edits_hold(new, rows, C, rhs) -> bool:  # type: ignore[no-untyped-def]
    for e in range(len(rows)):
        for c in range(C.shape[0]):
            total, terms = 0.0, 0.0
            for j in range(C.shape[1]):
                total += C[c, j] * new[e, j]
                terms += abs(C[c, j] * new[e, j])
            if total > rhs[rows[e], c] + SLACK * (terms + abs(rhs[rows[e], c])):
                return False
    return True


@_compiled
def _onto_bounds(y, b, d, new, low, high) -> bool:  # type: ignore[no-untyped-def]
    for e in range(y.shape[0]):
        for j in range(y.shape[1]):
            inside = min(max(new[e, j], low[j]), high[j])
            if abs(new[e, j] - inside) > ROUNDING * (abs(y[e, j]) + abs(b[e, j]) + abs(d[e, j])):
                return False
            new[e, j] = inside
    return True


@_compiled
def _room(g, k, C):  # type: ignore[no-untyped-def]
    """Where the arcs of one group are worked out: as many as it can have limits, and one that closes them."""
    return np.empty((2, g * (2 * k + C.shape[0]) + 1))


@_compiled
def _feasible_angle(  # type: ignore[no-untyped-def]
    y, b, d, rows, uniform, low, high, C, rhs, arcs
) -> float:
    count = 0
    for e in range(y.shape[0]):
        for j in range(y.shape[1]):
            a, B, D = y[e, j] - b[e, j], b[e, j], d[e, j]
            squared, noise = B * B + D * D, ROUNDING * abs(y[e, j])
            above, below = high[j] - a, a - low[j]
            if _limits(above, squared, noise):
                count = _joined(arcs, count, *_forbidden(B, D, above))
            if _limits(below, squared, noise):
                count = _joined(arcs, count, *_forbidden(-B, -D, below))
        for c in range(C.shape[0]):
            B, D, F, terms = 0.0, 0.0, 0.0, 0.0
            for j in range(y.shape[1]):
                B += C[c, j] * b[e, j]
                D += C[c, j] * d[e, j]
                F += C[c, j] * (y[e, j] - b[e, j])
                terms += abs(C[c, j] * y[e, j])
            if _limits(rhs[rows[e], c] - F, B * B + D * D, ROUNDING * terms):
                count = _joined(arcs, count, *_forbidden(B, D, rhs[rows[e], c] - F))
    return _draw(arcs, count, uniform)


@_compiled
def _limits(h, squared, noise) -> bool:  # type: ignore[no-untyped-def]
    """Whether a circle of that squared radius passes h; what turns by rounding alone limits nothing."""
    return h * abs(h) < squared and squared > noise * noise


@_compiled
def _bearing(x, y) -> float:  # type: ignore[no-untyped-def]
    p = x / (abs(x) + abs(y))
    return 1.0 - p if y >= 0 else 3.0 + p


@_compiled
def _turns(t) -> float:  # type: ignore[no-untyped-def]
    quarter = math.floor(t)
    return max(0.25 * (quarter + 0.5 + _arctangent(2.0 * (t - quarter) - 1.0) / QUARTER), 0.0)


@_compiled
def _forbidden(b, d, h):  # type: ignore[no-untyped-def]
    """The interval that one limit forbids; see `suffice.algorithms.rotation.arcs.forbidden`."""
    q = math.sqrt(max(b * b + d * d - h * h, 0.0))
    middle = _bearing(b, d)
    start, end = _bearing(b * h + d * q, d * h - b * q), _bearing(b * h - d * q, d * h + b * q)
    return 0.0 if start > middle else start, ROUND if end < middle else end


@_compiled
def _joined(arcs, count, start, end) -> int:  # type: ignore[no-untyped-def]
    """One more interval among those that are in order and apart: what it meets becomes one with it."""
    first = 0
    while first < count and arcs[1, first] < start:
        first += 1
    last = first
    while last < count and arcs[0, last] <= end:
        start, end = min(start, arcs[0, last]), max(end, arcs[1, last])
        last += 1
    if last == first:
        for i in range(count, first, -1):
            arcs[0, i], arcs[1, i] = arcs[0, i - 1], arcs[1, i - 1]
    elif last > first + 1:
        for i in range(last, count):
            arcs[0, i - last + first + 1], arcs[1, i - last + first + 1] = arcs[0, i], arcs[1, i]
    arcs[0, first], arcs[1, first] = start, end
    return count + 1 + first - last


@_compiled
def _draw(arcs, count, uniform) -> float:  # type: ignore[no-untyped-def]
    """An angle uniform on what the intervals leave; see `suffice.algorithms.rotation.arcs.draw`."""
    arcs[0, count] = ROUND  # closes the last gap
    free, covered, gaps = 0.0, 0.0, 0
    for i in range(count + 1):
        start, end = arcs[0, i], arcs[1, i]
        if start > covered:  # a gap: kept as the angle where it begins, and its length
            first = _turns(covered)
            arcs[0, gaps], arcs[1, gaps] = first, _turns(start) - first
            free += arcs[1, gaps]
            gaps += 1
        covered = end
    place, reach, drawn = uniform * free, 0.0, 0.0
    for i in range(gaps):
        reach += arcs[1, i]
        if place >= reach - arcs[1, i] and place < reach:
            drawn = arcs[0, i] + (place - (reach - arcs[1, i]))
    return drawn
