"""Least trimmed squares: what a column is for most of the records, whatever it is for the others."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array, Flags

SOME = 1000
"""Records that a fit is found by, at most."""
STEPS, SLOW = 20, 1e-3
"""Steps, at most, each of which makes the sum smaller by such a share."""
SPAN = 1e-10
"""What is added to the squares of columns of length one."""
FAR = 6.0
"""Median distances of logarithms from their middle, from which on a value is a code, and not a size."""
LEAST = 0.5
"""Such a distance, at least: FAR of them are a factor of twenty."""


def usual(x: Array) -> Flags:
    """Values of a size that others have too; zeros are."""
    there = np.isfinite(x) & (x != 0)
    if not there.any():
        return np.isfinite(x)
    size = np.log(np.abs(x[there]))
    apart = np.abs(size - np.median(size))
    found = np.isfinite(x)
    found[there] = apart <= FAR * max(LEAST, float(np.median(apart)))
    return found


def trimmed_fit(X: Array, y: Array) -> Array:
    """Coefficients by the half of the records that they fit best, in shares of y: found in steps, each of which fits
    better (Rousseeuw and Van Driessen 2006), from a fit to all.
    """
    step = 1 + len(y) // SOME
    X, y = X[::step], y[::step]
    size = np.maximum(np.abs(y), 0.1 * np.median(np.abs(y)) or 1.0)[:, None]
    A, b = X / size, y / size[:, 0]
    half = (len(y) + X.shape[1] + 1) // 2
    best, least = np.zeros(X.shape[1]), np.inf
    for fit in (_fitted(X, y), _fitted(A, b)):
        known = np.inf
        for _ in range(STEPS):
            apart = np.abs(b - A @ fit)
            near = np.argpartition(apart, half - 1)[:half]
            total = float((apart[near] ** 2).sum())
            if total >= known * (1 - SLOW):
                break
            known, fit = total, _fitted(A[near], b[near])
        if known < least:
            best, least = fit, known
    return best


def _fitted(X: Array, y: Array) -> Array:
    """Least squares by the normal equations: half of the digits are enough here, and a little on the diagonal chooses
    where columns say the same.
    """
    G = X.T @ X
    size = np.sqrt(np.diag(G))
    size[size == 0] = 1.0
    G = G / (size[:, None] * size) + SPAN * np.eye(len(G))
    return np.asarray(np.linalg.solve(G, X.T @ y / size) / size)
