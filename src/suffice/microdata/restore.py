"""Restore: give any masked data set the statistics of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, scores, split
from suffice.errors import InfeasibleError
from suffice.method.isometric import Isometric
from suffice.method.parameter import Choice, Data, Switch, parameter


@dataclass(frozen=True)
class Restore(Isometric):
    """Keep the residual scores of a candidate data set, and give them the loadings and fit of the original.

    Yg = Yhat_g + Eg = Yhat_g + Tg Wg                                (11)
    Y* = Yhat + Tg W                                                 (12)

    **Promises** means, covariances and every regression on the given columns, whatever the candidate is. How
    much is given away is decided by the candidate, not here.

    candidate: the masked data set, row by row beside the original; or none, and a method before it:
        `method.then(Restore())`. Its columns at the pivots of E are used.
    fill: where these columns lack rank, each missing score is a new one, made from Z; false refuses instead.
    by: scores and loadings are those of the QR decomposition or of the SVD (principal components, of all columns of the
        candidate). By SVD a release may lie far from its candidate: components of like variance change places.

    Langsrud (2019), (11)-(12).

    >>> X, Y = np.ones((4, 1)), np.array([[1.0, 2], [2, 9], [3, 1], [4, 4]])
    >>> Ystar = Restore(candidate=np.round(Y, -1)).solve(X, Y, np.eye(4)[:, :2])
    >>> np.allclose(X.T @ Ystar, X.T @ Y), np.allclose(Ystar.T @ Ystar, Y.T @ Y)
    (True, True)
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    references: ClassVar = ("Langsrud (2019), equations (11)-(12)",)

    candidate: object = parameter(Data(), "the masked data set to correct", None)
    fill: bool = parameter(Switch(), "make new scores where the candidate lacks rank", True)
    by: Literal["qr", "svd"] = parameter(
        Choice(("qr", "svd")), "decomposition that gives scores and loadings", "qr", added=True
    )

    def draws(self, k: int) -> int:
        return k if self.fill else 0

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)  # (2)
        _, W = scores(E, self.by)  # E = T W
        Q, places = self._candidate(X, Y, E)  # (11)
        missing = [i for i in range(len(W)) if i not in places]
        if missing and not self.fill:
            raise InfeasibleError(
                f"Restore needs {len(W)} residual scores and the candidate has {len(places)}.\n"
                "Use a candidate that keeps more of the variation, or fill = true to make the others anew."
            )
        Tg = np.empty((len(X), len(W)))
        Tg[:, places] = Q
        Tg[:, missing] = self.new_scores(Z, len(missing), X, Q, n=n)
        return Yhat + Tg @ W  # (12)

    def _candidate(self, X: Array, Y: Array, E: Array) -> tuple[Array, list[int]]:
        """The candidate's scores, and which of the original's each takes the place of."""
        pivots, G = list(gqr(E).pivots), self.aligned(Y)
        if self.by == "svd":
            T = scores(split(G, X)[1], "svd")[0][:, : len(pivots)]
            return T, list(range(T.shape[1]))
        D = gqr(split(G[:, pivots], X)[1])
        return D.Q, list(D.pivots)

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        E = split(Y, X)[1]
        rank = gqr(E).rank
        new = rank - len(self._candidate(X, Y, E)[1])
        return (f"{new} of {rank} residual scores are new: the candidate lacks them.",) if new else ()

    @classmethod
    def examples(cls) -> tuple[Restore, ...]:
        return cls(), cls(by="svd")
