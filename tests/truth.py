"""What a certificate should say: the promised statistics of two files in extended precision, by code of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

EPS = float(np.finfo(np.float64).eps)

Array = NDArray[np.float64]
Long = NDArray[np.longdouble]


def ratios(
    X: Array, Y: Array, Xstar: Array, Ystar: Array, w: Array | None = None, wstar: Array | None = None
) -> dict[str, float]:
    """Errors of means, covariances and cross-products in units of what the digits can hold (1 in the span of X).

    X: given columns without the intercept; the released file may have its rows in another order.
    w: weights; all one unless told.
    """
    before, after = Centred(X, Y, w), Centred(Xstar, Ystar, wstar)
    size = np.abs(Y).max(axis=0, initial=0.0)
    sd = np.sqrt(np.diagonal(before.products)[X.shape[1] :]).astype(float)
    varying = sd > 4 * EPS * size
    lost = np.maximum(1.0, size[varying] / sd[varying])
    sx = np.sqrt(np.diagonal(before.products)[: X.shape[1]]).astype(float)
    gap = np.abs(after.products - before.products)
    y = X.shape[1] + np.flatnonzero(varying)
    x = np.flatnonzero(sx > 4 * EPS * np.abs(X).max(axis=0, initial=0.0))
    mean = np.abs(after.mean - before.mean)[y] / sd[varying] / lost
    both = np.maximum.outer(lost, lost)
    covariance = gap[np.ix_(y, y)] / np.outer(sd[varying], sd[varying]) / both
    fit = gap[np.ix_(x, y)] / np.outer(sx[x], sd[varying]) / lost
    errors = {"mean": mean, "covariance": covariance, "fit": fit}
    return {name: float(error.max(initial=0.0) / EPS) for name, error in errors.items()}


class Centred:
    """Means and covariances (divisor: the sum of the weights), two passes in long doubles."""

    def __init__(self, X: Array, Y: Array, w: Array | None) -> None:
        A: Long = np.hstack([X, Y]).astype(np.longdouble)
        v: Long = (np.ones(len(A)) if w is None else w).astype(np.longdouble)
        total = v.sum()
        rough = (v[:, None] * A).sum(axis=0) / total
        A = A - rough
        left = (v[:, None] * A).sum(axis=0) / total
        A = A - left
        self.mean: Any = rough + left
        self.products: Any = (v[:, None] * A).T @ A / total
