"""What a certificate should say: the promised statistics of two files in extended precision, by code of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import EPS, Array

Long = NDArray[np.longdouble]


def ratios(
    X: Array, Y: Array, Xstar: Array, Ystar: Array, w: Array | None = None, wstar: Array | None = None
) -> Ratios:
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
    found = Ratios({name: float(error.max(initial=0.0) / EPS) for name, error in errors.items()})
    found.values_differ = lambda: not np.array_equal(np.sort(Y, axis=0), np.sort(Ystar, axis=0))
    found.third = lambda: _third(Y[:, varying], Ystar[:, varying], sd[varying], lost, w, wstar)
    return found


class Ratios(dict[str, float]):
    """By statistic; third moments and single values are looked at where they are asked for."""

    third: Callable[[], float]
    values_differ: Callable[[], bool]

    def __missing__(self, name: str) -> float:
        if name == "distribution":
            return np.inf if self.values_differ() else 0.0
        if name != "third-moment":
            raise KeyError(name)
        return self.third()


def _third(Y: Array, Ystar: Array, sd: Array, lost: Array, w: Array | None, wstar: Array | None) -> float:
    """The largest error of a product of three centred columns."""
    centre = np.average(Y, axis=0, weights=w)
    sums = []
    for A, weights in ((Y, w), (Ystar, wstar)):
        v: Long = (np.ones(len(A)) if weights is None else weights).astype(np.longdouble)
        C: Long = (A.astype(np.longdouble) - centre) / sd
        sums.append(np.einsum("i,ij,ik,il->jkl", v / v.sum(), C, C, C))
    worst = np.maximum(np.maximum.outer(lost, lost)[:, :, None], lost)
    return float((np.abs(sums[1] - sums[0]) / worst).max(initial=0.0) / EPS)


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
