"""The isometry: well conditioned coordinates for tall data, their small factor, and the way back to the rows.

W = [X Y G] are the given, confidential and companion columns about a centre, Z the random ones. A row of
coordinates is a = [(w - centre) z] T^-1 with T triangular, taken from a QR of a few sample blocks; A = Q R over
all rows. A formula that sees data only through inner products gives the same answer on R T as on the rows, and its
change D is carried back by a M, M = R^-1 D. Dividing each *row* by T (a triangular solve) is backward stable row by
row; multiplying by R^+ of the raw columns would cost a factor cond(X).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrsm

from suffice.algebra.absorption import Absorption, Codes
from suffice.algebra.array import EPS, Array, constant
from suffice.algebra.decomposition import gqr
from suffice.algebra.factor import RFactor
from suffice.algebra.moments import Spread

NOISE = 200 * EPS
"""What is left of a dependent column, in units of its spread (times the digits lost to its offset)."""


@dataclass(frozen=True, repr=False)
class Sample:
    """R factors of some blocks about their own means: enough to choose coordinates, whatever the centre."""

    parts: tuple[tuple[float, Array, Array], ...] = ()

    @classmethod
    def of(cls, W: Array, w: Array | None = None) -> Sample:
        root = np.ones(len(W)) if w is None else np.sqrt(w)
        weight = float(root @ root)
        if weight <= 0:
            return cls()
        mean = (root**2 @ W) / weight
        R = np.asarray(np.linalg.qr((W - mean) * root[:, None], mode="r"))
        return cls(((weight, mean, R),))

    def __add__(self, other: Self) -> Sample:
        return Sample(self.parts + other.parts)

    def about(self, centre: Array) -> Array:
        """R of the sampled rows about `centre`, scaled to one row's weight."""
        rows = [np.sqrt(weight) * (mean - centre)[None, :] for weight, mean, _ in self.parts]
        stacked = np.vstack([*rows, *(R for _, _, R in self.parts)])
        R = np.asarray(np.linalg.qr(stacked, mode="r"), dtype=np.float64)
        return np.asarray(R / np.sqrt(sum(weight for weight, _, _ in self.parts)))


@dataclass(frozen=True, repr=False)
class Basis:
    """Coordinates of rows: what is subtracted, and the triangle that divides."""

    centre: Array
    T: Array
    noise: Array
    """Per column of W: below this size a coordinate is nothing but rounding."""
    absorbed: Absorption | None = None
    """Means of [W Z] in the levels of a factor, where one is absorbed: subtracted before T divides."""

    @classmethod
    def choose(cls, sample: Sample, spread: Spread, centre: Array) -> Basis:
        """Coordinates that are orthonormal in the sample; a column that depends on earlier ones keeps its own scale."""
        scale, noise = _scale(spread, centre)
        S = np.where(np.isinf(noise), 0.0, sample.about(centre) / scale)
        return cls(centre, scattered(*_pivoted(S, noise)) * scale, noise)

    @classmethod
    def scaled(cls, spread: Spread, centre: Array, absorbed: Absorption) -> Basis:
        """Columns in units of their spread: what depends on what within the levels, no sample can tell."""
        scale, noise = _scale(spread, centre)
        return cls(centre, np.diag(scale), noise, absorbed)

    def divide(self, A: Array, labels: Codes | None = None) -> None:
        """A becomes A T^-1, in place, for rows A = [W Z] that are centred already; T may leave Z alone.

        labels: each row's level in the factor that is absorbed; its means are subtracted first
        """
        assert (labels is None) == (self.absorbed is None)
        if self.absorbed is not None and labels is not None:
            self.absorbed.subtract(A, labels)
        t = len(self.T)
        done = dtrsm(1.0, self.T, A[:, :t], side=1, overwrite_b=1)
        if not np.shares_memory(done, A):
            A[:, :t] = done


@dataclass(frozen=True, repr=False)
class Isometry:
    """The small factor of all columns, in the place of the rows.

    `R` holds the coordinates' factor (rank x columns), `pivots` the independent columns.
    """

    basis: Basis
    R: Array
    pivots: tuple[int, ...]
    rows: int

    @classmethod
    def of(cls, basis: Basis, factor: RFactor) -> Isometry:
        R = factor.R / np.sqrt(max(factor.rows, 1))
        p = len(basis.noise)
        size = np.sqrt((R[:, :p] ** 2).sum(axis=0))
        R[:, :p] = np.where(np.isinf(basis.noise), 0.0, R[:, :p])
        floor = np.full(R.shape[1], 1e-12)
        if basis.absorbed is not None:  # the coordinates may be no more than scaled
            floor[:p] = np.maximum(floor[:p], basis.noise)
        floor[:p] = np.where(size <= basis.noise, np.inf, floor[:p])  # dependent, as the sample said: no new direction
        R, pivots = _pivoted(R, floor)
        return cls(basis, R * np.sqrt(factor.rows), pivots, factor.rows)

    @property
    def condition(self) -> float:
        return float(np.linalg.cond(self.R[:, list(self.pivots)])) if self.pivots else 1.0

    def refined(self) -> Basis:
        """Coordinates that are orthonormal over all rows: fold once more and divide again."""
        T = np.eye(self.R.shape[1])
        T[: len(self.basis.T), : len(self.basis.T)] = self.basis.T
        return replace(self.basis, T=scattered(self.R / np.sqrt(self.rows), self.pivots) @ T)

    def columns(self, which: Sequence[int]) -> Array:
        """The small factor of columns of [W Z], in the columns' own units."""
        t = len(self.basis.T)
        small = self.R.copy()
        small[:, :t] = self.R[:, :t] @ self.basis.T
        return small[:, list(which)]

    def spanning(self, which: Sequence[int]) -> Array:
        """An independent, well conditioned set with the same span as the *leading* columns `which`."""
        return self.R[:, [j for j in which if j in self.pivots]]

    def carry(self, D: Array) -> Array:
        """M with A M = Q D."""
        M = np.zeros((self.R.shape[1], D.shape[1]))
        M[list(self.pivots)] = solve_triangular(self.R[:, list(self.pivots)], D)
        return M


def _scale(spread: Spread, centre: Array) -> tuple[Array, Array]:
    """The size of each column about the centre, and what rounding leaves of it (all of a constant is that)."""
    about = np.sqrt(spread.sd**2 + (spread.mean - centre) ** 2)  # root mean square
    still = constant(about, spread.size)
    scale = np.where(still, 1.0, about)
    return scale, np.where(still, np.inf, NOISE * np.maximum(1.0, spread.size / scale))


def scattered(R: Array, pivots: Sequence[int]) -> Array:
    """The r x p factor as a p x p triangle: row i stands at its pivot, a dependent column has one on the diagonal."""
    T = np.eye(R.shape[1])
    T[list(pivots)] = R
    return T


def _pivoted(S: Array, noise: Array) -> tuple[Array, tuple[int, ...]]:
    found = gqr(S, noise)
    return found.R, found.pivots
