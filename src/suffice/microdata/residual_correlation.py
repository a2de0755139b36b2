"""Hybrid data with a chosen correlation between original and released residuals, variable by variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from suffice.algebra.addition import share, usable
from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, split
from suffice.method.isometric import Isometric
from suffice.method.parameter import Each, Number, parameter


@dataclass(frozen=True)
class ResidualCorrelation(Isometric):
    """Keep a part of each variable's residuals, and add new ones that make up for the rest.

    Y*  = Yhat + alpha E D + T* C                                    (7), (9)
    C'C = E'E - alpha^2 D E'E D                                      (10)

    **Promises** means, covariances and every regression on the given columns; beside these, the residuals
    of variable j before and after have correlation alpha d_j exactly; alpha = 1 unless `shrink` was used.
    T* is orthogonal to all of E, so that d_j = 0 is exactly uncorrelated (the paper asks it of E D only).

    d: the correlation, from -1 to 1; one number or one for each variable. C may not exist where these differ:
        this is refused with the largest feasible alpha. Linearly dependent variables need equal d.
    shrink: use alpha = shrink times the largest feasible one where d is not feasible as it is.

    Langsrud (2019), (7), (9)-(10); Muralidhar & Sarathy (2008).

    >>> rng = np.random.default_rng(1)
    >>> X, Y, Z = np.ones((9, 1)), rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    >>> Ystar = ResidualCorrelation(d=(0.6, 0.4)).solve(X, Y, Z)
    >>> np.allclose(np.cov(Ystar.T), np.cov(Y.T))
    True
    >>> [round(float(np.corrcoef(Y[:, j], Ystar[:, j])[0, 1]), 9) for j in (0, 1)]
    [0.6, 0.4]
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    references: ClassVar = ("Langsrud (2019), equations (7), (9)-(10)", "Muralidhar & Sarathy (2008)")

    d: float | tuple[float, ...] = parameter(
        Each(Number(-1, 1)), "correlation of original and released residuals, for all variables or each"
    )
    shrink: float | None = parameter(
        Number(0, 1, closed=False, none="refuse"),
        "the share of the largest feasible alpha to use where d is not feasible",
        None,
    )

    @property
    def stacks(self) -> bool:  # type: ignore[override]  # one d for all is solved in closed form
        return not isinstance(self.d, tuple)

    def for_columns(self, places: Sequence[int], k: int) -> ResidualCorrelation:
        d = self.each("d", k)
        return replace(self, d=tuple(d[j] for j in places)) if isinstance(self.d, tuple) else self

    def draws(self, k: int) -> int:
        return k

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)  # (2)
        d = self._d(Y)
        alpha, C = self._alpha_C(E, d)  # (10)
        Tstar = self.new_scores(Z, C.shape[-2], X, E, n=n)  # T* orthogonal to X and E
        return Yhat + alpha * E * d + Tstar @ C  # (7), (9)

    def _d(self, Y: Array) -> Array:
        return np.array(self.each("d", Y.shape[-1]), dtype=float)

    def _alpha_C(self, E: Array, d: Array) -> tuple[float, Array]:
        if np.ptp(d) == 0:  # C'C = (1 - d^2) E'E: (7) and (8) are the same, and d = 1 is the original
            return 1.0, gqr(np.sqrt(1 - d**2) * E).R
        given = share(E, E * d)
        alpha = usable(1.0, given, self.shrink, "their d must be equal", "d")
        return alpha, given.C(alpha)

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        alpha, _ = self._alpha_C(split(Y, X)[1], self._d(Y))
        if alpha == 1.0:
            return ()
        return (f"The correlations asked are not feasible: each is multiplied by alpha = {alpha:.4g}.",)

    def asked(self) -> tuple[float | None, ...]:
        return self.d if isinstance(self.d, tuple) else (self.d,)

    @classmethod
    def examples(cls) -> tuple[ResidualCorrelation, ...]:
        return cls(0.5), cls(0.0), cls(-0.3)
