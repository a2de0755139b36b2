"""Hybrid data with a chosen correlation between original and released scores, score by score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, scores, split
from suffice.errors import UsageError
from suffice.method.isometric import Isometric
from suffice.method.parameter import Choice, Each, Number, Order, parameter


@dataclass(frozen=True)
class ScoreCorrelation(Isometric):
    """Keep a part of each residual score, and add a new score that makes up for the rest.

    Y* = Yhat + T D W + T* sqrt(I - D^2) W                           (8)

    **Promises** means, covariances and every regression on the given columns; beside these, score i before
    and after has correlation d_i exactly. There is a solution while enough residual directions are left.

    d: the correlation, from -1 to 1, or None for a score that is not controlled: it is new, orthogonal only
        to X and to the controlled scores, as in `Ipso`. (d = 0 is exactly uncorrelated: not `Ipso`.)
        One entry for all, or one for each score; where variables are linearly dependent, one for each
        variable will do as well. Uncontrolled scores take the first columns of Z.
    by: scores of the QR decomposition (score i belongs to variable i after those before it) or of the SVD
        (principal components; these depend on the variables' units).
    order: the variables by importance, as column positions from 0; for QR. The first has its d exactly.

    Langsrud (2019), (8); compare Calvino (2017).

    >>> rng = np.random.default_rng(1)
    >>> X, Y, Z = np.ones((9, 1)), rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    >>> Ystar = ScoreCorrelation(d=(0.6, None)).solve(X, Y, Z)
    >>> np.allclose(np.cov(Ystar.T), np.cov(Y.T))
    True
    >>> round(float(np.corrcoef(Y[:, 0], Ystar[:, 0])[0, 1]), 9)
    0.6
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    references: ClassVar = ("Langsrud (2019), equation (8)", "Calvino (2017)")

    d: float | tuple[float | None, ...] | None = parameter(
        Each(Number(-1, 1, none="not controlled")),
        "correlation of original and released scores, for all or each",
    )
    by: Literal["qr", "svd"] = parameter(Choice(("qr", "svd")), "decomposition that gives scores and loadings", "qr")
    order: tuple[int, ...] | None = parameter(Order(), "the variables by importance, for by = qr", None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order is not None and self.by != "qr":
            raise UsageError(f"{self.name}: order has a meaning for by = qr only.")

    def for_columns(self, places: Sequence[int], k: int) -> ScoreCorrelation:
        if not isinstance(self.d, tuple):
            return self
        if len(self.d) != k:
            raise UsageError(
                f"{self.name}: d has {len(self.d)} entries, and records that lack columns have scores of their own. "
                f"Give one number for all, or one for each of the {k} variables."
            )
        left = {place: i for i, place in enumerate(places)}
        order = None if self.order is None else tuple(left[j] for j in self.order if j in left)
        by_variable = zip(self.d, self.order or range(k), strict=True)
        d = tuple(each for each, j in by_variable if j in left) if self.by == "qr" else self.d[: len(places)]
        return replace(self, d=d, order=order)

    def draws(self, k: int) -> int:
        entries = self.d if isinstance(self.d, tuple) else (self.d,) * k
        return sum(not _kept(d) for d in entries)

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)  # (2)
        T, W = self._scores(E)
        d = self._d(E)
        free = [i for i, di in enumerate(d) if di is None]
        mixed = [i for i, di in enumerate(d) if di is not None and not _kept(di)]
        controlled = [i for i, di in enumerate(d) if di is not None]
        Tnew = self.new_scores(Z, len(free) + len(mixed), X, T[:, controlled], n=n)
        D: Array = np.array([0.0 if di is None else di for di in d], dtype=float)
        Tstar = T * D
        Tstar[:, free] = Tnew[:, : len(free)]
        Tstar[:, mixed] += Tnew[:, len(free) :] * np.sqrt(1 - D[mixed] ** 2)
        return Yhat + Tstar @ W  # (8)

    def _order(self, k: int) -> list[int]:
        order = list(range(k)) if self.order is None else list(self.order)
        if len(order) != k:
            raise UsageError(f"{self.name}: order has {len(order)} positions and there are {k} variables.")
        return order

    def _scores(self, E: Array) -> tuple[Array, Array]:
        """E = T W with the variables in the order of importance."""
        order = self._order(E.shape[1])
        T, W = scores(E[:, order], self.by)
        return T, W[:, np.argsort(order)]

    def _d(self, E: Array) -> tuple[float | None, ...]:
        """d for each score; of one for each variable, those at the pivots."""
        k = E.shape[1]
        pivots = gqr(E[:, self._order(k)]).pivots
        if isinstance(self.d, tuple) and len(self.d) == k:
            return tuple(self.d[p] for p in (pivots if self.by == "qr" else range(len(pivots))))
        return self.each("d", len(pivots), "scores")

    def asked(self) -> tuple[float | None, ...]:
        return self.d if isinstance(self.d, tuple) else (self.d,)

    @classmethod
    def examples(cls) -> tuple[ScoreCorrelation, ...]:
        return cls(0.5), cls(0.0, by="svd"), cls(None)


def _kept(d: float | None) -> bool:
    """d = 1 or -1: the score stays, and no new one is drawn for it."""
    return d is not None and abs(d) == 1.0
