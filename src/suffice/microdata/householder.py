"""Mera's matrix masking: one reflection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import freedom, scores, split
from suffice.algorithms.reflection.direction import MOST, aimed
from suffice.method.isometric import Isometric
from suffice.method.parameter import Number, parameter


@dataclass(frozen=True)
class Householder(Isometric):
    """Reflect the residuals in the hyperplane across one secret direction.

    Y* = (I - 2 u u' / u'u) Y,   X'u = 0                             (6)

    **Promises** means, covariances and every regression on the given columns. It hides little: all records move along
    one direction, so k - 1 combinations of k columns leave as they are, one known column gives the whole file, three
    releases give it to anyone, and one column of whole numbers gives a small reflection away. `Ipso` has none of this.

    change: how far every column moves, root mean square, in residual standard deviations; u then lies partly among
        the residuals. Uncorrelated columns allow sqrt(2 / k), any k columns sqrt(2) / k; correlated ones more. None
        is the reflection of the paper, across a random direction: about 1.6 / sqrt(n), nearly nothing.

    Mera (1997), Theorem 1, (5)-(6); in groups Theorem 2, with weights section 3.5.

    >>> rng = np.random.default_rng(1)
    >>> X, Y, Z = np.ones((9, 1)), rng.normal(size=(9, 2)), rng.normal(size=(9, 1))
    >>> Ystar = Householder(change=0.8).solve(X, Y, Z)
    >>> np.allclose(X.T @ Ystar, X.T @ Y), np.allclose(Ystar.T @ Ystar, Y.T @ Y)
    (True, True)
    >>> float((np.std(Ystar - Y, axis=0) / np.std(Y, axis=0)).min().round(12))
    0.8
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    references: ClassVar = ("Mera (1997), Theorems 1 and 2, section 3.5",)

    change: float | None = parameter(
        Number(0, 2**0.5, closed=False, none="a random direction, nearly no change"),
        "how far every column moves, in residual standard deviations",
        None,
    )

    def draws(self, k: int) -> int:
        return 1

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        _, E = split(Y, X)
        if not E.any():
            return Y.copy()
        u = self.direction(X, E, Z, n)
        return Y - 2 * u @ (u.T @ E)  # (6), X'u = 0: what X explains stays

    def direction(self, X: Array, E: Array, Z: Array, n: int | None = None) -> Array:
        """u: a unit vector orthogonal to X; E: residuals, not all of them zero."""
        if self.change is None:
            return self.new_scores(Z, 1, X, n=n)
        T, W = scores(E)
        free = freedom(X, n) > T.shape[1]  # a direction apart from X and E exists
        a = aimed(W[:, E.any(axis=0)], T.T @ Z[:, 0], self.change, MOST if free else 1.0)
        if not free:
            return T @ (a / np.linalg.norm(a))[:, None]
        return T @ a[:, None] + np.sqrt(1 - a @ a) * self.new_scores(Z, 1, X, T, n=n)

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        _, E = split(Y, X)
        if not E.any():
            return ()
        moving = E.any(axis=0)
        reached = np.linalg.norm((Ystar - Y)[:, moving], axis=0) / np.linalg.norm(E[:, moving], axis=0)
        return (
            "change of the residuals in their standard deviations, variable by variable: "
            + ", ".join(f"{each:.3f}" for each in reached),
        )

    @classmethod
    def examples(cls) -> tuple[Householder, ...]:
        return cls(change=0.3), cls(change=0.35)
