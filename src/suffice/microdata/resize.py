"""Mera's general transformation: fewer or more records with the same means and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.decomposition import Array, gqr, split
from suffice.errors import InfeasibleError, UsageError
from suffice.method import Method
from suffice.parameter import Count, parameter


@dataclass(frozen=True)
class Resize(Method):
    """Draw m new records that have the means and the covariance matrix of the original ones.

    Y* = 1 mean' + sqrt(m) T* R,   R'R = S,   T*'T* = I,   T*'1 = 0         (3)-(4)

    S is the covariance matrix with divisor n, T* are the scores of m rows of normal numbers: secret directions, uniform
    over all that exist. This is `Ipso` about the mean, drawn for m rows; each record is a mixture of all.

    **Promises** means, and variances and covariances with divisor n of the original and m of the release (so with n - 1
    and m - 1 they are off by a factor), hence every regression among the columns. Nothing of the original but these is
    left. Columns change together: a numeric column is one of them or leaves out, a category can only be a group.

    m: how many records to draw, in each group one more than the independent columns of deviations at least

    Mera (1997), Theorem 3, with T = sqrt(m/n) H for m < n too: the printed sqrt(n/m) multiplies (3) by n/m and (4) by
    its square. The theorem asks for m >= p; where 1 is not in the span of the columns it takes m >= p + 1 = rank [1 Y]
    (one record has no variance). Its H "as in the proof" follows from n and m, so anyone can redo it: here it is drawn.

    >>> rng = np.random.default_rng(1)
    >>> Y = rng.exponential(size=(50, 2))
    >>> Ystar = Resize(m=7).draw(Y.mean(axis=0), np.linalg.cholesky(np.cov(Y.T, bias=True)).T, rng.normal(size=(7, 2)))
    >>> np.allclose(Ystar.mean(axis=0), Y.mean(axis=0)), np.allclose(np.cov(Ystar.T, bias=True), np.cov(Y.T, bias=True))
    (True, True)
    """

    promises: ClassVar = ("mean", "covariance")
    independent: ClassVar = True
    references: ClassVar = ("Mera (1997), Theorem 3", "Langsrud (2019), equations (2)-(4)")

    m: int = parameter(Count(), "how many records to draw")

    def draws(self, k: int) -> int:
        """How many columns of Z `draw` uses at most for k columns."""
        return k

    def draw(self, mean: Array, R: Array, Z: Array) -> Array:
        """Y* of m rows, or of the rows of Z that fall to one group.

        mean: of the columns
        R: their covariance matrix is R'R; fewer rows where columns are dependent
        Z: standard normal numbers; the first columns are used
        """
        return resized(mean, R, Z)

    @classmethod
    def examples(cls) -> tuple[Resize, ...]:
        return cls(m=40), cls(m=400)


def factored(Y: Array, w: Array | None = None) -> tuple[Array, Array]:
    """Mean and R of columns, S = R'R with the sum of the weights as divisor; a constant column has zeros in R.

    >>> mean, R = factored(np.array([[1.0, 3.0, 5.0], [3.0, 7.0, 5.0]]))
    >>> mean.tolist(), R.round(12).tolist()
    ([2.0, 5.0, 5.0], [[1.0, 2.0, 0.0]])
    """
    root = np.ones((len(Y), 1)) if w is None else np.sqrt(w)[:, None]
    _, E = split(root * Y, root)
    centre = (root * (root * Y - E)).sum(axis=0) / (root * root).sum()
    mean = np.where(E.any(axis=0), centre, Y[0])  # the mean of a constant is that constant
    return mean, gqr(E).R / np.linalg.norm(root)


def resized(mean: Array, R: Array, Z: Array) -> Array:
    """len(Z) records with this mean and the covariance matrix R'R.

    Y* = 1 mean' + sqrt(m) T* R                                       (3)-(4)

    >>> Y = resized(np.array([5.0]), np.array([[2.0]]), np.array([[0.3], [-1.0], [2.2]]))
    >>> float(Y.mean().round(12)), float(Y.std().round(12))
    (5.0, 2.0)
    """
    m, r = len(Z), len(R)
    if Z.shape[1] < r:
        raise UsageError(f"resize needs {r} random columns and Z has {Z.shape[1]}.")
    T = gqr(split(Z[:, :r], np.ones((m, 1)))[1]).Q if m else np.empty((0, 0))
    if T.shape[1] < r:
        raise InfeasibleError(
            f"Resize needs {r + 1} records at least and {m} are asked for.\n"
            f"  columns {len(mean)} . independent deviations from the mean {r}\n"
            "Ask for more records, merge small groups, or leave columns out."
        )
    return np.asarray(mean + np.sqrt(m) * T @ R)
