"""The same turn, compiled: optional, and never another release."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from suffice.rotation.arcs import ROUND
from suffice.rotation.ground import ROUNDING, SLACK, Ground
from suffice.rotation.trigonometry import QUARTER, arctangent, sine, versine
from suffice.rotation.turn import THIRD, TRIES, VANISHED, Chance, only_plane

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

_compiled = njit(cache=True, nogil=True, error_model="numpy")  # no fast mathematics: it would be another release
_sine, _versine, _arctangent = _compiled(sine), _compiled(versine), _compiled(arctangent)


def turn(Y: Array, ground: Ground, groups: Rows, chance: Chance) -> None:
    """Turn every group as `suffice.rotation.turn` does, in place."""
    limits = (ground.low, ground.high, ground.C, ground.rhs)
    if only_plane(ground, groups.shape[1]):
        _threes(Y, groups, chance.uniforms, ground.bounded, *limits)
    else:
        given = (ground.X, ground.root, ground.centred)
        _groups(Y, groups, chance.normals, chance.uniforms, ground.bounded, *given, *limits)


@_compiled
def _threes(Y, groups, uniforms, bounded, low, high, C, rhs) -> None:  # type: ignore[no-untyped-def]
    k = Y.shape[1]
    y, b, d, new = np.empty((3, k)), np.empty((3, k)), np.empty((3, k)), np.empty((3, k))
    arcs = _room(3, k, C)
    for i in range(len(groups)):
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


@_compiled
def _groups(  # type: ignore[no-untyped-def]
    Y, groups, normals, uniforms, bounded, X, root, centred, low, high, C, rhs
) -> None:
    g, k, r = groups.shape[1], Y.shape[1], X.shape[1]
    y, b, d, new = np.empty((g, k)), np.empty((g, k)), np.empty((g, k)), np.empty((g, k))
    basis, p, q = np.empty((r + 2, g)), np.empty(k), np.empty(k)
    arcs = _room(g, k, C)
    for i in range(len(groups)):
        rows = groups[i]
        for e in range(g):
            row = rows[e]
            for c in range(r):
                basis[c, e] = X[row, c]
            basis[r, e], basis[r + 1, e] = normals[i, 0, e], normals[i, 1, e]
        if not _plane(basis):
            continue
        p[:] = 0.0
        q[:] = 0.0
        for e in range(g):
            row = rows[e]
            u, v = root[row] * basis[r, e], root[row] * basis[r + 1, e]
            for j in range(k):
                y[e, j] = Y[row, j]
                away = y[e, j] - y[0, j] if centred else y[e, j]
                p[j] += u * away
                q[j] += v * away
        for e in range(g):
            u, v = basis[r, e] / root[rows[e]], basis[r + 1, e] / root[rows[e]]
            for j in range(k):
                b[e, j] = u * p[j] + v * q[j]
                d[e, j] = v * p[j] - u * q[j]
        _settle(Y, rows, y, b, d, new, uniforms[i], bounded, low, high, C, rhs, arcs)


@_compiled
def _plane(basis) -> bool:  # type: ignore[no-untyped-def]
    """Gram-Schmidt, twice, in place; whether the last two vectors both count."""
    count, g = basis.shape
    last = 0
    for c in range(count):
        size = 0.0
        for e in range(g):
            size += basis[c, e] * basis[c, e]
        for _ in range(2):
            for o in range(c):
                dot = 0.0
                for e in range(g):
                    dot += basis[o, e] * basis[c, e]
                for e in range(g):
                    basis[c, e] -= dot * basis[o, e]
        left = 0.0
        for e in range(g):
            left += basis[c, e] * basis[c, e]
        counts = math.sqrt(left) > VANISHED * math.sqrt(size)
        scale = 1.0 / math.sqrt(left) if counts else 0.0
        for e in range(g):
            basis[c, e] *= scale
        if c >= count - 2 and counts:
            last += 1
    return last == 2


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
    """See `suffice.rotation.trigonometry.direction`."""
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
                arcs[0, count], arcs[1, count] = _forbidden(B, D, above)
                count += 1
            if _limits(below, squared, noise):
                arcs[0, count], arcs[1, count] = _forbidden(-B, -D, below)
                count += 1
        for c in range(C.shape[0]):
            B, D, F, terms = 0.0, 0.0, 0.0, 0.0
            for j in range(y.shape[1]):
                B += C[c, j] * b[e, j]
                D += C[c, j] * d[e, j]
                F += C[c, j] * (y[e, j] - b[e, j])
                terms += abs(C[c, j] * y[e, j])
            if _limits(rhs[rows[e], c] - F, B * B + D * D, ROUNDING * terms):
                arcs[0, count], arcs[1, count] = _forbidden(B, D, rhs[rows[e], c] - F)
                count += 1
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
    """The interval that one limit forbids; see `suffice.rotation.arcs.forbidden`."""
    q = math.sqrt(max(b * b + d * d - h * h, 0.0))
    middle = _bearing(b, d)
    start, end = _bearing(b * h + d * q, d * h - b * q), _bearing(b * h - d * q, d * h + b * q)
    return 0.0 if start > middle else start, ROUND if end < middle else end


@_compiled
def _sort(arcs, count) -> None:  # type: ignore[no-untyped-def]
    """By start, by insertion: there are few."""
    for i in range(1, count):
        start, end, j = arcs[0, i], arcs[1, i], i - 1
        while j >= 0 and arcs[0, j] > start:
            arcs[0, j + 1], arcs[1, j + 1] = arcs[0, j], arcs[1, j]
            j -= 1
        arcs[0, j + 1], arcs[1, j + 1] = start, end


@_compiled
def _draw(arcs, count, uniform) -> float:  # type: ignore[no-untyped-def]
    """An angle uniform on what the intervals leave; see `suffice.rotation.arcs.draw`."""
    _sort(arcs, count)
    arcs[0, count] = ROUND  # closes the last gap
    free, covered, gaps = 0.0, 0.0, 0
    for i in range(count + 1):
        start, end = arcs[0, i], arcs[1, i]
        if start > covered:  # a gap: kept as the angle where it begins, and its length
            first = _turns(covered)
            arcs[0, gaps], arcs[1, gaps] = first, _turns(start) - first
            free += arcs[1, gaps]
            gaps += 1
        if i < count:
            covered = max(covered, end)
    place, reach, drawn = uniform * free, 0.0, 0.0
    for i in range(gaps):
        reach += arcs[1, i]
        if place >= reach - arcs[1, i] and place < reach:
            drawn = arcs[0, i] + (place - (reach - arcs[1, i]))
    return drawn
