"""IPSO-B of Burridge (2003): drawn residuals, made orthogonal to the given columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from suffice.algebra.array import Array
from suffice.algebra.decomposition import freedom, scores, split
from suffice.method.isometric import Isometric


@dataclass(frozen=True)
class IpsoB(Isometric):
    """Replace the residuals by normal draws that leave the regression coefficients as they are.

    Y* = Yhat + Es chol(Sigma),   Es the residuals of Z after X,   Sigma = E'E / (n - rank X)

    **Promises** means and every regression coefficient on the given columns. Covariances are right on average
    only. It is here for comparison and teaching; `Ipso` keeps both.

    Burridge (2003), method B; Hundepool et al., ESSnet (2009), section 2.1.

    >>> import numpy as np
    >>> X, Y, Z = np.ones((4, 1)), np.array([[1.0], [2.0], [3.0], [6.0]]), np.eye(4)[:, :1]
    >>> np.allclose(X.T @ IpsoB().solve(X, Y, Z), X.T @ Y)
    True
    """

    keeps: ClassVar = ("mean", "fit")
    independent: ClassVar = True
    references: ClassVar = ("Burridge (2003), method B",)

    def draws(self, k: int) -> int:
        return k

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)
        _, W = scores(E)  # W'W = E'E: the Cholesky factor
        _, Es = split(Z[:, : len(W)], X)
        nu = max(freedom(X, n), 1)  # (no freedom: E and W are nothing)
        return Yhat + Es @ (W / math.sqrt(nu))

    @classmethod
    def examples(cls) -> tuple[IpsoB, ...]:
        return (cls(),)
