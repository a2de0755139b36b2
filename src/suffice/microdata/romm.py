"""Random orthogonal matrix masking, without the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import freedom, scores, split
from suffice.errors import UsageError
from suffice.method.isometric import Isometric
from suffice.method.parameter import Choice, Number, parameter


@dataclass(frozen=True)
class Romm(Isometric):
    """Turn the residuals by a random rotation that is near to none, or far from it.

    Yg = T + lam H,   H standard normal                              (17)
    Y* = Yhat + Tg W,   Tg the residual scores of Yg                 (11)-(12)

    **Promises** means, covariances and every regression on the given columns. The correlation of original and
    released residuals is random: near the one asked for, and highest for the first score.

    lam: 0 would be the original, infinity is `Ipso`. Its meaning depends on the number of records n: 0.03
        gives a correlation of .98, .82 and .42 at n = 50, 500 and 5000.
    correlation: in place of lam, the correlation c to aim at: lam = sqrt((1/c^2 - 1) / (n - rank X)).
    by: scores of the QR decomposition or of the SVD (principal components, dependent on units).

    Langsrud (2019), (11)-(17); Ting, Fienberg & Trottini (2008).

    >>> rng = np.random.default_rng(1)
    >>> X, Y, Z = np.ones((9, 1)), rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    >>> Ystar = Romm(correlation=0.8).solve(X, Y, Z)
    >>> np.allclose(X.T @ Ystar, X.T @ Y), np.allclose(Ystar.T @ Ystar, Y.T @ Y)
    (True, True)
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    references: ClassVar = ("Langsrud (2019), equations (11)-(17)", "Ting, Fienberg & Trottini (2008)")

    lam: float | None = parameter(
        Number(0, closed=False, none="give correlation"), "how far to turn, as in the paper", None
    )
    correlation: float | None = parameter(
        Number(0, 1, closed=False, none="give lam"),
        "correlation of original and released residuals to aim at",
        None,
    )
    by: Literal["qr", "svd"] = parameter(Choice(("qr", "svd")), "decomposition that gives scores and loadings", "qr")

    def __post_init__(self) -> None:
        if self.lam == 0:
            raise UsageError(f"{self.name}: lam = 0 is the original; lam must be above 0.")
        super().__post_init__()
        if (self.lam is None) == (self.correlation is None):
            raise UsageError(f"{self.name}: give either lam or correlation.")

    def draws(self, k: int) -> int:
        return k

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)  # (2)
        T, W = scores(E, self.by)
        Yg = T + self.rate(X, n) * Z[:, : len(W)]  # (17)
        Tg = self.new_scores(Yg, len(W), X, n=n)  # (11)
        return Yhat + Tg @ W  # (12)

    def rate(self, X: Array, n: int | None = None) -> float:
        """lam, given or worked out from the correlation."""
        if self.correlation is None:
            assert self.lam is not None
            return self.lam
        return float(np.sqrt((1 / self.correlation**2 - 1) / max(freedom(X, n), 1)))

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        _, E = split(Y, X)
        _, Estar = split(Ystar, X)
        size = np.linalg.norm(E, axis=0)
        reached = (E * Estar).sum(axis=0)[size > 0] / size[size > 0] ** 2
        if not len(reached):
            return ()
        return (
            f"lam = {self.rate(X, n):.4g}; residual correlations reached, variable by variable: "
            + ", ".join(f"{c:.3f}" for c in reached),
        )

    @classmethod
    def examples(cls) -> tuple[Romm, ...]:
        return cls(lam=0.3), cls(correlation=0.6), cls(lam=2.0, by="svd")
