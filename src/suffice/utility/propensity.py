"""Propensity scores: how well a polynomial tells released records from original ones (Woo et al. 2009)."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.measure.measure import Measure

NEWTON, HALVINGS, STILL = 200, 40, 1e-10
"""Newton steps; halvings of one; a log-likelihood that rises by less, a record, has arrived."""


def propensity(Y: Array, Ystar: Array, degree: int = 2) -> float:
    """Mean of (p - c)^2 over both files, p the fitted probability of being released, c the share of released records.

    The model is logistic in all linear, square and pairwise product terms of the columns, standardised over both
    files; degree 3 has their cubes besides. It is fitted without penalty, by Newton's steps that are halved until the
    likelihood rises, to convergence. 0: nothing tells the files apart; c (1 - c), a quarter for files of one size:
    everything does. (Calvino 2017, (21); her Table 4 has four times this.)
    """
    terms = polynomial(np.vstack([Y, Ystar]), degree)
    released = np.repeat([0.0, 1.0], [len(Y), len(Ystar)])
    return float(np.mean((fitted(gqr(terms).Q, released) - released.mean()) ** 2))


def polynomial(Y: Array, degree: int) -> Array:
    """A constant, the standardised columns, their squares and products and, at degree 3, their cubes."""
    sd = Y.std(axis=0)
    Z = (Y - Y.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    one, two = np.triu_indices(Z.shape[1])
    terms = np.hstack([Z, Z[:, one] * Z[:, two], *([Z**3] if degree > 2 else [])])
    size = np.linalg.norm(terms, axis=0)
    return np.hstack([np.ones((len(Z), 1)), terms / np.where(size > 0, size, 1.0)])


def fitted(Q: Array, t: Array) -> Array:
    """Maximum likelihood probabilities of t = 1, logistic in orthonormal columns."""
    eta, best = np.zeros(len(t)), -len(t) * np.log(2.0)
    for _ in range(NEWTON):
        p = _probability(eta)
        root = np.sqrt(np.maximum(p * (1 - p), 1e-300))
        H = (root[:, None] * Q).T @ (root[:, None] * Q)
        step = Q @ np.linalg.lstsq(H, Q.T @ (t - p), rcond=1e-13)[0]
        size, before = 1.0, best
        for _ in range(HALVINGS):
            reached = _likelihood(eta + size * step, t)
            if reached > before:
                eta, best = eta + size * step, reached
                break
            size /= 2
        if best - before <= STILL * len(t):
            break
    return _probability(eta)


def _probability(eta: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * eta)))


def _likelihood(eta: Array, t: Array) -> float:
    return float(-np.logaddexp(0.0, np.where(t > 0, -eta, eta)).sum())


def _measure(degree: int) -> Measure:
    terms = "linear, square and pairwise product terms" + (" and cubes" if degree > 2 else "")
    return Measure(
        f"propensity-{degree}",
        lambda pair: propensity(pair.Y, pair.Ystar, degree),
        frozenset({"numbers"}),
        (0.0, 0.25),
        "lower is better",
        f"mean of (p - c)^2 over both files, p the probability of being released by a logistic fit in all {terms} of "
        "the columns, c the share of released records",
        "Woo et al. (2009); Calvino (2017), (21), whose Table 4 has four times this",
        most=100_000,
    )


MEASURES = (_measure(2), _measure(3))
