"""Components of standardised columns, with the weights that lead to them and back: principal, turned, independent."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.linalg import solve_triangular

from suffice.algebra.array import EPS, Array
from suffice.algebra.decomposition import RANK, gqr, signs
from suffice.algebra.moments import Spread

Rotation = Literal["none", "varimax", "ica"]
TURNS, STILL = 500, 1e-8
"""Rounds of a rotation at most, and the change at which it rests."""
DIGITS = 64 * EPS
"""What is lost of a value at most, before it counts as a column's own."""


@dataclass(frozen=True, repr=False)
class Components:
    """X2 = X1 W, and back X1 = X2 L' where a column that depends on others is rebuilt from them.

    W: weights of the standardised columns in each component; zero for those left out
    L: loadings of all columns on the components; for principal components W = L = A of (6)
    sd: of each component; shares: of the variance of the columns, the largest first
    """

    mean: Array
    scale: Array
    W: Array
    L: Array
    sd: Array
    left_out: tuple[int, ...]

    @property
    def shares(self) -> Array:
        variance = self.sd**2 * (self.L[self.used] ** 2).sum(axis=0)
        return np.asarray(variance / variance.sum()) if variance.size else variance

    @property
    def used(self) -> list[int]:
        return [j for j in range(len(self.L)) if j not in self.left_out]

    def scores(self, Y: Array, which: Sequence[int] | slice = slice(None)) -> Array:
        """X2 = (X - M) S A (5)-(6), of some components: column by column in memory, as `change`."""
        return np.asarray(((self.W[:, which] / self.scale[:, None]).T @ (Y - self.mean).T).T)

    def change(self, D: Array, which: Sequence[int] | slice = slice(None)) -> Array:
        """What a change D of the scores changes in the columns: D A' S^-1 (8)."""
        sd = np.where(np.isfinite(self.scale), self.scale, 0.0)
        return np.asarray((self.L[:, which] * sd[:, None] @ D.T).T)

    def weights(self, column: int) -> Array:
        """abs(w_vj) / sum_j abs(w_vj): how much of a column lies in each component (section 4.2)."""
        size = np.abs(self.L[column])
        return np.asarray(size / (size.sum() or 1.0))

    def turned(self, G: Array) -> Components:
        """Components of variance one, turned by the orthogonal G; the largest share first."""
        W, L = self.W / self.sd @ G, self.L * self.sd @ G
        order = np.argsort(-(L[self.used] ** 2).sum(axis=0), kind="stable")
        sign = signs(L[:, order].T)
        return Components(self.mean, self.scale, W[:, order] * sign, L[:, order] * sign, np.ones(len(G)), self.left_out)


def standardising(spread: Spread) -> Array:
    """By what a centred column is divided: its population standard deviation; one that does not vary is nothing."""
    return np.where(spread.constant, np.inf, spread.sd)


def principal(spread: Spread, R: Array, last: int | None = None) -> Components:
    """Principal components of standardised columns, R'R their correlation matrix (5)-(6).

    last: the column to leave out, if one depends on others; otherwise it is the last that does
    """
    scale, k = standardising(spread), R.shape[1]
    order = [j for j in range(k) if j != last] + ([] if last is None else [last])
    tol = np.maximum(RANK, DIGITS * spread.size / np.where(spread.sd > 0, spread.sd, 1.0))[order]
    D = gqr(R[:, order], tol)
    at, out = list(D.pivots), list(D.dropped)
    _, s, At = np.linalg.svd(D.R[:, at], full_matrices=False)
    A = At.T * signs(At)
    W, L = np.zeros((2, k, len(at)))
    used, left = [order[j] for j in at], [order[j] for j in out]
    W[used] = L[used] = A
    if at:
        L[left] = solve_triangular(D.R[:, at], D.R[:, out]).T @ A  # rebuilt from those it depends on
    return Components(spread.mean, scale, W, L, s, tuple(left))


def varimax(L: Array) -> Array:
    """The orthogonal G for which squared loadings of L G vary most (Kaiser 1958).

    >>> G = varimax(np.array([[1.0, 1.0], [1.0, 1.0], [1.0, -1.0]]))
    >>> np.allclose(G.T @ G, np.eye(2)), float(np.abs(np.array([1.0, 1.0]) @ G).min().round(6))
    (True, 0.0)
    """
    B, G = np.array(L), np.eye(L.shape[1])
    for _ in range(TURNS):
        largest = 0.0
        for i, j in combinations(range(L.shape[1]), 2):  # the best angle of every pair in turn
            u, v = B[:, i] ** 2 - B[:, j] ** 2, 2 * B[:, i] * B[:, j]
            sine = 2 * (u @ v - u.sum() * v.sum() / len(L))
            cosine = (u + v) @ (u - v) - (u.sum() ** 2 - v.sum() ** 2) / len(L)
            angle = np.arctan2(sine, cosine) / 4
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            B[:, [i, j]], G[:, [i, j]] = B[:, [i, j]] @ turn, G[:, [i, j]] @ turn
            largest = max(largest, abs(angle))
        if largest <= STILL:
            break
    return G


def unmixing(F: Array) -> tuple[Array, bool]:
    """The orthogonal G for which the columns of F G, uncorrelated and of variance one, are least normal; does it rest.

    FastICA (Hyvarinen 1999), all components at once.
    """
    from sklearn.decomposition import FastICA  # a fifth of a second

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = FastICA(whiten=False, w_init=np.eye(F.shape[1]), tol=STILL, max_iter=TURNS).fit(F)
    return np.asarray(found.components_.T), not said
