"""One factor of many levels, absorbed: every column about its means in the levels, in the place of dummies.

Let D be the dummies of the factor. Then (I - P_D) a is a less its weighted mean in each level, and the regression
of y on [D X] leaves the residuals of (I - P_D) y on (I - P_D) X (Frisch and Waugh 1933, Lovell 1963).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.factor import triangle

Codes = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


@dataclass(frozen=True, repr=False)
class LevelSums:
    """Weights and weighted sums of columns in those levels that a block has."""

    levels: Codes
    weight: Array
    sums: Array

    @classmethod
    def of(cls, A: Array, w: Array | None, labels: Codes) -> LevelSums:
        levels, place = np.unique(labels, return_inverse=True)
        weight = np.bincount(place, weights=w).astype(np.float64)
        sums = np.empty((len(levels), A.shape[1]))
        for j, a in enumerate(A.T):
            sums[:, j] = np.bincount(place, weights=a if w is None else a * w)
        return cls(levels, weight, sums)


@dataclass(frozen=True, repr=False)
class Absorption:
    """Weighted means of columns, about a centre, in every level of a factor: the fits P_D A.

    The first column is that of ones: it lies in the span of D, stands for it in X, and is left alone.

    weight: of each level
    mean: a row for each level
    labels: the level of every record, where these are kept

    >>> ones, y, levels = np.ones(4), np.array([1.0, 3.0, 5.0, 9.0]), np.array([0, 0, 1, 1])
    >>> A = np.column_stack([ones, y])
    >>> Absorption.learn([[LevelSums.of(A, None, levels)]], 2, 2).subtract(A, levels)
    >>> D = np.eye(2)[levels]
    >>> np.allclose(A[:, 1], y - D @ np.linalg.lstsq(D, y)[0])
    True
    """

    weight: Array
    mean: Array
    labels: NDArray[np.int32] | None = None

    def __getstate__(self) -> dict[str, Any]:  # whoever has some of the records looks their levels up
        return {**vars(self), "labels": None}

    @classmethod
    def learn(
        cls,
        runs: Iterable[Sequence[LevelSums]],
        levels: int,
        columns: int,
        labels: NDArray[np.int32] | None = None,
    ) -> Absorption:
        """Sums are added up in one table, in row order: a sum of tables for each block would cost much more."""
        weight, sums = np.zeros(levels), np.zeros((levels, columns))
        for run in runs:
            for part in run:
                weight[part.levels] += part.weight
                sums[part.levels] = sums.take(part.levels, axis=0) + part.sums
        sums /= np.where(weight > 0, weight, 1.0)[:, None]
        sums[:, 0] = 0.0
        return cls(weight, sums, labels)

    @property
    def rank(self) -> int:
        """Independent dummies, beside the column of ones: levels without weight count nowhere."""
        return int((self.weight > 0).sum()) - 1

    def subtract(self, A: Array, labels: Codes) -> None:
        """A becomes (I - P_D) A, in place."""
        mean = self.mean.take(labels, axis=0)
        for a, each in zip(A.T, mean.T, strict=True):  # column by column, as A lies in memory
            a -= each

    def leverage(self, labels: Codes, w: Array | None) -> Array:
        """w_i / W_g, the diagonal of P_D."""
        one = np.ones(len(labels)) if w is None else w
        weight = self.weight[labels]
        return np.divide(one, weight, out=np.zeros(len(labels)), where=weight > 0)

    def factor(self, mean_weight: float) -> Array:
        """R of sqrt(W_g) times the means: the small factor of P_D A."""
        return triangle(self.mean * np.sqrt(self.weight / mean_weight)[:, None])
