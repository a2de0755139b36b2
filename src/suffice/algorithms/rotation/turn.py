"""One turn of many groups of records side by side, in NumPy."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
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
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.trigonometry import direction

Rows = NDArray[np.int64]

TRIES = 6
"""Uniform angles tried before the arcs are worked out; the distribution is the same."""
CELLS = 1 << 18
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
    y = beside(Y.take(rows, axis=0))
    b, d = radii(y, ground, rows, normals)
    for attempt in range(TRIES if ground.bounded else 1):
        new = _moved(y, b, d, uniforms[:, attempt])
        outside = (_any(map(beyond, each, ground.low, ground.high)) for each in new)
        failed = _any(outside) | _edits_fail(new, ground, rows)
        _write(Y, new, rows, ~failed)
        left = np.flatnonzero(failed)
        if not len(left):
            return
        y, b, d = (each.take(left, axis=2) for each in (y, b, d))
        rows, uniforms = rows.take(left, axis=0), uniforms.take(left, axis=0)
    new = _moved(y, b, d, feasible_angle(y, b, d, ground, rows, uniforms[:, -1]))
    failed = _any(onto_bounds(*each[:3], ground.low, ground.high, each[3]) for each in zip(y, b, d, new, strict=True))
    _write(Y, new, rows, ~(failed | _edits_fail(new, ground, rows)))


def beside(y: Array) -> Array:
    """Groups side by side (records x columns x groups) instead of one after the other."""
    return np.ascontiguousarray(y.transpose(1, 2, 0))


def _write(Y: Array, new: Array, rows: Rows, good: Flags) -> None:
    Y[rows[good]] = new.transpose(2, 0, 1)[good]


def radii(y: Array, ground: Constraints, rows: Rows, normals: Array) -> tuple[Array, Array]:
    """The radius vectors b and d of every cell (records x columns x groups)."""
    b, d = np.empty_like(y), np.empty_like(y)
    if only_plane(ground, len(y)):
        circle_of_three(y, b, d)
        return b, d
    u, v = plane(ground.X[rows], normals)
    circle(y, u, v, ground.root[rows].T, ground.centred, b, d, np.empty_like(y[0]), np.empty_like(y[0]))
    return b, d


def plane(X: Array, normals: Array) -> tuple[Array, Array]:
    """Two orthonormal vectors per group (records x groups), orthogonal to its X (groups x records x given) and random
    otherwise; a group without two directions left has a vector that is zero."""
    basis = np.ascontiguousarray(np.concatenate([X.transpose(2, 1, 0), normals.transpose(1, 2, 0)]))
    with np.errstate(divide="ignore", invalid="ignore"):
        orthonormalise(basis)
    return basis[-2], basis[-1]


def _moved(y: Array, b: Array, d: Array, angle: Array) -> Array:
    """The cells after a turn by an angle in turns."""
    cos, sin = direction(angle)
    new = np.empty_like(y)
    for e in range(len(y)):
        for j in range(y.shape[1]):  # row by row, near the processor
            new[e, j] = turned(y[e, j], b[e, j], d[e, j], cos, sin)
    return new


def _any(flags: Iterable[Flags]) -> Flags:
    """Groups of which some record, or some cell, has a flag."""
    return np.asarray(np.logical_or.reduce(list(flags)))


def _edits_fail(new: Array, ground: Constraints, rows: Rows) -> Flags:
    if not len(ground.C):
        return np.zeros(len(rows), dtype=bool)
    return _any(edits_fail(new[e], ground.C, ground.rhs[rows[:, e]].T) for e in range(len(new)))


def feasible_angle(y: Array, b: Array, d: Array, ground: Constraints, rows: Rows, uniform: Array) -> Array:
    """An angle drawn uniformly from those that keep every limit of the group."""
    B, D, H, terms = np.empty((4, len(y) * ground.limits, len(rows)))
    bounds = (ground.low, ground.high)
    limits(y, b, d, bounds, ground.columns, ground.C, beside(ground.rhs[rows]), B, D, H, terms)
    which = limiting(B, D, H, terms)
    start, end = np.full((2, *which.shape), ROUND)
    start[which], end[which] = forbidden(B[which], D[which], H[which])
    return np.asarray(draw(*gaps(start, end), uniform))


def gaps(start: Array, end: Array) -> tuple[Array, Array]:
    """What the intervals of each group leave (intervals x groups): where each gap begins and ends, in order.

    >>> left, right = gaps(np.array([[1.0], [0.5]]), np.array([[3.0], [1.5]]))
    >>> left.T.tolist(), right.T.tolist()
    ([[0.0, 3.0]], [[0.5, 4.0]])
    """
    closed = np.full((start.shape[1], len(start) + 1), ROUND)
    covered = np.zeros_like(closed)
    order = np.argsort(start.T, axis=1)
    closed[:, :-1] = np.take_along_axis(start.T, order, 1)
    np.maximum.accumulate(np.take_along_axis(end.T, order, 1), axis=1, out=covered[:, 1:])
    group, interval = np.nonzero(closed > covered)
    count = np.bincount(group, minlength=len(closed))
    place = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    left, right = np.zeros((2, int(count.max(initial=0)), len(closed)))
    left[place, group], right[place, group] = covered[group, interval], closed[group, interval]
    return left, right
