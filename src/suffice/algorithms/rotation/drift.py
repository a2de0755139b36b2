"""Many turns add up rounding: a last small change gives the moments back, and touches no cell at a limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import EPS, Array, Flags
from suffice.algebra.decomposition import gqr
from suffice.algorithms.rotation.constraints import Constraints
from suffice.method.records import Records

ROOM = 1e-9
"""A cell or an edit nearer to its limit than this share of its size is left alone."""
ENOUGH = 4.0
"""No correction below this ratio."""
ROUNDS, MANY_ROUNDS, STEPS = 3, 12, 200
NEW = 1e-5
"""A combination of columns with less than this share that the given columns do not tell is dependent."""


@dataclass(frozen=True, repr=False)
class WalkMoments:
    """The sums that a walk keeps, of centred and scaled columns: with the given columns, and among themselves."""

    Q: Array
    root: Array
    centre: Array
    size: Array
    lost: Array

    @classmethod
    def of(cls, task: Records, ground: Constraints) -> WalkMoments:
        root = np.ones(task.n) if task.w is None else np.sqrt(task.w)
        Q = gqr(root[:, None] * task.X).Q
        mean = (root * root) @ task.Y / (root @ root)
        size = np.linalg.norm(root[:, None] * (task.Y - mean), axis=0)
        largest = np.abs(task.Y).max(axis=0, initial=0.0) * np.linalg.norm(root)
        size = np.where(size > 4 * EPS * largest, size, np.inf)  # a constant column does not drift
        return cls(Q, root, mean if ground.centred else 0.0 * mean, size, np.maximum(1.0, largest / size))

    def scaled(self, Y: Array) -> Array:
        return np.asarray(self.root[:, None] * ((Y - self.centre) / self.size))

    def error(self, before: Array, after: Array) -> tuple[Array, Array]:
        """What is missing in Q'Y and in Y'Y."""
        A, B = self.scaled(before), self.scaled(after)
        return self.Q.T @ (A - B), A.T @ A - B.T @ B

    def ratio(self, missing: tuple[Array, Array]) -> float:
        """The largest error in units of what the digits hold."""
        both = np.maximum.outer(self.lost, self.lost)
        errors = np.abs(missing[0]) / self.lost, np.abs(missing[1]) / both
        return max(float(error.max(initial=0.0)) for error in errors) / EPS


def corrected(Y: Array, task: Records, ground: Constraints, held: Flags | None = None) -> tuple[Array, float]:
    """Y with the moments of the start, and the ratio that is left.

    The smallest D with Q'D and Y'D + D'Y as they should be, D = 0 in cells that have no room:
    D = mask (Q L + Y G) with G symmetric; L and G by conjugate gradients.

    held: cells that stay, since they were changed on purpose: the others then change by more than rounding, and
        records that would break a limit stay too.
    """
    moments = WalkMoments.of(task, ground)
    missing = moments.error(task.Y, Y)
    best, ratio = Y, moments.ratio(missing)
    room = _room(Y, ground, moments.size) & (True if held is None else ~held)
    for _ in range(ROUNDS if held is None else MANY_ROUNDS):
        if ratio <= ENOUGH:
            break
        D = _smallest(moments.Q, moments.scaled(best), room, missing)
        change = np.divide(D, moments.root[:, None], out=np.zeros_like(D), where=moments.root[:, None] > 0)
        trial = best + change * np.where(np.isfinite(moments.size), moments.size, 0.0)
        inside = ground.feasible(trial)
        if held is not None and not inside.all():
            room &= inside[:, None]
            continue
        missing = moments.error(task.Y, trial)
        reached = moments.ratio(missing)
        if reached >= ratio or not inside.all():
            break
        best, ratio = trial, reached
    return best, ratio


def _room(Y: Array, ground: Constraints, size: Array) -> Flags:
    """Cells that may change a little."""
    least = ROOM * np.where(np.isfinite(size), size, 0.0) / np.sqrt(len(Y))
    room = (Y - ground.low > least) & (ground.high - Y > least) & (Y != 0) & np.isfinite(size)
    terms = np.abs(Y) @ np.abs(ground.C).T + np.abs(ground.rhs)
    tight = (ground.rhs - Y @ ground.C.T <= ROOM * terms).astype(float)
    return np.asarray(room & (tight @ (ground.C != 0) == 0))


def _smallest(Q: Array, Y: Array, room: Flags, missing: tuple[Array, Array]) -> Array:
    """Conjugate gradients on the two sets of equations, without those that follow from others.

    Where a column is a sum of others, and of given ones, Yc = Qb, no D changes c'Y'Yc but by Q'D: what is missing there
    is rounding, and steps that go after it have no end.
    """
    span = dependent_span(Q, Y)

    def change(L: Array, G: Array) -> Array:
        return np.asarray(room * (Q @ L + Y @ (G + G.T)))

    def effect(D: Array) -> tuple[Array, Array]:
        cross = Y.T @ D
        return Q.T @ D, independent(cross + cross.T)

    def independent(G: Array) -> Array:
        return np.asarray(G - span @ G @ span)

    L, G = np.zeros_like(missing[0]), np.zeros_like(missing[1])
    rL, rG = missing[0], independent(missing[1])
    pL, pG = rL, rG
    size = first = float((rL * rL).sum() + (rG * rG).sum())
    for _ in range(STEPS):
        if size <= 1e-12 * first:
            break
        aL, aG = effect(change(pL, pG))
        along = float((pL * aL).sum() + (pG * aG).sum())
        if along <= 0:
            break
        step = size / along
        L, G = L + step * pL, G + step * pG
        rL, rG = rL - step * aL, rG - step * aG
        size, before = float((rL * rL).sum() + (rG * rG).sum()), size
        pL, pG = rL + size / before * pL, rG + size / before * pG
    return change(L, G)


def dependent_span(Q: Array, Y: Array) -> Array:
    """The projection on combinations of the columns of Y (of length 1) that the columns of Q tell."""
    factor: Array = np.linalg.qr(Y - Q @ (Q.T @ Y))[1]
    _, size, axes = np.linalg.svd(factor)
    told = axes[int((size > NEW).sum()) :]
    return np.asarray(told.T @ told)
