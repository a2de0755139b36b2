"""Restore: give any masked data set the statistics of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, split
from suffice.errors import InfeasibleError
from suffice.method.isometric import Isometric
from suffice.method.parameter import Data, Switch, parameter


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

    def draws(self, k: int) -> int:
        return k if self.fill else 0

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)  # (2)
        D = gqr(E)  # E = T W
        _, Eg = split(self.aligned(Y)[:, list(D.pivots)], X)  # (11)
        Tg = self._complete(gqr(Eg).Q, gqr(Eg).pivots, D.rank, X, Z, n)
        return Yhat + Tg @ D.R  # (12)

    def _complete(self, Q: Array, pivots: tuple[int, ...], rank: int, X: Array, Z: Array, n: int | None) -> Array:
        """The candidate's scores, and a new one in each missing place."""
        missing = [i for i in range(rank) if i not in pivots]
        if missing and not self.fill:
            raise InfeasibleError(
                f"Restore needs {rank} residual scores and the candidate has {len(pivots)}.\n"
                "Use a candidate that keeps more of the variation, or fill = true to make the others anew."
            )
        Tg = np.empty((len(X), rank))
        Tg[:, list(pivots)] = Q
        Tg[:, missing] = self.new_scores(Z, len(missing), X, Q, n=n)
        return Tg

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        pivots = gqr(split(Y, X)[1]).pivots
        new = len(pivots) - gqr(split(self.aligned(Y)[:, list(pivots)], X)[1]).rank
        return (f"{new} of {len(pivots)} residual scores are new: the candidate lacks them.",) if new else ()

    @classmethod
    def examples(cls) -> tuple[Restore, ...]:
        return (cls(),)
