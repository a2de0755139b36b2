"""What the guards must see of every pair of original and released rows: one fold, beside the map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from suffice.algebra.array import Array, Flags
from suffice.algebra.moments import Spread

SAME = 1e-6
"""A value released within this share of a standard deviation is the value itself."""
ROUNDING = 1e-9
"""The leverage in a cell of five is 1/5, in a cell of two 1/2, up to this."""
FAR, NEAR = 5.0, 0.1
"""Outlying cells are FAR standard deviations out; one is given away when NEAR of its distance, or less, is changed."""
FEW, MOST = 10, 200
"""Giants that are looked for in the release, and how many of its farthest records are looked at."""


@dataclass(frozen=True, order=True)
class Peak:
    """The record with the highest leverage: how high, which row, and its row of the orthonormal basis."""

    leverage: float
    row: int
    q: tuple[float, ...] = field(default=(), repr=False)
    own: float = 0.0
    """What the level of an absorbed factor adds: w_i / W_g."""


@dataclass(frozen=True)
class Tally:
    """A peak alone, as a fold."""

    peak: Peak

    def __add__(self, other: Self) -> Tally:
        return Tally(max(self.peak, other.peak))


@dataclass(frozen=True, repr=False)
class Giants:
    """The records that lie farthest out, as distances from the mean in standard deviations."""

    Z: Array

    @classmethod
    def of(cls, spread: Spread, constant: Flags, Y: Array) -> Giants:
        open_ = np.flatnonzero(~constant)
        far = np.zeros(len(Y), dtype=bool)
        for j in open_:
            middle, bar = spread.mean[j], FAR * spread.sd[j]
            far |= (Y[:, j] > middle + bar) | (Y[:, j] < middle - bar)
        return cls((Y[np.ix_(far, open_)] - spread.mean[open_]) / spread.sd[open_])

    def __add__(self, other: Self) -> Giants:
        Z = np.vstack([self.Z, other.Z])
        return Giants(Z[np.argsort(-np.abs(Z).max(axis=1, initial=0.0), kind="stable")[:MOST]])

    def handed_on(self, released: Giants) -> tuple[int, int]:
        """Of the farthest few, how many there are, and how many some released record is near in every column."""
        top = (self + Giants(self.Z[:0])).Z[:FEW]
        near = [(np.abs(released.Z - z) <= NEAR * np.maximum(np.abs(z), 1.0)).all(axis=1).any() for z in top]
        return len(top), int(sum(near))


@dataclass(frozen=True, repr=False)
class Watch:
    """Counts over rows, and the few rows that a guard needs whole."""

    leverage: NDArray[np.int64]
    """Records with leverage above .2, from .5 on and from .999 on."""
    highest: Peak
    copies: tuple[int, ...]
    """Rows released with their own confidential values (not all zero)."""
    outlying: int
    outlying_near: int
    negative: NDArray[np.int64]
    """Per confidential column: released values below zero."""
    sample: tuple[tuple[Array, Array], ...]
    """Original and released residuals of sampled rows."""
    giants: tuple[Giants, Giants]
    """The farthest records of the original and of the release."""

    def __add__(self, other: Self) -> Watch:
        return Watch(
            self.leverage + other.leverage,
            max(self.highest, other.highest),
            self.copies + other.copies,
            self.outlying + other.outlying,
            self.outlying_near + other.outlying_near,
            self.negative + other.negative,
            self.sample + other.sample,
            (self.giants[0] + other.giants[0], self.giants[1] + other.giants[1]),
        )


@dataclass(frozen=True, repr=False)
class Leverage:
    """Leverages of rows, from their coordinates and the triangle R that makes those orthonormal."""

    R: Array
    least: float
    """The smallest singular value of R, squared: the squared length of a row over this bounds its leverage."""

    @classmethod
    def of(cls, R: Array) -> Leverage:
        return cls(R, float(np.linalg.svd(R, compute_uv=False).min(initial=np.inf)) ** 2)

    def __call__(
        self, U: Array, w: Array | None, start: int, own: Array | None = None
    ) -> tuple[NDArray[np.int64], Peak]:
        """Counts and the highest; exact for every row that may matter, and for the one that may be highest.

        own: what an absorbed factor adds to each row, in the place of the column of ones
        """
        size = np.zeros(len(U))
        for u in U.T:  # column by column, as they lie in memory
            size += u * u
        if w is not None:
            size = size * w
        bound = size / self.least if own is None else size / self.least + own
        rows = np.flatnonzero(bound > 0.2)
        rows = rows if len(rows) else np.array([bound.argmax()])
        Q = solve_triangular(self.R, U[rows].T, trans=1).T if U.shape[1] else U[rows]
        added = np.zeros(len(rows)) if own is None else own[rows]
        h = np.einsum("ij,ij->i", Q, Q) * (1.0 if w is None else w[rows]) + added
        top = int(h.argmax())
        counts = np.array([(h > 0.2 + ROUNDING).sum(), (h > 0.5 - ROUNDING).sum(), (h >= 0.999).sum()])
        q = Q[top].tolist() if own is None else [0.0, *Q[top].tolist()]
        return counts, Peak(float(h[top]), start + int(rows[top]), tuple(q), float(added[top]))


def copies(spread: Spread, constant: Flags, Y: Array, change: Array, start: int) -> tuple[int, ...]:
    """Rows whose confidential values, constant columns and all-zero records aside, are released as they are."""
    open_ = np.flatnonzero(~constant)
    rows = np.arange(len(Y))
    for j in open_:
        rows = rows[np.abs(change[rows, j]) <= SAME * spread.sd[j]]
        if not len(rows):
            return ()
    rows = rows[(Y[np.ix_(rows, open_)] != 0).any(axis=1)] if len(open_) else rows[:0]
    return tuple((rows + start).tolist())


def outliers(spread: Spread, constant: Flags, Y: Array, change: Array) -> tuple[int, int]:
    """Cells that lie far out, and those of them that are released near their own value."""
    far = near = 0
    reach = np.maximum(spread.high - spread.mean, spread.mean - spread.low)
    for j in np.flatnonzero(~constant & (reach > FAR * spread.sd)):
        middle, bar = spread.mean[j], FAR * spread.sd[j]
        rows = np.flatnonzero((Y[:, j] > middle + bar) | (Y[:, j] < middle - bar))
        far += len(rows)
        near += int((np.abs(change[rows, j]) <= NEAR * np.abs(Y[rows, j] - middle)).sum())
    return far, near


def negatives(spread: Spread, constant: Flags, Ystar: Array) -> NDArray[np.int64]:
    """Per column that had none: released values below zero."""
    counts = np.zeros(Ystar.shape[1], dtype=np.int64)
    for j in np.flatnonzero((spread.low >= 0) & ~constant):
        counts[j] = np.count_nonzero(Ystar[:, j] < 0)
    return counts
