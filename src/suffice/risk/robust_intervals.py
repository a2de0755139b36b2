"""Intervals as wide as a record is outlying, by robust Mahalanobis distances (Templ & Meindl 2008; dRiskRMD)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import KDTree

from suffice.algebra.array import Array, Flags
from suffice.measure.measure import SHARE, Measure, Value, beside_chance
from suffice.measure.pair import FilePair

WIDTH, SHARE_OF_IT = 0.05, 0.01
RANK = 1e-10
"""Directions with less than this share of the largest variance are none."""


@dataclass(frozen=True, repr=False)
class RobustIntervals:
    """unsafe: a released value, in any column, is within its interval; lonely: and no other released record is near
    distances: of the originals from their centre, times .05: what an unsafe record weighs
    """

    unsafe: Flags
    lonely: Flags
    distances: Array

    @property
    def share(self) -> float:
        return float(self.unsafe.mean())

    @property
    def lonely_share(self) -> float:
        return float(self.lonely.mean())


def robust_intervals(
    Y: Array, Ystar: Array, k: float = SHARE_OF_IT, near: float = 0.05, covariance: Array | None = None
) -> RobustIntervals:
    """|y*_ij - y_ij| < k .05 d_i for some column j, both files standardised, each by itself.

    d: Mahalanobis distance from the mean by the minimum covariance determinant, in the directions in which the file
    varies: columns that are sums of others change nothing. near: Euclidean distance of another released record.
    covariance: of the standardised columns, where it is known
    """
    Z, Zstar = (_standard(A) for A in (Y, Ystar))
    distances = WIDTH * robust_distances(Z, covariance)
    unsafe = _within(Z, Zstar, k * distances)
    lonely = unsafe.copy()
    if unsafe.any() and len(Y) > 1:
        lonely[unsafe] = np.asarray(KDTree(Zstar).query(Zstar[unsafe], k=2)[0])[:, 1] > near
    return RobustIntervals(unsafe, lonely, distances)


def _within(Z: Array, Zstar: Array, reach: Array) -> Flags:
    return np.asarray((np.abs(Zstar - Z) < reach[:, None]).any(axis=1))


def robust_distances(Z: Array, covariance: Array | None = None) -> Array:
    """Mahalanobis distances from the mean; a robust covariance that is singular where the file is not gives way to the
    ordinary one, since half of the records may be alike."""
    Z = Z - Z.mean(axis=0)
    if covariance is None:
        _, s, V = np.linalg.svd(Z, full_matrices=False)
        Z = Z @ V[s > np.sqrt(RANK) * s.max(initial=0.0)].T
        if not Z.shape[1]:
            return np.zeros(len(Z))
        covariance = _robust(Z)
    value, vector = np.linalg.eigh(covariance)
    there = value > RANK * value.max()
    return np.asarray(np.sqrt(((Z @ vector[:, there]) ** 2 / value[there]).sum(axis=1)))


def _robust(Z: Array) -> Array:
    from sklearn.covariance import MinCovDet

    ordinary = np.cov(Z.T).reshape(Z.shape[1], -1)
    if len(Z) <= 2 * Z.shape[1]:
        return ordinary
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.asarray(MinCovDet(random_state=0).fit(Z).covariance_)
    value = np.linalg.eigvalsh(found)
    return found if value[0] > RANK * value[-1] else ordinary


def _standard(A: Array) -> Array:
    sd = A.std(axis=0, ddof=1)
    return np.asarray((A - A.mean(axis=0)) / np.where(sd > 0, sd, 1.0))


def _measured(pair: FilePair) -> Value:
    found = robust_intervals(pair.Y, pair.Ystar)
    Z, Zstar, reach = _standard(pair.Y), _standard(pair.Ystar), SHARE_OF_IT * found.distances
    near = beside_chance(lambda before, after: float(_within(before, after, reach).mean()), Z, Zstar)
    return replace(near, parts={"lonely": found.lonely_share})


MEASURES = (
    Measure(
        "robust-intervals",
        _measured,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records with a released value, in any standardised column, within .0005 robust Mahalanobis distances "
        "of the original one; lonely: and no other released record within .05",
        "Templ & Meindl (2008)",
        most=20_000,
    ),
)
