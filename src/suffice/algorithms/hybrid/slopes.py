"""How much of the new slopes a cluster can hold: modifications a, b and c of Langsrud (2019), section 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from suffice.algebra.addition import DEPENDENT, LIMIT
from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import RANK
from suffice.algorithms.hybrid.bases import NOISE, first, lengths, loadings, triangle
from suffice.algorithms.hybrid.local import ClusterFactors, Counts
from suffice.algorithms.hybrid.overall import Overall
from suffice.algorithms.hybrid.stacks import TOGETHER
from suffice.errors import InfeasibleError

Slopes = float | Literal["largest"] | None

BELOW = 0.95
"""Slopes "largest" is this share of the largest alpha: at the limit itself C is singular in some cluster."""


class ClustersInfeasible(InfeasibleError):
    """Some clusters cannot hold what was asked: how many, of how many, and the largest alpha of all clusters."""

    def __init__(self, failed: str, clusters: int, of: int, largest: float | None, advice: str) -> None:
        # rounded down, so that what is stated is feasible
        limit = (
            "no alpha is feasible" if largest is None else f"largest alpha {largest * (1 - 5e-4):.4g} (itself excluded)"
        )
        super().__init__(f"{failed}\n  clusters {clusters} of {of} . {limit}\n{advice}")
        self.clusters, self.of, self.largest = clusters, of, largest


@dataclass(frozen=True, repr=False)
class Shares:
    """New slopes E_3* measured by the residuals E = E_3 + E_4, cluster by cluster: E = T R, E_3* = B R.

    C'C = E'E - alpha^2 E_3*'E_3* = R'V (I - alpha^2 S^2) V'R,  B = U S V'        (10)
    """

    R: Array
    adds: Flags
    S: Array
    Vt: Array
    broken: Flags
    """Clusters where a linear relation between columns of E does not hold in E_3*."""

    @property
    def rank(self) -> Counts:
        """Dimensions that the residuals of each cluster need."""
        return np.asarray(self.adds.sum(axis=1))

    @property
    def largest(self) -> Array:
        """The largest alpha in each cluster; 0 where C exists for none, infinite where for all."""
        top = self.S.max(axis=1, initial=0.0)
        limit = np.divide(1.0, top, out=np.full(len(top), np.inf), where=top > 0)
        return np.where(self.broken, 0.0, limit)

    def C(self, alpha: float) -> Array:
        """C of modification c in each cluster: upper triangular, a line for each dimension that it needs."""
        if alpha == 0.0:  # modification a
            return first(self.R, self.adds)
        left = np.sqrt(np.maximum(1.0 - (alpha * self.S) ** 2, 0.0))
        C = left[:, :, None] * (self.Vt @ self.R)
        tol = RANK * lengths(self.R.transpose(0, 2, 1))
        return loadings(np.ascontiguousarray(C.transpose(0, 2, 1)), tol)


def shares(small: ClusterFactors, found: Overall) -> Shares:
    """E and E_3* of every cluster, a few hundred clusters at a time."""
    parts = [_shares(small, found, slice(at, at + TOGETHER)) for at in range(0, len(small.n), TOGETHER)]
    R, adds, S, Vt, broken = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Shares(R, adds, S, Vt, broken)


def _shares(small: ClusterFactors, found: Overall, at: slice) -> tuple[Array, Flags, Array, Array, Flags]:
    # the residuals of a cluster are Q E3 + T4 W4, so their inner products are those of the small [E3; W4]
    E = np.concatenate([found.E3[at], small.W4[at]], axis=1).transpose(0, 2, 1)
    noise = NOISE * np.sqrt((small.Y2**2).sum(axis=(0, 1)))  # what the fit of all clusters leaves in one of them
    tol = np.maximum(small.tol[at, -E.shape[1] :], noise)
    E = np.where((lengths(E) <= tol)[:, :, None], 0.0, E)
    R, adds = triangle(E, tol)
    Eg = found.E3star[at].transpose(0, 2, 1)
    Eg = np.where((lengths(Eg) <= noise)[:, :, None], 0.0, Eg)
    B = _divided(Eg, R, adds)
    off = lengths(Eg - R.transpose(0, 2, 1) @ B)
    rounding = np.maximum(DEPENDENT * lengths(Eg).max(axis=1, initial=0.0)[:, None], tol)
    S, Vt = _svd(B)
    return R, adds, S, Vt, ((off > rounding) & ~adds).any(axis=1)


def _divided(Eg: Array, R: Array, adds: Flags) -> Array:
    """B of Eg = BR, column after column; zero where a column of E depends on others."""
    B = np.zeros_like(Eg)
    for j in range(Eg.shape[1]):
        rest = Eg[:, j] - (R[:, None, :j, j] @ B[:, :j])[:, 0]
        B[:, j] = np.where(adds[:, j, None], rest / np.where(adds[:, j], R[:, j, j], 1.0)[:, None], 0.0)
    return B


def _svd(B: Array) -> tuple[Array, Array]:
    """Singular values and V' of B, as many as B has columns."""
    k = B.shape[1]
    padded = np.concatenate([B, np.zeros((len(B), k, max(0, k - B.shape[2])))], axis=2)
    _, S, Vt = np.linalg.svd(padded.transpose(0, 2, 1), full_matrices=False)
    return S, Vt


def usable(slopes: float | Literal["largest"], held: Shares, small: ClusterFactors) -> float:
    """alpha where every cluster can hold it; or a refusal that states how many cannot, and the largest."""
    few = int((held.rank > small.new).sum())
    if few:
        raise ClustersInfeasible(
            "Some clusters have fewer dimensions than their residual covariances need.",
            few,
            len(small.n),
            None,
            "Use larger clusters, fewer local or overall columns, or slopes=None, which needs no more dimensions.",
        )
    largest = float(held.largest.min(initial=np.inf))
    if slopes == "largest" and largest > 0:
        return min(1.0, BELOW * largest)
    if slopes != "largest" and (slopes == 0 or slopes < largest * (1.0 - LIMIT)):
        return float(slopes)
    raise ClustersInfeasible(
        f"New slopes leave no room for the residuals of some clusters at slopes={slopes}: C does not exist there.",
        int((held.largest * (1.0 - LIMIT) <= (0.0 if slopes == "largest" else slopes)).sum()),
        len(small.n),
        largest,
        f"Ask for {'slopes=largest (the limit is that of these random numbers), ' * (slopes != 'largest')}"
        "slopes=0 (slopes equal in all clusters), or slopes=None.",
    )
