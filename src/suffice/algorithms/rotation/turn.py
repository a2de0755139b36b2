"""One turn of many groups of records side by side, in NumPy."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algorithms.rotation.circles import beyond, circle, circle_of_three, edits_fail, orthonormalise, turned
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.densities import Densities, cell_density
from suffice.algorithms.rotation.trigonometry import angle, direction, narrowed

Rows = NDArray[np.int64]

TRIES = 32
"""Angles tried; after that a group stays as it is, which changes nothing of the law."""
CELLS = 1 << 18
"""Cells worked on at once, so that they stay near the processor."""


@dataclass(frozen=True, repr=False)
class Chance:
    """The random numbers of one sweep.

    normals: two vectors that choose a group's plane, groups x 2 x size; without rows where the plane is the only one.
    drops: by how much log p may fall, exponential.
    seeds: from which the angles follow.
    """

    normals: Array
    drops: Array
    seeds: NDArray[np.uint64]

    @classmethod
    def drawn(cls, generator: np.random.Generator, ground: Constraints, groups: Rows, weight: float = 1.0) -> Chance:
        """weight: how much the law counts: exp(-drops) is uniform, and is compared with p^weight."""
        count, size = groups.shape
        normals = generator.standard_normal((0 if only_plane(ground, size) else count, 2, size))
        drops = generator.standard_exponential((count,)) / weight
        return cls(normals, drops, generator.integers(2**64, size=(count,), dtype=np.uint64))


def only_plane(ground: Constraints, size: int) -> bool:
    """Three records and the intercept alone leave one plane."""
    return ground.plain and size == 3


def turn(
    Y: Array, ground: Constraints, law: Densities, groups: Rows, chance: Chance, known: Array | None = None
) -> None:
    """Turn every group in a plane of the complement of its given columns, in place.

    y(t) = y + (cos t - 1) b + sin t d,   b = u u'y + v v'y,   d = v u'y - u v'y

    with u, v orthonormal and orthogonal to the given columns of the group, all in sqrt(w)-scaled coordinates. The angle
    is a slice of the law on this circle: t is uniform on all angles, then on the bracket around 0 that the angles
    tried so far leave, until every limit holds and log p(y(t)) >= log p(y) - drop (Murray, Adams & MacKay 2010).

    known: log p of every record, nan where it is not known: compiled loops need not work it out again.
    """
    if known is not None:
        known[groups] = np.nan
    step = max(1, CELLS // (groups.shape[1] * Y.shape[1]))
    for first in range(0, len(groups), step):
        part = slice(first, first + step)
        _turn(Y, ground, law, groups[part], Chance(chance.normals[part], chance.drops[part], chance.seeds[part]))


def _turn(Y: Array, ground: Constraints, law: Densities, rows: Rows, chance: Chance) -> None:
    y = beside(Y.take(rows, axis=0))
    b, d = radii(y, ground, rows, chance.normals)
    level, seeds = _log_density(y, law) - chance.drops, chance.seeds
    right = angle(seeds, 0)
    left, t = right - 1.0, right
    for attempt in range(1, TRIES + 1):
        new = _moved(y, b, d, t)
        outside = (_any(map(beyond, each, ground.low, ground.high)) for each in new)
        failed = _any(outside) | _edits_fail(new, ground, rows)
        inside = np.flatnonzero(~failed)
        if len(law.table) and len(inside):
            failed[inside] = _log_density(new[:, :, inside], law) < level[inside]
        _write(Y, new, rows, ~failed)
        on = np.flatnonzero(failed)
        if not len(on):
            return
        y, b, d = (each.take(on, axis=2) for each in (y, b, d))
        rows, level, seeds = rows.take(on, axis=0), level[on], seeds[on]
        left, right = narrowed(left[on], right[on], t[on])
        t = left + angle(seeds, attempt) * (right - left)


def _log_density(y: Array, law: Densities) -> Array:
    """log p of every group (records x columns x groups): `log_density` of many columns at once, added in its order."""
    (size, k, count), total = y.shape, np.zeros(y.shape[2])
    if not len(law.table):
        return total
    cells = y.transpose(1, 0, 2).reshape(k, size * count)
    log, q = cell_density(cells, law.arrays, np.arange(k)[:, None])
    for j in range(1, k):
        log[0] += log[j]
    if len(law.P):
        q[:] = np.where(cells == 0.0, law.atom[:, None], q)
        along = 0.5 * np.diag(law.P)[:, None] * q
        for b in range(k):
            along[b + 1 :] += law.P[b + 1 :, b, None] * q[b]
        along *= q
        for j in range(k):
            log[0] -= along[j]
    for each in log[0].reshape(size, count):
        total += each
    return total


def beside(y: Array) -> Array:
    """Groups side by side (records x columns x groups) instead of one after the other."""
    return np.ascontiguousarray(y.transpose(1, 2, 0))


def _write(Y: Array, new: Array, rows: Rows, good: Flags) -> None:
    Y[rows[good]] = new.transpose(2, 0, 1)[good]


def radii(y: Array, ground: Constraints, rows: Rows, normals: Array, module: Any | None = None) -> tuple[Array, Array]:
    """The radius vectors b and d of every cell (records x columns x groups); module: compiled loops."""
    b, d = np.empty_like(y), np.empty_like(y)
    if only_plane(ground, len(y)):
        circle_of_three(y, b, d)
        return b, d
    u, v = plane(ground.X[rows], normals, module)
    circle(y, u, v, ground.root[rows].T, ground.centred, b, d, np.empty_like(y[0]), np.empty_like(y[0]))
    return b, d


def plane(X: Array, normals: Array, module: Any | None = None) -> tuple[Array, Array]:
    """Two orthonormal vectors per group (records x groups), orthogonal to its X (groups x records x given) and random
    otherwise; a group without two directions left has a vector that is zero."""
    if module is not None:
        bases = np.concatenate([X.transpose(0, 2, 1), normals], axis=1)
        module.orthonormalised(bases)
        return np.ascontiguousarray(bases[:, -2].T), np.ascontiguousarray(bases[:, -1].T)
    basis = np.ascontiguousarray(np.concatenate([X.transpose(2, 1, 0), normals.transpose(1, 2, 0)]))
    with np.errstate(divide="ignore", invalid="ignore"):
        orthonormalise(basis)
    return basis[-2], basis[-1]


def _moved(y: Array, b: Array, d: Array, angles: Array) -> Array:
    """The cells after a turn by angles in turns."""
    cos, sin = direction(angles)
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
