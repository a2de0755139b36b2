"""Moments as folds: first the spread of every column, then sums and cross-products about a known centre."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags, constant


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
        low, high = A.min(axis=0), A.max(axis=0)
        total = float(len(A)) if w is None else float(w.sum())
        sums = A.sum(axis=0) if w is None else w @ A
        mean = np.clip(sums / (total or 1.0), low, high)  # the mean of a constant is that constant
        apart = A - mean
        squares = np.array([a @ a if w is None else w @ (a * a) for a in apart.T])
        return cls(len(A) if w is None else int((w > 0).sum()), total, mean, squares, low, high)

    def __add__(self, other: Self) -> Spread:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        apart, low, high = other.mean - self.mean, np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Spread(
            self.rows + other.rows,
            weight,
            self.mean + share * apart if weight > 0 else np.clip(0.0, low, high),  # as `of` has it
            self.squares + other.squares + self.weight * share * apart**2,
            low,
            high,
        )

    def columns(self, which: slice) -> Spread:
        return Spread(self.rows, self.weight, self.mean[which], self.squares[which], self.low[which], self.high[which])

    @cached_property
    def sd(self) -> Array:
        return np.sqrt(self.squares / max(self.weight, 1e-300))

    @cached_property
    def size(self) -> Array:
        """The largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def constant(self) -> Flags:
        """Which columns do not vary."""
        return constant(self.sd, self.size)


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

    def second(self, one: NDArray[np.intp], two: NDArray[np.intp]) -> Array:
        """Mean products of columns about the centre."""
        return np.asarray(self.products[one, two] / self.weight)

    @property
    def covariance(self) -> Array:
        """Divisor: the sum of the weights."""
        return self.products / self.weight - np.outer(self.mean, self.mean)
