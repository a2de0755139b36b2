"""The same turn, compiled, group after group: optional, and never another release."""

# mypy: disable-error-code="assignment, no-untyped-call, no-untyped-def, untyped-decorator, no-any-return"
from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload, register_jitable
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.rotation import circles, trigonometry
from suffice.algorithms.rotation.circles import beyond, circle, circle_of_three, edits_fail, orthonormalise, turned
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.densities import Densities, cell_density, log_density
from suffice.algorithms.rotation.trigonometry import angle, choose, direction, lg, narrowed, signed_lg, some
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


@overload(some)
def _some(flags):
    return (lambda flags: flags.any()) if isinstance(flags, types.Array) else (lambda flags: flags)


for _source in (edits_fail, lg, signed_lg, log_density, circles.dot, orthonormalise, angle, narrowed):
    register_jitable(_source)
_hot = (cell_density, trigonometry.sine, trigonometry.versine, direction, circle, circle_of_three, turned, beyond)
for _source in _hot:  # a frame for each would cost as much as its work
    register_jitable(inline="always")(_source)


def turn(
    Y: Array, ground: Constraints, law: Densities, groups: Rows, chance: Chance, known: Array | None = None
) -> None:
    """Turn every group as `suffice.algorithms.rotation.turn` does, in place."""
    known = np.full(len(Y), np.nan) if known is None else known
    given = (ground.X, ground.root, ground.centred, only_plane(ground, groups.shape[1]))
    held = ((ground.low, ground.high), ground.C, ground.rhs)
    _groups(Y, known, groups, (chance.normals, chance.drops, chance.seeds), *given, *held, law.arrays, TRIES)


@_compiled
def orthonormalised(bases) -> None:
    """Every group's columns (groups x columns x records), in place."""
    for i in range(len(bases)):
        orthonormalise(bases[i])


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
def decided(after, before, groups, together, drops, d, sums, steep):
    """Which turns are accepted, as `suffice.algorithms.rotation.column_sums` decides; d becomes that of all of them."""
    kept = np.ones(len(drops), dtype=np.bool_)
    k = after.shape[1]
    powers, below = np.empty((2, k)), np.empty(sums[4].shape)
    for i in range(len(drops)):
        powers[:], below[:] = 0.0, 0.0
        for group in groups[i * together : (i + 1) * together]:
            for row in group:
                _changed(after[row], before[row], row, sums, powers, below)
        change = _in_units(powers, below, sums)
        kept[i] = not _height(d + change, sums[7], steep) - _height(d, sums[7], steep) > drops[i]
        if kept[i]:
            d += change
    return kept


@_compiled
def _height(d, lean, steep) -> float:
    total = 0.0
    for j in range(len(lean)):
        out = max(abs(d[j]) - 1.0, 0.0)
        total += steep / 2 * out * out - lean[j] * d[j]
    for each in d:
        total += 0.5 * each * each
    return total


@_compiled
def _changed(new, old, row, sums, powers, below) -> None:
    """Adds what the turn of a record changes: third and fourth powers, and how many are below each cut."""
    mean, inverse, _, _, cuts, _, weights, _ = sums
    w = weights[row] if len(weights) else 1.0
    for j in range(len(new)):
        if inverse[j] == 0.0:
            continue
        a, b = (old[j] - mean[j]) * inverse[j], (new[j] - mean[j]) * inverse[j]
        powers[0, j] += w * (b * b * b - a * a * a)
        powers[1, j] += w * (b * b * b * b - a * a * a * a)
        after, before = new[j], old[j]
        for c in range(cuts.shape[1]):  # without a branch: many cuts are compared at once
            below[j, c] += w * np.float64(np.int8(after <= cuts[j, c]) - np.int8(before <= cuts[j, c]))


@_compiled
def _in_units(powers, below, sums):
    """What they add to d."""
    _, _, W, fourth, _, count, _, _ = sums
    k = len(fourth)
    change = np.zeros(2 * k + count.size)
    for j in range(k):
        for i in range(k):
            change[j] += powers[0, i] * W[i, j]
        change[k + j] = powers[1, j] * fourth[j]
        for c in range(len(count)):
            change[2 * k + c * k + j] = below[j, c] * count[c, j]
    return change


@_compiled
def _fetched(A, groups, first) -> float:
    """Reads both ends of the records of the next groups, many at once; their sum is for no one, but it must be used."""
    total = 0.0
    for i in range(first, min(first + AHEAD, len(groups))):
        for row in groups[i]:
            total += A[row, 0] + A[row, -1]
    return total


@_compiled
def _groups(Y, known, groups, chance, X, root, centred, three, bounds, C, rhs, law, tries) -> float:
    g, k, r, read = groups.shape[1], Y.shape[1], X.shape[1], 0.0
    normals, drops, seeds = chance
    y, b, d, new = np.empty((g, k)), np.empty((g, k)), np.empty((g, k)), np.empty((g, k))
    basis, w, own, q = np.empty((r + 2, g)), np.empty(g), np.empty((g, len(C))), np.empty(len(law[6]))
    logs, density = np.empty(g), len(law[4]) > 0
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
        level = 0.0
        for e in range(g if density else 0):
            log = known[rows[e]]
            level = level + (log_density(y[e], law, q) if np.isnan(log) else log)
        if _settled(y, b, d, new, level - drops[i], seeds[i], bounds, C, own, law, q, logs, tries):
            for e in range(g):
                row = rows[e]
                for j in range(k):
                    Y[row, j] = new[e, j]
                if density:
                    known[row] = logs[e]
    return read


@_compiled
def _settled(y, b, d, new, level, seed, bounds, C, rhs, law, q, logs, tries) -> bool:
    """Draw the angle of one group and turn it; whether one was found. logs: log p of the records there."""
    low, high = bounds
    right = angle(seed, 0)
    left, t = right - 1.0, right
    for attempt in range(1, tries + 1):
        cos, sin = direction(t)
        inside = _within(y, b, d, cos, sin, low, high, new) and _edits_hold(new, C, rhs)
        if inside and (len(law[4]) == 0 or not _log_density(new, law, q, logs) < level):
            return True
        left, right = narrowed(left, right, t)
        t = left + angle(seed, attempt) * (right - left)
    return False


@_compiled
def _log_density(y, law, q, logs) -> float:
    total = 0.0
    for e in range(len(y)):
        logs[e] = log_density(y[e], law, q)
        total = total + logs[e]
    return total


@_compiled
def _within(y, b, d, cos, sin, low, high, new) -> bool:
    """Turn a group; whether every bound holds. Most groups are told apart by their first record."""
    for e in range(y.shape[0]):
        out = False
        for j in range(y.shape[1]):
            new[e, j] = turned(y[e, j], b[e, j], d[e, j], cos, sin)
            out |= beyond(new[e, j], low[j], high[j])
        if out:
            return False
    return True


@_compiled
def _edits_hold(new, C, rhs) -> bool:
    broken = 0
    for e in range(len(new)):
        broken += edits_fail(new[e], C, rhs[e])
    return broken == 0
