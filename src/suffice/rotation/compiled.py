"""The same turn, compiled: optional, and never another release."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from suffice.rotation.arcs import TURN
from suffice.rotation.ground import ROUNDING, SLACK, Ground
from suffice.rotation.turn import TRIES, VANISHED, Chance, only_plane

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

THIRD = 1 / math.sqrt(3.0)
_compiled = njit(cache=True, nogil=True, fastmath={"contract"})


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
    for attempt in range(TRIES if bounded else 1):
        angle = TURN * uniforms[attempt]
        if _turned(y, b, d, angle, new, bounded, low, high) and _edits_hold(new, rows, C, rhs):
            _write(Y, rows, new)
            return
    angle = _feasible_angle(y, b, d, rows, uniforms[TRIES], low, high, C, rhs, arcs)
    _turned(y, b, d, angle, new, False, low, high)
    if _onto_bounds(y, b, d, new, low, high) and _edits_hold(new, rows, C, rhs):
        _write(Y, rows, new)


@_compiled
def _write(Y, rows, new) -> None:  # type: ignore[no-untyped-def]
    for e in range(len(rows)):
        for j in range(new.shape[1]):
            Y[rows[e], j] = new[e, j]


@_compiled
def _turned(y, b, d, angle, new, check, low, high) -> bool:  # type: ignore[no-untyped-def]
    c, s = math.cos(angle) - 1.0, math.sin(angle)
    good = True
    for e in range(y.shape[0]):
        for j in range(y.shape[1]):
            value = c * b[e, j] + s * d[e, j] + y[e, j]
            new[e, j] = value
            good &= (value >= low[j]) & (value <= high[j])
        if check and not good:
            return False
    return True


@_compiled
def _edits_hold(new, rows, C, rhs) -> bool:  # type: ignore[no-untyped-def]
    for e in range(len(rows)):
        for c in range(C.shape[0]):
            total, terms = 0.0, abs(rhs[rows[e], c])
            for j in range(C.shape[1]):
                total += C[c, j] * new[e, j]
                terms += abs(C[c, j] * new[e, j])
            if total > rhs[rows[e], c] + SLACK * terms:
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
    """Where the arcs of one group are worked out: as many as it can have limits."""
    return np.empty((2, g * (2 * k + C.shape[0])))


@_compiled
def _feasible_angle(  # type: ignore[no-untyped-def]
    y, b, d, rows, uniform, low, high, C, rhs, arcs
) -> float:
    count = 0
    for e in range(y.shape[0]):
        for j in range(y.shape[1]):
            a, noise = y[e, j] - b[e, j], ROUNDING * abs(y[e, j])
            if high[j] < np.inf:
                count = _forbid(b[e, j], d[e, j], high[j] - a, noise, arcs, count)
            if low[j] > -np.inf:
                count = _forbid(-b[e, j], -d[e, j], a - low[j], noise, arcs, count)
        for c in range(C.shape[0]):
            B, D, F, terms = 0.0, 0.0, 0.0, 0.0
            for j in range(y.shape[1]):
                B += C[c, j] * b[e, j]
                D += C[c, j] * d[e, j]
                F += C[c, j] * (y[e, j] - b[e, j])
                terms += abs(C[c, j] * y[e, j])
            count = _forbid(B, D, rhs[rows[e], c] - F, ROUNDING * terms, arcs, count)
    return _draw(arcs, count, uniform)


@_compiled
def _forbid(b, d, h, noise, arcs, count) -> int:  # type: ignore[no-untyped-def]
    """Note the interval that one limit forbids; see `suffice.rotation.arcs.forbidden`."""
    squared = b * b + d * d
    if h * abs(h) >= squared or squared <= noise * noise:
        return count
    half, phi = math.acos(min(max(h / math.hypot(b, d), -1.0), 1.0)), math.atan2(d, b)
    if phi > 0:
        arcs[0, count], arcs[1, count] = max(phi - half, 0.0), min(phi + half, TURN)
    else:
        arcs[0, count], arcs[1, count] = max(phi - half + TURN, 0.0), min(phi + half, 0.0) + TURN
    return count + 1


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
    free, covered = 0.0, 0.0
    for i in range(count):
        free += max(arcs[0, i] - covered, 0.0)
        covered = max(covered, arcs[1, i])
    free += max(TURN - covered, 0.0)
    place, covered = uniform * free, 0.0
    for i in range(count):
        gap = max(arcs[0, i] - covered, 0.0)
        if place < gap:
            return covered + place
        place -= gap
        covered = max(covered, arcs[1, i])
    return covered + place if free > 0 else 0.0
