"""Third moments as a fold: sums of products of three columns about a known centre."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array

Places = NDArray[np.int64]


@lru_cache
def triples(p: int) -> tuple[Places, Places, Places]:
    """j <= k <= l for all p (p + 1) (p + 2) / 6 products of three of p columns.

    >>> [places.tolist() for places in triples(2)]
    [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1]]
    """
    found = np.array(list(combinations_with_replacement(range(p), 3)), dtype=np.int64).reshape(-1, 3)
    return found[:, 0], found[:, 1], found[:, 2]


@dataclass(frozen=True, repr=False)
class ThirdMoments:
    """Weight and sums of products of three columns about a fixed centre: what a certificate compares."""

    weight: float
    sums: Array

    @classmethod
    def of(cls, A: Array, w: Array | None = None) -> ThirdMoments:
        """Of columns that are centred already.

        >>> ThirdMoments.of(np.array([[1.0, 2.0], [3.0, -1.0]])).mean.tolist()
        [14.0, -3.5, 3.5, 3.5]
        """
        p = A.shape[1]
        weighted, weight = (A, float(len(A))) if w is None else (A * w[:, None], float(w.sum()))
        sums = [(A[:, j, None] * A[:, j:]).T @ weighted for j in range(p)]  # for each j: k >= j by l
        j, k, l = triples(p)  # noqa: E741
        return cls(weight, np.array([sums[a][b - a, c] for a, b, c in zip(j, k, l, strict=True)]))

    def __add__(self, other: Self) -> ThirdMoments:
        return ThirdMoments(self.weight + other.weight, self.sums + other.sums)

    @property
    def mean(self) -> Array:
        return self.sums / self.weight
