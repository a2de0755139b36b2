"""What is done globally: items 7 to 9 of Langsrud (2019), section 6, on the small matrices of the clusters.

Every cluster's fit on X_2 is Q times a small matrix with Q'Q = I, so the long matrices are never needed:
the same formulas hold for the small ones, stacked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import GQR, RANK, gqr
from suffice.algorithms.hybrid.local import ClusterFactors
from suffice.algorithms.hybrid.stacks import Labels
from suffice.algorithms.hybrid.within import Within, within
from suffice.errors import InfeasibleError


@dataclass(frozen=True, repr=False)
class Overall:
    """E_3 and its replacement T_s3 W_3 in every cluster, in terms of the cluster's basis Q of X_2."""

    E3: Array
    E3star: Array
    rank: int
    """Independent columns of X_2: those crossed with groups of clusters and the others."""
    freedom: int
    """Dimensions of X_3, in which E_3 lies."""


@dataclass(frozen=True, repr=False)
class OverallFit:
    """The fit on X_2, some columns of it crossed with groups of clusters (modification d)."""

    groups: Within | None
    Q: Array

    @property
    def rank(self) -> int:
        return int(self.Q.shape[1]) + (0 if self.groups is None else int(self.groups.ranks.sum()))

    def removed(self, A: Array) -> Array:
        """A less its fit, twice."""
        for _ in range(2):
            A = A if self.groups is None else self.groups.removed(A)
            A = A - self.Q @ (self.Q.T @ A)
        return A


def over_clusters(small: ClusterFactors, groups: Labels | None, crossed: int) -> Overall:
    """Items 7 to 9.

    groups: the group of each cluster; the first `crossed` columns of X_2 are crossed with it.
    """
    clusters, b, k = small.Y2.shape
    if not b:
        nothing = np.zeros_like(small.Y2)
        return Overall(nothing, nothing, 0, 0)
    X2, Y2, Z2 = (A.reshape(clusters * b, -1) for A in (small.X2, small.Y2, small.Z2))
    noise = np.sqrt((small.tol**2).sum(axis=0))
    fit = _fit(X2, groups, crossed, small.tol)
    freedom = int(small.rank2.sum()) - fit.rank
    E3 = _cleared(fit.removed(Y2), np.maximum(RANK * np.linalg.norm(Y2, axis=0), noise[b:]))  # items 7 and 8
    there = X2.any(axis=1, keepdims=True)  # a cluster has no more dimensions than X_2 has in it, and no rounding beside
    E3 = np.where(there, E3, 0.0)
    W3 = gqr(E3).R[:freedom]  # item 9
    Ts3 = np.where(there, _new_scores(fit, Z2, len(W3)), 0.0)
    return Overall(E3.reshape(clusters, b, k), (Ts3 @ W3).reshape(clusters, b, k), fit.rank, freedom)


def _fit(X2: Array, groups: Labels | None, crossed: int, tol: Array) -> OverallFit:
    """The columns crossed with groups first, the others where these leave something."""
    b = X2.shape[1]
    inside = None
    rest = X2[:, crossed:]
    if groups is not None:
        inside = within(np.repeat(groups, b), X2[:, :crossed], _by_group(groups, tol[:, :crossed]))
        rest = inside.removed(inside.removed(rest))
    noise = np.maximum(RANK * np.linalg.norm(X2, axis=0), np.sqrt((tol[:, :b] ** 2).sum(axis=0)))[crossed:]
    D = _independent(rest, noise)
    return OverallFit(inside, D.Q if inside is None else gqr(inside.removed(D.Q)).Q)


def _independent(A: Array, noise: Array) -> GQR:
    length = np.linalg.norm(A, axis=0)
    return gqr(A, np.maximum(RANK, noise / np.where(length > 0, length, 1.0)))


def _by_group(groups: Labels, tol: Array) -> Array:
    total = np.zeros((groups.max() + 1, tol.shape[1]))
    np.add.at(total, groups, tol**2)
    return np.sqrt(total)


def _cleared(A: Array, tol: Array) -> Array:
    """A, where a column that is rounding only is exactly zero."""
    return np.where(np.linalg.norm(A, axis=0) <= tol, 0.0, A)


def _new_scores(fit: OverallFit, Z2: Array, count: int) -> Array:
    """T_s3: orthogonal to X_2 to the last digit, so what is made of little that was left is made orthogonal again."""
    T = gqr(fit.removed(Z2[:, :count])).Q
    if T.shape[1] < count:
        raise InfeasibleError(
            f"The overall columns need {count} new residual directions and the random matrix gives {T.shape[1]}.\n"
            "Draw the random matrix from a continuous distribution."
        )
    return gqr(fit.removed(T)).Q
