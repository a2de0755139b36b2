"""Generalised linear models by maximum likelihood: Newton's steps, halved until the likelihood rises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from scipy.special import gammaln

from suffice.algebra.array import Array
from suffice.algebra.decomposition import independent
from suffice.algebra.factor import RFactor, triangle

NEWTON, HALVINGS, STILL = 200, 40, 1e-10
"""Newton steps; halvings of one; a log-likelihood that rises by less, a record, has arrived."""
ROWS = 4096
"""Rows that are worked on at a time, so that they stay near the processor."""


@dataclass(frozen=True, repr=False)
class TermBasis:
    """Columns that span what A spans, orthonormal up to rounding: Q = A[:, kept] @ inverse."""

    Q: Array
    kept: tuple[int, ...]
    inverse: Array

    @classmethod
    def of(cls, A: Array) -> TermBasis:
        """A dependent column is left out in favour of those before it."""
        R = reduce(add, (RFactor.of(A[rows]) for rows in pieces(len(A)))).R
        kept = independent(R)
        inverse = np.asarray(np.linalg.inv(triangle(R[:, list(kept)])), dtype=np.float64)
        Q = np.empty((len(A), len(kept)))
        for rows in pieces(len(A)):
            Q[rows] = A[rows][:, list(kept)] @ inverse
        return cls(Q, kept, inverse)


@dataclass(frozen=True, repr=False)
class Family:
    """A law of the response given its linear predictor eta: the mean, its derivative by eta, the log-likelihood."""

    mean: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    likelihood: Callable[[Array, Array], float]
    start: Callable[[Array], float]


@dataclass(frozen=True, repr=False)
class Maximum:
    """Where the likelihood is largest: coefficients of Q, the linear predictor, the curvature; if it came to stand."""

    coefficients: Array
    eta: Array
    curvature: Array
    likelihood: float
    converged: bool


def maximum(Q: Array, y: Array, family: Family) -> Maximum:
    """Newton's method from the constant that fits best, or from 0."""
    c = Q.T @ np.full(len(y), family.start(y))
    eta = Q @ c
    best, converged, left = family.likelihood(eta, y), False, NEWTON
    while left and not converged:
        left -= 1
        mean = family.mean(eta)
        direction = np.linalg.lstsq(_curvature(Q, family.slope(mean)), Q.T @ (y - mean), rcond=1e-13)[0]
        step = Q @ direction
        size, before = 1.0, best
        for _ in range(HALVINGS):
            reached = family.likelihood(eta + size * step, y)
            if reached > before:
                c, eta, best = c + size * direction, eta + size * step, reached
                break
            size /= 2
        converged = best - before <= STILL * len(y)
    return Maximum(c, eta, _curvature(Q, family.slope(family.mean(eta))), best, converged)


def _curvature(Q: Array, slope: Array) -> Array:
    root, H = np.sqrt(np.maximum(slope, 1e-300)), np.zeros((Q.shape[1], Q.shape[1]))
    for rows in pieces(len(Q)):
        B = root[rows, None] * Q[rows]
        H += B.T @ B
    return H


def pieces(n: int) -> Iterator[slice]:
    return (slice(start, start + ROWS) for start in range(0, max(n, 1), ROWS))


def probability(eta: Array) -> Array:
    """1 / (1 + exp(-eta)), without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * eta)))


def _bernoulli(eta: Array, y: Array) -> float:
    return float(-np.logaddexp(0.0, np.where(y > 0, -eta, eta)).sum())


def _poisson(eta: Array, y: Array) -> float:
    return float((y * eta - _exponential(eta) - gammaln(y + 1)).sum())


def _exponential(eta: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(eta)


FAMILIES: Mapping[str, Family] = {
    "binomial": Family(probability, lambda p: p * (1 - p), _bernoulli, lambda y: 0.0),
    "poisson": Family(_exponential, lambda mean: mean, _poisson, lambda y: float(np.log(max(y.mean(), 1e-300)))),
}
