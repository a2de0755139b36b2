"""Model-based protection: the fitted values alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.method.isometric import Isometric


@dataclass(frozen=True)
class Fitted(Isometric):
    """Release the fitted values: all residuals are zero.

    Y* = Yhat

    **Promises** means and every regression coefficient on the given columns. Variances and covariances are
    lost: what the given columns do not explain is gone, and every fit looks perfect.

    Franconi & Stander (2002); Langsrud (2019), section 8.

    >>> import numpy as np
    >>> np.allclose(Fitted().solve(np.ones((3, 1)), np.array([[1.0], [2.0], [6.0]]), np.empty((3, 0))), 3.0)
    True
    """

    keeps: ClassVar = ("mean", "fit")
    independent: ClassVar = True
    references: ClassVar = ("Franconi & Stander (2002)", "Langsrud (2019), section 8")

    def draws(self, k: int) -> int:
        return 0

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        return split(Y, X)[0]

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        return ("Residuals are zero: variances and covariances are lost, and standard errors mean nothing.",)

    @classmethod
    def examples(cls) -> tuple[Fitted, ...]:
        return (cls(),)
