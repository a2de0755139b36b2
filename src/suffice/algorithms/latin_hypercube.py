"""Latin hypercubes with given rank correlations: one value for each stratum, brought into an order."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from suffice.algebra.array import Array

ENOUGH, ROUNDS = 5e-4, 10
"""The largest error of a rank correlation that is left, and rounds of correction at most."""
SHORTER = 0.6
"""A correction that made things worse is tried again, so much shorter."""
LEAST = 1e-6
"""The smallest eigenvalue of a matrix of correlations."""


def stratified(y: Array, w: Array | None, m: int, draws: np.random.Generator) -> Array:
    """m values in order, one of each of m strata of the interpolated quantile function; y: values in order.

    Many draws tell where a quantile function bends, which is at the values themselves. So more values than there were
    are drawn between as many as there were, which were drawn so: whatever m, they tell no more than these do.

    >>> stratified(np.array([0.0, 10.0]), None, 2, np.random.default_rng(1)).round(1).tolist()
    [2.6, 9.8]
    """
    if m > len(y) > 1:
        y, w = stratified(y, w, len(y), draws), None
    below = np.arange(len(y), dtype=np.float64) if w is None else np.cumsum(w) - w
    u = (np.arange(m) + draws.random(m)) / m
    return np.asarray(np.interp(u * below[-1], below, y)) if below[-1] > 0 else np.full(m, y[0])


def shared_ranks(y: Array, w: Array | None = None) -> Array:
    """Ranks of values as shares of the records; equal ones share the middle of theirs.

    >>> shared_ranks(np.array([5.0, 3.0, 5.0, 9.0])).tolist()
    [0.5, 0.125, 0.5, 0.875]
    """
    _, number = np.unique(y, return_inverse=True)
    counts = np.bincount(number, w)
    return np.asarray(((np.cumsum(counts) - counts / 2) / counts.sum())[number])


def rank_correlations(Y: Array, w: Array | None = None) -> Array:
    """Spearman's, of weighted records where there are weights; 0 of a column that does not vary."""
    ranks = np.column_stack([shared_ranks(y, w) for y in Y.T])
    return _correlations(ranks, w)


def _correlations(ranks: Array, w: Array | None = None) -> Array:
    root = np.ones(len(ranks)) if w is None else np.sqrt(w)
    centred = root[:, None] * (ranks - np.average(ranks, axis=0, weights=root * root))
    size = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(size > 0, size, 1.0)
    return np.asarray(unit.T @ unit)


def reordered(values: Array, wanted: Array, draws: np.random.Generator) -> tuple[Array, float, int]:
    """The columns, each in order as they come, in an order that has the rank correlations that are wanted.

    Normal scores that are exactly uncorrelated are given the correlations 2 sin(pi r / 6); the columns take their
    order, and what is missing of the rank correlations is added to those that are asked for, until little is (Florian).

    Returns the largest error that is left, and the rounds that it took.
    """
    m, k = values.shape
    normal = ndtri((np.arange(m) + 0.5) / m)
    Z = np.column_stack([normal[draws.permutation(m)] for _ in range(k)])
    Z -= Z.mean(axis=0)
    if m > k:
        Z = np.linalg.qr(Z)[0]
    shares = np.column_stack([shared_ranks(column) for column in values.T])  # equal values share their rank
    varies = np.ptp(values, axis=0) > 0
    off_diagonal = ~np.eye(k, dtype=bool) & np.outer(varies, varies)
    asked = tried = wanted
    best, least, missing, step, rounds = values, np.inf, np.zeros_like(wanted), 1.0, 0
    while rounds < ROUNDS and least > ENOUGH:
        rounds += 1
        scores = Z @ _root(2 * np.sin(np.pi / 6 * np.clip(tried, -1, 1)))
        places = np.argsort(np.argsort(scores, axis=0, kind="stable"), axis=0, kind="stable")
        error = np.where(off_diagonal, wanted - _correlations(np.take_along_axis(shares, places, axis=0)), 0.0)
        worst = float(np.abs(error).max(initial=0.0))
        if worst < least:
            best, least, asked, missing = np.take_along_axis(values, places, axis=0), worst, tried, error
        else:
            step *= SHORTER  # ranks are whole numbers: a correction of the best may be too long
        tried = asked + step * missing
    return np.asarray(best), least, rounds


def _root(C: Array) -> Array:
    """W with W'W = C, made a matrix of correlations where it is none."""
    np.fill_diagonal(C, 1.0)
    values, V = np.linalg.eigh(C)
    return np.asarray((V * np.sqrt(np.maximum(values, LEAST))) @ V.T)
