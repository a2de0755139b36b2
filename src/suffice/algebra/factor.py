"""The R factor of a tall matrix as a fold: R of the stacked pair is the sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.algebra.array import Array

WELL = 0.2
"""A block whose Cholesky diagonal spreads less than this is well enough conditioned for its Gram matrix."""


@dataclass(frozen=True, repr=False)
class RFactor:
    """R with R'R = A'A, and the number of rows of A.

    >>> A, B = np.arange(12.0).reshape(6, 2), np.ones((3, 2))
    >>> R = (RFactor.of(A) + RFactor.of(B)).R
    >>> np.allclose(R.T @ R, A.T @ A + B.T @ B)
    True
    """

    rows: int
    R: Array

    @classmethod
    def of(cls, A: Array) -> RFactor:
        return cls(len(A), triangle(A))

    @classmethod
    def empty(cls, columns: int) -> RFactor:
        return cls(0, np.zeros((0, columns)))

    def __add__(self, other: Self) -> RFactor:
        return RFactor(self.rows + other.rows, triangle(np.vstack([self.R, other.R])))


def triangle(A: Array) -> Array:
    """R of A = QR: by the Gram matrix where A is well conditioned (that is 8 times faster), else by reflections."""
    n, p = A.shape
    R = _by_gram(A) if n > 8 * p else None
    return np.asarray(np.linalg.qr(A, mode="r")) if R is None else R


def _by_gram(A: Array) -> Array | None:
    try:
        R = np.asarray(np.linalg.cholesky(A.T @ A).T, dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    size = np.abs(np.diagonal(R))
    return R if size.min(initial=np.inf) >= WELL * size.max(initial=0.0) else None
