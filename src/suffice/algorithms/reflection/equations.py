"""The equations for a reflection that keeps third moments, and their solution by Gauss-Newton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import EPS, Array

CHUNK = 2**15
"""Rows whose equations are held in memory at a time."""
STEPS = 60
"""Steps from one start."""
ENOUGH, MOST = 4.0, 16.0
"""Equations hold when none is off by so many roundings; no start is accepted beyond the second."""
FLAT = 1e-13
"""An eigenvalue below this share of the largest is an equation that follows from others."""


@dataclass(frozen=True, repr=False)
class ThirdEquations:
    """What eps must satisfy, in means over the records.

    A combination of columns that is orthogonal to lambda does not change, nor do its third moments. With columns turned
    so that only the first one changes, s to t = s - c eps, p (p + 1) / 2 of p (p + 1) (p + 2) / 6 equations are left:

    L'eps = b,    eps'eps = 1,    mean t^2 S = mean s^2 S,    mean t^3 = mean s^3

    L: given columns, scores of the residuals, and c S_k S_l for all k <= l: mean t S_k S_l = mean s S_k S_l
    b: what these must be: the secret projection for the scores, otherwise 0
    s, S: confidential columns, centred, uncorrelated, of mean square one: the one that changes and the others
    c: 2 mean eps s, which b decides
    w: weights that add up to one
    """

    L: Array
    b: Array
    s: Array
    S: Array
    c: float
    w: Array

    @property
    def size(self) -> float:
        """The largest entry of the columns: what one rounding may cost."""
        return max(1.0, float(np.abs(self.s).max()), float(np.abs(self.S).max(initial=0.0)))

    def off(self, eps: Array) -> Array:
        """How far each equation is from holding."""
        we, t = self.w * eps, self.s - self.c * eps
        squares = self.w * (t - self.s) * (t + self.s)
        cubes = (self.w * (t - self.s)) @ (t * t + t * self.s + self.s * self.s)
        return np.concatenate([self.L.T @ we - self.b, [eps @ we - 1.0], squares @ self.S, [cubes]])

    def gradients(self, eps: Array) -> Iterator[tuple[slice, Array]]:
        """Their derivatives by eps, without the weights, chunk by chunk."""
        for start in range(0, len(eps), CHUNK):
            rows = slice(start, start + CHUNK)
            e, t = eps[rows, None], (self.s - self.c * eps)[rows, None]
            yield rows, np.hstack([self.L[rows], 2 * e, -2 * self.c * t * self.S[rows], -3 * self.c * t * t])

    def step(self, eps: Array, off: Array, room: Array) -> Array:
        """The smallest change, measured in shares of the room that each record has, that solves them to first order."""
        K = np.zeros((len(off), len(off)))
        for rows, A in self.gradients(eps):
            K += (A * (self.w[rows] * room[rows] ** 2)[:, None]).T @ A
        scale = 1 / np.sqrt(np.maximum(np.diagonal(K), EPS))
        values, V = np.linalg.eigh(K * np.outer(scale, scale))
        kept = values > FLAT * values[-1]
        inner = scale * (V[:, kept] @ ((V[:, kept].T @ (scale * off)) / values[kept]))
        return -np.concatenate([room[rows] ** 2 * (A @ inner) for rows, A in self.gradients(eps)])


def solved(equations: ThirdEquations, eps: Array, room: Array) -> Array | None:
    """A solution near a start, or None where there is no way down to one.

    Full steps where they bring the equations nearer, shorter ones where they do not.

    room: how far each record may go, relative to others
    """
    off, rounding = equations.off(eps), EPS * equations.size
    for _ in range(STEPS):
        if np.abs(off).max() <= ENOUGH * rounding:
            break
        whole = equations.step(eps, off, room)
        trials = (eps + length * whole for length in 0.5 ** np.arange(8))
        found = next((each for each in trials if _norm(equations.off(each)) < _norm(off)), None)
        if found is None:
            break
        eps, off = found, equations.off(found)
    return eps if np.abs(off).max() <= MOST * rounding else None


def _norm(off: Array) -> float:
    return float(np.linalg.norm(off))
