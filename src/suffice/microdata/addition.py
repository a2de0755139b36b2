"""Arbitrary residual data with a synthetic addition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from suffice.algebra.addition import share, usable
from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.method.isometric import Isometric
from suffice.method.parameter import Data, Number, parameter


@dataclass(frozen=True)
class Addition(Isometric):
    """Take the residuals of any data set, and add new ones that make the covariance matrix right.

    Yg  = Yhat_g + Eg                                                (5)
    Y*  = Yhat + alpha Eg + T* C                                     (6), (9)
    C'C = E'E - alpha^2 Eg'Eg                                        (10)

    **Promises** means, covariances and every regression on the given columns. C may not exist: this is
    refused with the largest feasible alpha. How much is given away is decided by the data set.

    start: the data set, row by row beside the original; or none, and a method before it:
        `method.then(Addition())`.
    alpha: the factor on its residuals.
    shrink: use alpha = shrink times the largest feasible one where `alpha` is not feasible.

    Langsrud (2019), (5)-(6), (9)-(10).

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X, Y, Z = np.ones((9, 1)), rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    >>> Ystar = Addition(start=np.round(Y), alpha=0.5).solve(X, Y, Z)
    >>> np.allclose(X.T @ Ystar, X.T @ Y), np.allclose(Ystar.T @ Ystar, Y.T @ Y)
    (True, True)
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    references: ClassVar = ("Langsrud (2019), equations (5)-(6), (9)-(10)",)

    start: object = parameter(Data(), "the data set whose residuals are used", None)
    alpha: float = parameter(Number(0, closed=False), "the factor on the residuals of the start", 1.0)
    shrink: float | None = parameter(
        Number(0, 1, closed=False, none="refuse"),
        "the share of the largest feasible alpha to use where alpha is not feasible",
        None,
    )

    def draws(self, k: int) -> int:
        return k

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)  # (2)
        _, Eg = split(self.aligned(Y), X)  # (5)
        alpha, C = self._alpha_C(E, Eg)  # (10)
        Tstar = self.new_scores(Z, len(C), X, Eg, n=n)  # T* orthogonal to X and Yg
        return Yhat + alpha * Eg + Tstar @ C  # (6), (9)

    def _alpha_C(self, E: Array, Eg: Array) -> tuple[float, Array]:
        given = share(E, Eg)
        alpha = usable(self.alpha, given, self.shrink, "the start must have the same relation")
        return alpha, given.C(alpha)

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        alpha, _ = self._alpha_C(split(Y, X)[1], split(self.aligned(Y), X)[1])
        if alpha == self.alpha:
            return ()
        return (f"alpha = {self.alpha:g} is not feasible: alpha = {alpha:.4g} is used.",)

    @classmethod
    def examples(cls) -> tuple[Addition, ...]:
        return (cls(alpha=0.5, shrink=0.9),)
