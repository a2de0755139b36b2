"""Generalised linear models by maximum likelihood: Newton's steps, halved until the likelihood rises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import starmap
from math import log
from operator import add
from typing import Any

import numpy as np
from scipy.special import gammaln

from suffice.algebra.array import Array
from suffice.algebra.decomposition import independent
from suffice.algebra.factor import triangle
from suffice.rows.rows import Product

NEWTON, HALVINGS, STILL, SURE = 200, 40, 1e-10, 1e-13
"""Newton steps; halvings of one; a log-likelihood that rises by less, a record, has arrived, and one that is to rise by
still less is not worth a halving."""
CELLS = 2**25
"""Of terms that are kept between the steps of a fit; more are made anew in every pass."""

Fold = Callable[[Callable[..., Any]], Any]
"""The sum of something of the terms Q, the response y and, if there are any, weights over the blocks of all records."""


@dataclass(frozen=True, repr=False)
class TermBasis:
    """Columns that span what A spans, orthonormal up to rounding: Q = A[:, kept] @ inverse."""

    kept: tuple[int, ...]
    inverse: Array

    @classmethod
    def of(cls, R: Array) -> TermBasis:
        """R: of A; a dependent column is left out in favour of those before it."""
        kept = independent(R)
        return cls(kept, np.asarray(np.linalg.inv(triangle(R[:, list(kept)])), dtype=np.float64))

    def columns(self, A: Array) -> Array:
        return np.asarray((A if len(self.kept) == A.shape[1] else A[:, list(self.kept)]) @ self.inverse)


@dataclass(frozen=True, repr=False)
class Family:
    """A law of the response given its linear predictor eta: the mean, its derivative by eta, a record's log-likelihood.

    start: the constant that fits best, or 0, by the mean of the response
    """

    mean: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    likelihood: Callable[[Array, Array], Array]
    start: Callable[[float], float]


@dataclass(frozen=True, repr=False)
class Maximum:
    """Where the likelihood is largest: coefficients of Q, the curvature; if it came to stand.

    step: Newton's next one; where there is no maximum (separation) it leads on and on, though nothing rises any more
    """

    coefficients: Array
    curvature: Array
    likelihood: float
    converged: bool
    step: Array


def maximum(fold: Fold, family: Family) -> Maximum:
    """Newton's method from the constant that fits best, or from 0: a fold for every step that is tried."""

    def seen(c: Array) -> tuple[float, Array, Array]:
        def of(Q: Array, y: Array, w: Array | float = 1.0) -> Product:
            with np.errstate(all="ignore"):  # a step too far
                eta = Q @ c
                mean = family.mean(eta)
                B = np.sqrt(np.maximum(w * family.slope(mean), 1e-300))[:, None] * Q
                return Product(float((w * family.likelihood(eta, y)).sum()), Q.T @ (w * (y - mean)), B.T @ B)

        likelihood, score, curvature = fold(of)
        return likelihood, score, curvature

    n, total, Q = fold(lambda Q, y, w=1.0: Product(len(Q), float((w * y).sum()), Q.sum(axis=0)))
    c = family.start(total / n) * Q
    (best, score, curvature), converged, left = seen(c), False, NEWTON
    while left and not converged:
        left -= 1
        direction = _step(curvature, score)
        size, before = 1.0, best
        worth = float(score @ direction) > SURE * n
        for _ in range(HALVINGS if worth else 1):
            tried = seen(c + size * direction)
            if tried[0] > before:
                c, (best, score, curvature) = c + size * direction, tried
                break
            size /= 2
        converged = best - before <= STILL * n
    return Maximum(c, curvature, best, converged, _step(curvature, score))


def _step(curvature: Array, score: Array) -> Array:
    return np.asarray(np.linalg.lstsq(curvature, score, rcond=1e-13)[0])


def stepwise(fold: Fold, cells: int) -> Fold:
    """A fold that every step makes anew: over terms that are kept between the steps, where these are few enough."""
    if cells > CELLS:
        return fold
    blocks = fold(lambda *each: [each])
    return lambda of: reduce(add, starmap(of, blocks))


def probability(eta: Array) -> Array:
    """1 / (1 + exp(-eta)), without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * eta)))


def _bernoulli(eta: Array, y: Array) -> Array:
    return np.asarray(-np.logaddexp(0.0, np.where(y > 0, -eta, eta)))


def _poisson(eta: Array, y: Array) -> Array:
    return np.asarray(y * eta - _exponential(eta) - gammaln(y + 1))


def _exponential(eta: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(eta)


FAMILIES: Mapping[str, Family] = {
    "binomial": Family(probability, lambda p: p * (1 - p), _bernoulli, lambda mean: 0.0),
    "poisson": Family(_exponential, lambda mean: mean, _poisson, lambda mean: log(max(mean, 1e-300))),
}
