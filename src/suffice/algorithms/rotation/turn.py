"""One turn of many groups of records, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import EPS, Array
from suffice.algorithms.rotation.arcs import draw, forbidden
from suffice.algorithms.rotation.constraints import ROUNDING, Constraints, combined
from suffice.algorithms.rotation.trigonometry import direction

Rows = NDArray[np.int64]

TRIES = 6
"""Uniform angles tried before the arcs are worked out; the distribution is the same."""
VANISHED = 256 * EPS
"""A column whose part outside the columns before it is at most this share of it adds no direction in a group."""
THIRD = 1 / 3**0.5
CELLS = 1 << 17
"""Cells worked on at once, so that they stay near the processor."""


@dataclass(frozen=True, repr=False)
class Chance:
    """The random numbers of one sweep: two vectors that choose a group's plane, and angles in turns.

    normals: groups x 2 x size; without rows where the plane is the only one.
    uniforms: groups x (TRIES + 1).
    """

    normals: Array
    uniforms: Array

    @classmethod
    def drawn(cls, generator: np.random.Generator, ground: Constraints, groups: Rows) -> Chance:
        count, size = groups.shape
        normals = 0 if only_plane(ground, size) else count
        return cls(generator.standard_normal((normals, 2, size)), generator.random((count, TRIES + 1)))


def only_plane(ground: Constraints, size: int) -> bool:
    """Three records and the intercept alone leave one plane."""
    return ground.plain and size == 3


def turn(Y: Array, ground: Constraints, groups: Rows, chance: Chance) -> None:
    """Turn every group in a plane of the complement of its given columns, in place.

    y(t) = y + (cos t - 1) b + sin t d,   b = u u'y + v v'y,   d = v u'y - u v'y

    with u, v orthonormal and orthogonal to the given columns of the group, all in sqrt(w)-scaled coordinates, and t
    uniform on the angles at which every limit of the group holds.
    """
    step = max(1, CELLS // (groups.shape[1] * Y.shape[1]))
    for first in range(0, len(groups), step):
        part = slice(first, first + step)
        _turn(Y, ground, groups[part], chance.normals[part], chance.uniforms[part])


def _turn(Y: Array, ground: Constraints, rows: Rows, normals: Array, uniforms: Array) -> None:
    y = Y.take(rows, axis=0)
    b, d = circle(y, ground, rows, normals)
    if not ground.bounded:
        Y[rows] = turned(y, b, d, uniforms[:, 0])
        return
    for attempt in range(TRIES):
        new = turned(y, b, d, uniforms[:, attempt])
        left = np.flatnonzero(~_written(Y, new, ground, rows))
        if not len(left):
            return
        y, b, d, uniforms = (each.take(left, axis=0) for each in (y, b, d, uniforms))
        rows = rows.take(left, axis=0)
    new = turned(y, b, d, feasible_angle(y, b, d, ground, rows, uniforms[:, TRIES]))
    onto_bounds(new, np.abs(y) + np.abs(b) + np.abs(d), ground)
    _written(Y, new, ground, rows)


def _written(Y: Array, new: Array, ground: Constraints, rows: Rows) -> NDArray[np.bool_]:
    """Write the groups that keep every limit, and say which they are."""
    good = allowed(new, ground, rows)
    which = np.flatnonzero(good)
    Y[rows.take(which, axis=0).ravel()] = new.take(which, axis=0).reshape(-1, new.shape[2])
    return good


def turned(y: Array, b: Array, d: Array, angle: Array) -> Array:
    """The cells after a turn by an angle in turns: the change is added, so that no turn is no change."""
    cos, sin = direction(angle)
    new = cos[:, None, None] * b
    new += sin[:, None, None] * d
    new += y
    return np.asarray(new)


def circle(y: Array, ground: Constraints, rows: Rows, normals: Array) -> tuple[Array, Array]:
    """The radius vectors b and d of every cell (groups x records x columns)."""
    if only_plane(ground, rows.shape[1]):
        d = y[:, [2, 0, 1]] - y[:, [1, 2, 0]]
        b = y - y[:, :1]
        b -= b.mean(axis=1, keepdims=True)
        d *= THIRD
        return b, d
    root = ground.root[rows]
    u, v = plane(ground.X[rows], normals)
    away = y - y[:, :1] if ground.centred else y  # equal cells turn by nothing at all
    p, q = _product(root * u, away), _product(root * v, away)
    u, v = (u / root)[:, :, None], (v / root)[:, :, None]
    return u * p + v * q, v * p - u * q


def _product(u: Array, y: Array) -> Array:
    """u'y of each group, record after record: in the order of the compiled kernel, so that no bit differs."""
    total = np.zeros((len(y), 1, y.shape[2]))
    for record in range(y.shape[1]):
        total[:, 0] += u[:, record, None] * y[:, record]
    return total


