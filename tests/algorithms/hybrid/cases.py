"""Files with pieces, clusters and groups, and what their statistics are in extended precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from tests.truth import EPS, Centred

Long = NDArray[np.longdouble]
Request = dict[str, Any]

PARTS = ("clusters", "local", "overall", "pieces", "pieces_given", "cluster_groups", "groups_given")
"""All parameters of `hybrid` that are labels or matrices."""


def file(seed: int = 1, sizes: tuple[int, ...] = (26, 31, 24, 27, 29, 33), k: int = 3) -> tuple[Array, Array, Request]:
    """Y, Z and every parameter: clusters in groups of two, cut into two pieces, rows in a random order."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    clusters = np.repeat(np.arange(len(sizes)), sizes)[rng.permutation(n)]
    X = rng.normal(size=(n, 5)) + clusters[:, None] / 4
    Y = X @ rng.normal(size=(5, k)) / 3 + rng.normal(size=(n, k)) @ rng.normal(size=(k, k)) + clusters[:, None]
    given: Request = {
        "clusters": clusters,
        "local": X[:, :1],
        "overall": X[:, 1:3],
        "pieces": rng.integers(2, size=n),
        "pieces_given": X[:, 3:4],
        "cluster_groups": clusters // 2,
        "groups_given": X[:, 4:],
    }
    return Y, rng.normal(size=(n, k)), given


def asked(given: Request, *parts: str) -> Request:
    return {part: given[part] for part in parts}


def dummies(labels: NDArray[Any]) -> Array:
    return (labels[:, None] == np.unique(labels)).astype(float)


def crossed(X: Array, labels: NDArray[Any]) -> Array:
    """Every column times every dummy variable: what the software never makes."""
    D = dummies(labels)
    return (X[:, :, None] * D[:, None, :]).reshape(len(X), -1)


def design(given: Request, n: int) -> Array:
    """The whole regression matrix [X_1 X_2] of (18), not adjusted."""
    clusters = given.get("clusters", np.zeros(n, dtype=int))
    ones, none = np.ones((n, 1)), np.zeros((n, 0))
    columns = [crossed(np.hstack([ones, given.get("local", none)]), clusters), given.get("overall", none)]
    if "pieces" in given:
        columns.append(crossed(np.hstack([ones, given.get("pieces_given", none)]), pairs(clusters, given["pieces"])))
    if "groups_given" in given:
        columns.append(crossed(given["groups_given"], given["cluster_groups"]))
    return np.hstack(columns)


def pairs(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)[1].reshape(-1)


def residuals(Y: Array, X: Array) -> Long:
    """Y less its fit on X, by Gram-Schmidt in long doubles; dependent columns are dropped."""
    E, Q = Y.astype(np.longdouble), np.zeros((len(X), 0), dtype=np.longdouble)
    for column in X.astype(np.longdouble).T:
        size = np.sqrt(column @ column)
        v = column / size if size else column
        for _ in range(2):
            v = v - Q @ (Q.T @ v)
        length = np.sqrt(v @ v)
        if length > 1e-12:
            Q = np.column_stack([Q, v / length])
    for _ in range(2):
        E = E - Q @ (Q.T @ E)
    return E


def worst_ratio(labels: NDArray[Any], X: Array, Y: Array, Ystar: Array, w: Array | None = None) -> dict[str, float]:
    """Errors of means, covariances and fits on X in each group, in units of what the digits can hold.

    As `truth.ratios`, with the released values among those whose digits count: with overall columns they may be much
    larger than the original ones in a cluster that hardly varies.
    """
    worst = {"mean": 0.0, "covariance": 0.0, "fit": 0.0}
    for label in np.unique(labels):
        r = labels == label
        found = _ratios(X[r], Y[r], Ystar[r], None if w is None else w[r])
        worst = {name: max(worst[name], found[name]) for name in worst}
    return worst


def _ratios(X: Array, Y: Array, Ystar: Array, w: Array | None) -> dict[str, float]:
    m = X.shape[1]
    before, after = Centred(X, Y, w), Centred(X, Ystar, w)
    size = np.maximum(np.abs(Y).max(axis=0), np.abs(Ystar).max(axis=0))
    sd = np.sqrt(np.diagonal(before.products)).astype(float)
    at = np.flatnonzero(sd[m:] > 4 * EPS * size)
    x, y = np.flatnonzero(sd[:m] > 4 * EPS * np.abs(X).max(axis=0, initial=0.0)), m + at
    lost = np.maximum(1.0, size[at] / sd[y])
    gap = np.abs(after.products - before.products).astype(float)
    errors = {
        "mean": np.abs(after.mean - before.mean)[y] / sd[y] / lost,
        "covariance": gap[np.ix_(y, y)] / np.outer(sd[y], sd[y]) / np.maximum.outer(lost, lost),
        "fit": gap[np.ix_(x, y)] / np.outer(sd[x], sd[y]) / lost,
    }
    return {name: float(error.max(initial=0.0) / EPS) for name, error in errors.items()}
