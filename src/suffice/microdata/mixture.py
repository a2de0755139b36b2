"""Mixtures of original and random data, to be restored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import freedom, split
from suffice.method.isometric import Isometric
from suffice.method.parameter import Each, Number, parameter


@dataclass(frozen=True)
class Mixture(Isometric):
    """Mix each confidential column with random numbers of its own residual standard deviation.

    Yg = Y D + Ys (I - D)                                            (13)

    **Promises** nothing by itself. `Mixture(d).then(Restore())` promises means, covariances and regressions.

    d: the part of each column that is original, from 0 to 1; one number, or one for each column.

    Langsrud (2019), (13).

    >>> from suffice.microdata import Restore
    >>> X, Y = np.ones((5, 1)), np.array([[1.0, 2], [2, 9], [3, 1], [4, 4], [8, 2]])
    >>> Ystar = Mixture(0.5).then(Restore()).solve(X, Y, np.eye(5)[:, :4])
    >>> np.allclose(X.T @ Ystar, X.T @ Y), np.allclose(Ystar.T @ Ystar, Y.T @ Y)
    (True, True)
    """

    keeps: ClassVar = ()
    references: ClassVar = ("Langsrud (2019), equation (13)",)

    d: float | tuple[float, ...] = parameter(Each(Number(0, 1)), "the part of each column that is original")

    def for_columns(self, places: Sequence[int], k: int) -> Mixture:
        d = self.each("d", k)
        return replace(self, d=tuple(d[j] for j in places)) if isinstance(self.d, tuple) else self

    def draws(self, k: int) -> int:
        return k

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        _, E = split(Y, X)
        d: Array = np.array(self.each("d", Y.shape[1]), dtype=float)
        sd: Array = np.linalg.norm(E, axis=0) / np.sqrt(max(freedom(X, n), 1))  # (no freedom: E is zero)
        Ys = Z[:, : Y.shape[1]] * sd
        return Y * d + Ys * (1 - d)  # (13)

    @classmethod
    def examples(cls) -> tuple[Mixture, ...]:
        return cls(0.7), cls(0.0)
