"""What the records of a group have in common: means, medians, and fitted values of a regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.group_moments import averages
from suffice.algorithms.hybrid.stacks import stacks

Labels = NDArray[np.int64]

RANK = 1e-9
"""Directions of a group's given columns shorter than this share of the longest are rounding."""


def means(labels: Labels, Y: Array, w: Array | None = None) -> Array:
    """Each record's group mean; a group without weight has its plain mean."""
    low, high = _ends(labels, Y)
    mean = averages(labels, Y, None)
    if w is not None:
        counts = np.bincount(labels, weights=w)[:, None] > 0
        mean = np.where(counts, averages(labels, Y, w), mean)
    return np.asarray(np.clip(mean, low, high)[labels])  # the mean of equal values is that value


def medians(labels: Labels, Y: Array) -> Array:
    """Each record's group median, column by column."""
    sizes = np.bincount(labels)
    first = np.cumsum(sizes) - sizes
    out = np.empty((len(sizes), Y.shape[1]))
    for j, y in enumerate(Y.T):
        ranked = y[np.lexsort((y, labels))]
        out[:, j] = (ranked[first + (sizes - 1) // 2] + ranked[first + sizes // 2]) / 2
    return out[labels]


def fits(labels: Labels, X: Array, Y: Array, w: Array | None = None) -> Array:
    """Fitted values of the regression of Y on the intercept and X in each group."""
    made = means(labels, Y, w)
    E, centred = Y - made, X - means(labels, X, w)
    root = np.ones((len(Y), 1)) if w is None else np.sqrt(w)[:, None]
    for rows in (stack.rows for stack in stacks(labels)):
        A, e = (root * centred)[rows], (root * E)[rows]
        tall = np.linalg.norm(X[rows], axis=(1, 2))  # what is left of columns that do not vary in a group is rounding
        A = np.where(np.abs(A) > RANK * tall[:, None, None], A, 0.0)
        U, s, _ = np.linalg.svd(A, full_matrices=False)
        U = U * (s > RANK * np.maximum(s.max(axis=1, keepdims=True, initial=0.0), 1e-300))[:, None, :]
        fitted = U @ (U.transpose(0, 2, 1) @ e)
        made[rows] += np.divide(fitted, root[rows], out=np.zeros_like(fitted), where=root[rows] > 0)
    return made


def _ends(labels: Labels, Y: Array) -> tuple[Array, Array]:
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    first = np.minimum(np.cumsum(sizes) - sizes, len(order) - 1)
    return np.minimum.reduceat(Y[order], first), np.maximum.reduceat(Y[order], first)