def plane(X: Array, normals: Array) -> tuple[Array, Array]:
    """Two orthonormal vectors per group, orthogonal to its X (groups x records x given) and random otherwise.

    Gram-Schmidt, twice; a group without two directions left gets zeros, and stays.
    """
    columns = np.ascontiguousarray(np.concatenate([X.transpose(2, 1, 0), normals.transpose(1, 2, 0)]))
    basis: list[Array] = []
    for column in columns:
        basis.append(_new_direction(column, basis))
    u, v = basis[-2:]
    both = _dot(u, u) * _dot(v, v) > 0.5
    return np.ascontiguousarray((u * both).T), np.ascontiguousarray((v * both).T)


def _new_direction(column: Array, basis: list[Array]) -> Array:
    """Per group (records x groups): the part of a column outside the basis, at length one, or zero."""
    rest, size = column, np.sqrt(_dot(column, column))
    for _ in range(2):
        for q in basis:
            rest = rest - _dot(q, rest) * q
    length = np.sqrt(_dot(rest, rest))
    counts = length > VANISHED * size
    return np.asarray(rest * np.divide(1.0, length, out=np.zeros_like(length), where=counts))


def _dot(x: Array, y: Array) -> Array:
    """Per group (records x groups), record after record."""
    total = np.zeros(x.shape[1])
    for each, other in zip(x, y, strict=True):
        total += each * other
    return total


def allowed(new: Array, ground: Constraints, rows: Rows) -> NDArray[np.bool_]:
    """Which groups keep every limit."""
    good = np.ones(len(new), dtype=bool)
    if np.isfinite(ground.low).any():
        good &= (new >= ground.low).reshape(len(new), new[0].size).all(axis=1)
    if np.isfinite(ground.high).any():
        good &= (new <= ground.high).reshape(len(new), new[0].size).all(axis=1)
    if len(ground.C):
        good &= ground.edits_hold(new, ground.rhs[rows]).all(axis=1)
    return good


def feasible_angle(y: Array, b: Array, d: Array, ground: Constraints, rows: Rows, uniform: Array) -> Array:
    """An angle drawn uniformly from those that keep every limit of the group."""
    high, low = _columns(np.isfinite(ground.high)), _columns(np.isfinite(ground.low))
    C, a = ground.C, y - b
    B = _flat(b[..., high], -b[..., low], combined(C, b))
    D = _flat(d[..., high], -d[..., low], combined(C, d))
    H = _flat((ground.high - a)[..., high], (a - ground.low)[..., low], ground.rhs[rows] - combined(C, a))
    noise = _flat(np.abs(y)[..., high], np.abs(y)[..., low], combined(np.abs(C), np.abs(y))) * ROUNDING
    squared = B * B + D * D
    limiting = (H * np.abs(H) < squared) & (squared > noise * noise)  # what turns by rounding alone limits nothing
    start, end = forbidden(B[limiting], D[limiting], H[limiting])
    return draw(np.nonzero(limiting)[0], start, end, uniform)


def _columns(chosen: NDArray[np.bool_]) -> slice | NDArray[np.intp]:
    """All columns without copying them, or those that are chosen."""
    return slice(None) if chosen.all() else np.flatnonzero(chosen)


def _flat(*parts: Array) -> Array:
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def onto_bounds(new: Array, size: Array, ground: Constraints) -> None:
    """Put cells that rounding carried beyond a bound onto it, in place."""
    inside = np.clip(new, ground.low, ground.high)
    np.copyto(new, inside, where=np.abs(new - inside) <= ROUNDING * size)
