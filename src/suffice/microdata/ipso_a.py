"""IPSO-A of Burridge (2003): residuals drawn from the estimated normal distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from suffice.algebra.array import Array
from suffice.algebra.decomposition import freedom, scores, split
from suffice.method.isometric import Isometric


@dataclass(frozen=True)
class IpsoA(Isometric):
    """Replace the residuals by draws from the normal distribution with their estimated covariance matrix.

    Y* = Yhat + Z chol(Sigma),   Sigma = E'E / (n - rank X)

    **Promises** nothing exactly: coefficients and covariances are right on average only. It is here for
    comparison and teaching; `IpsoB` keeps the coefficients, `Ipso` both.

    Burridge (2003), method A; Hundepool et al., ESSnet (2009), section 2.1.

    >>> import numpy as np
    >>> X, Y, Z = np.ones((4, 1)), np.array([[1.0], [2.0], [3.0], [6.0]]), np.eye(4)[:, :1]
    >>> np.allclose(IpsoA().solve(X, Y, Z).T, [3 + np.std(Y, ddof=1), 3, 3, 3])
    True
    """

    keeps: ClassVar = ()
    independent: ClassVar = True
    references: ClassVar = ("Burridge (2003), method A",)

    def draws(self, k: int) -> int:
        return k

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)
        _, W = scores(E)  # W'W = E'E: the Cholesky factor
        nu = max(freedom(X, n), 1)  # (no freedom: E and W are nothing)
        return Yhat + Z[:, : len(W)] @ (W / math.sqrt(nu))

    @classmethod
    def examples(cls) -> tuple[IpsoA, ...]:
        return (cls(),)
