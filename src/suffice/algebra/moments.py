"""Moments as folds: first the spread of every column, then sums and cross-products about a known centre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Spread:
    """Count, weight, mean, centred sum of squares, smallest and largest value of every column (Chan's merge)."""

    rows: int
    weight: float
    mean: Array
    squares: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, A: Array, w: Array | None = None) -> Spread:
        total = float(len(A)) if w is None else float(w.sum())
        rows = len(A) if w is None else int((w > 0).sum())
        columns = [_spread(column, w, total) for column in A.T]  # column by column: each stays in the cache
        mean, squares, low, high = np.array(columns).reshape(-1, 4).T
        return cls(rows, total, mean, squares, low, high)

    def __add__(self, other: Self) -> Spread:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        apart = other.mean - self.mean
        return Spread(
            self.rows + other.rows,
            weight,
            self.mean + share * apart,
            self.squares + other.squares + self.weight * share * apart**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def columns(self, which: slice) -> Spread:
        return Spread(self.rows, self.weight, self.mean[which], self.squares[which], self.low[which], self.high[which])

    @property
    def sd(self) -> Array:
        return np.sqrt(self.squares / max(self.weight, 1e-300))

    @property
    def size(self) -> Array:
        """The largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def _spread(a: Array, w: Array | None, total: float) -> tuple[float, float, float, float]:
    """Mean, centred sum of squares, smallest and largest value."""
    low, high = float(a.min()), float(a.max())
    mean = float(a.sum() if w is None else w @ a) / total if total > 0 else 0.0
    mean = float(np.clip(mean, low, high)) if low < high else low  # the mean of a constant is that constant
    apart = a - mean
    return mean, float(apart @ apart if w is None else w @ (apart * apart)), low, high


@dataclass(frozen=True, repr=False)
class Moments:
    """Weight, sums and cross-products of columns about a fixed centre: what a certificate compares."""

    rows: int
    weight: float
    sums: Array
    products: Array

    @classmethod
    def of(cls, A: Array, w: Array | None = None) -> Moments:
        """Of columns that are centred already."""
        if w is None:
            return cls(len(A), float(len(A)), A.sum(axis=0), A.T @ A)
        return cls(int((w > 0).sum()), float(w.sum()), w @ A, (A * w[:, None]).T @ A)

    def __add__(self, other: Self) -> Moments:
        return Moments(
            self.rows + other.rows,
            self.weight + other.weight,
            self.sums + other.sums,
            self.products + other.products,
        )

    @property
    def mean(self) -> Array:
        return self.sums / self.weight

    @property
    def covariance(self) -> Array:
        """Divisor: the sum of the weights."""
        return self.products / self.weight - np.outer(self.mean, self.mean)
