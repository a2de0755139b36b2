"""Information preserving statistical obfuscation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from suffice.algebra.array import Array
from suffice.algebra.decomposition import scores, split
from suffice.method.isometric import Isometric
from suffice.method.parameter import Choice, parameter


@dataclass(frozen=True)
class Ipso(Isometric):
    """Replace the residuals by new normal residuals with the same fit and the same covariance matrix.

    Y  = Yhat + E,   E  = T W                                        (2)
    Ys = Yhat_s + E_s,  E_s = T* W_s,   Ys standard normal           (3)
    Y* = Yhat + T* W                                                 (4)

    **Promises** means, covariances and every regression on the given columns. Nothing of the original
    residuals is left but their covariance matrix. Shapes of distributions are not promised.

    by: the loadings W are those of the QR decomposition or of the SVD; the new scores T* are always by QR.

    Langsrud (2019), (2)-(4); Burridge (2003), method C.

    >>> import numpy as np
    >>> X, Y, Z = np.ones((5, 1)), np.array([[1, 2], [2, 9], [3, 1], [4, 4], [5, 7.0]]), np.eye(5)[:, :2]
    >>> Ystar = Ipso().solve(X, Y, Z)
    >>> np.allclose(X.T @ Ystar, X.T @ Y), np.allclose(Ystar.T @ Ystar, Y.T @ Y)
    (True, True)
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    independent: ClassVar = True
    stacks: ClassVar = True
    references: ClassVar = ("Langsrud (2019), equations (2)-(4)", "Burridge (2003), method C")

    by: Literal["qr", "svd"] = parameter(Choice(("qr", "svd")), "decomposition that gives the loadings", "qr")

    def draws(self, k: int) -> int:
        return k

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)  # (2)  Y = Yhat + E
        T, W = scores(E, self.by)  #  E = T W
        Tstar = self.new_scores(Z, T.shape[-1], X, n=n)  # (3)  T* orthogonal to X
        return Yhat + Tstar @ W  # (4)

    @classmethod
    def examples(cls) -> tuple[Ipso, ...]:
        return cls(), cls(by="svd")
