"""Where a walk starts that has nothing to forget: records drawn from the law, with the moments that are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import gqr
from suffice.algorithms.rotation.column_sums import ColumnSums
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Strata
from suffice.algorithms.rotation.densities import Densities
from suffice.method.records import Records

ROUNDS, STANDS = 20, 1e-3
"""Columns and moments are given back in turns so often, at most: they stand where a turn changes them by no more than
so many standard deviations (root mean square)."""
STARTS = 4
"""Of so many the one whose sums are nearest; where records are many, of fewer."""
DRAWS, MOST = 20, 200_000
"""Of so many draws of a column (of at most so many cells) the first whose powers are near enough, or the nearest."""
NEAR = 0.03, 0.03, 0.1, 0.2
"""How near the means of the first four powers are to be: not the nearest, so that the start is anywhere in its law."""
TAIL, SHRUNK, STEPS = 0.05, (0.5, 1.5), 10
"""Beyond this share on either side a draw is stretched or shrunk, by a power between these, to the spread that it must
have: else the smallest change that gives the moments back would stretch it all."""
FOLLOWED = 0.3, 1.0
"""Of the regression of scores on the given columns: all of it would keep more of how values bend with them than the law
does, and none would leave the line alone to tell them. Between these the walk stays where it starts. Where records
drawn so do not come inside the limits, all of it: with many cells of very different size, a part gives small ones the
spread of large ones."""
PLACES = 2.0**30
"""Drawn values are rounded too, in standard deviations."""
VARIES = 1e-12
"""A column of which less than this share is new inside a stratum has nothing to draw there."""
DIGITS = 2.0**44
"""Coefficients are rounded, so that how a machine adds up does not change a release: a walk amplifies."""


def start(
    records: Records,
    ground: Constraints,
    law: Densities,
    sums: ColumnSums | None,
    strata: Strata | None,
    generator: np.random.Generator,
    followed: float = FOLLOWED[0],
) -> Array | None:
    """Records that share with the original what every release does, and its densities; None where none can be made.

    By turns every column gets the values of a drawn one, in its own order, and every stratum its moments, by the
    smallest change: Y* = Yhat + DA with D the residuals and A'D'DA = E'E.

    followed: how much of their regression on the given columns is in the scores.
    """
    Y = records.Y
    zero = (Y == 0) & law.empty if len(law.table) else np.zeros(Y.shape, dtype=bool)
    open_ = ~zero & (Y.std(axis=0) > 0)
    Q = np.where(open_, law.scores(Y), 0.0)
    columns = [_column(law, j, Y[open_[:, j], j], generator) for j in range(Y.shape[1])]
    every = np.arange(len(Y))
    parts = [every] if strata is None else [every[strata == each] for each in range(int(strata.max()) + 1)]
    pieces = [_Piece.of(rows, ground, Y[rows]) for rows in parts]
    best, least = None, np.inf
    for _ in range(1 if sums is None else max(1, min(STARTS, MOST // Y.size))):
        made = _given_back(Y, columns, open_, pieces, _scores(Q, open_, records.X, followed, generator))
        off = 0.0 if made is None or sums is None else sums.height(sums.apart(made))
        if made is not None and off < least:
            best, least = made, off
    return best


def _given_back(Y: Array, columns: list[Array], open_: Flags, pieces: list[_Piece], T: Array) -> Array | None:
    """Columns in the order of T, with the moments; None where a stratum has none to give."""
    for _ in range(ROUNDS):
        drawn = np.array(Y)
        for j, column in enumerate(columns):
            rows = np.flatnonzero(open_[:, j])
            drawn[rows[np.argsort(T[rows, j], kind="stable")], j] = column
        before, T = T, np.empty_like(Y)
        for piece in pieces:
            made = piece.with_moments(drawn[piece.rows])
            if made is None:
                return None
            T[piece.rows] = made
        if (((T - before) ** 2).mean(axis=0) <= STANDS**2 * T.var(axis=0)).all():
            break
    return T


@dataclass(frozen=True, repr=False)
class _Piece:
    """The records of a stratum, and what they keep: X'Y, and E'E = (C size)'(C size) of the residuals.

    told, basis: coefficients on X of the fitted values, over size, and of Q.
    """

    rows: NDArray[np.int64]
    Y: Array
    root: Array
    X: Array
    Q: Array
    told: Array
    basis: Array
    size: Array
    C: Array

    @classmethod
    def of(cls, rows: NDArray[np.int64], ground: Constraints, Y: Array) -> _Piece:
        root, X = ground.root[rows, None], ground.X[rows]
        own, Q = root * Y, gqr(X).Q
        fitted = Q @ (Q.T @ own)
        length = np.linalg.norm(own - fitted, axis=0)
        size = length * (length > VARIES * np.linalg.norm(own, axis=0))
        basis: Array = np.asarray(np.linalg.lstsq(X, Q, rcond=None)[0], dtype=np.float64)
        told = basis @ _over(Q.T @ own, size)
        return cls(rows, Y, root, X, Q, told, basis, size, gqr(_over(own - fitted, size)).R)

    def with_moments(self, T: Array) -> Array | None:
        new = _over(self.root * T, self.size)
        along = self.Q.T @ new
        D = new - self.Q @ along
        s, V = np.linalg.eigh(self.C @ (D.T @ D) @ self.C.T)
        if s.min(initial=np.inf) <= VARIES * s.max(initial=0.0):
            return None
        A = _rounded(self.C.T @ ((V / np.sqrt(s)) @ V.T) @ self.C)
        B = _rounded(self.told - self.basis @ (along @ A))
        made = np.zeros_like(T)
        for columns, by in ((self.X, B), (new, A)):  # one after the other: the same bits on every machine
            for column, each in zip(columns.T, by, strict=True):
                made += column[:, None] * each
        return np.where(self.size > 0, made * self.size / self.root, self.Y)


def _over(A: Array, size: Array) -> Array:
    return np.divide(A, size, out=np.zeros_like(A), where=size > 0)


def _rounded(A: Array) -> Array:
    return np.asarray(np.round(A * DIGITS) / DIGITS)


def _scores(Q: Array, open_: Flags, X: Array, followed: float, generator: np.random.Generator) -> Array:
    """Scores drawn about a part of their regression on the given columns, with the correlations of the rest."""
    fit, E = np.zeros_like(Q), np.zeros_like(Q)
    for j, rows in enumerate(open_.T):
        fit[:, j] = X @ np.linalg.lstsq(X[rows], Q[rows, j], rcond=None)[0]
        fit[:, j] *= followed
        E[rows, j] = Q[rows, j] - fit[rows, j]
    both = open_.T.astype(np.float64) @ open_
    s, V = np.linalg.eigh(E.T @ E / np.maximum(both, 1.0))
    return np.asarray(fit + generator.standard_normal(Q.shape) @ (V * np.sqrt(np.maximum(s, 0.0))).T)


def _column(law: Densities, j: int, y: Array, generator: np.random.Generator) -> Array:
    """As many values, in order, one from each of as many equal shares of the density, with a spread like theirs."""
    n = len(y)
    mean, sd, best, least = float(y.mean()) if n else 0.0, float(y.std()) if n else 0.0, y, np.inf
    if not sd > 0:
        return y
    low, middle, high = np.quantile(y, (TAIL, 0.5, 1 - TAIL))
    goal = _powers((y - mean) / sd)
    unit = np.maximum(np.abs(goal), 1.0) * NEAR
    for _ in range(max(1, min(DRAWS, MOST // n))):
        z = (law.quantiles(j, (np.arange(n) + generator.random(n)) / n, y) - mean) / sd
        z = _stretched(z, (low - mean) / sd, (middle - mean) / sd, (high - mean) / sd)
        off = np.abs(_powers(z) - goal) / unit
        if off.sum() < least:
            best, least = mean + sd * np.round(z * PLACES) / PLACES, float(off.sum())
        if off.max() < 1:
            break
    return best


def _powers(z: Array) -> Array:
    return np.array([(z**power).mean() for power in (1, 2, 3, 4)])


def _stretched(z: Array, low: float, middle: float, high: float) -> Array:
    """Numbers whose tails are drawn out or in by a power, until their squares are 1 on average."""
    away, z = z - middle, z.copy()
    edge = np.where(away > 0, high - middle, middle - low)
    far = (edge > VARIES) & (np.abs(away) > edge)
    side, ratio, rest = np.copysign(edge[far], away[far]), np.abs(away[far]) / edge[far], float((z[~far] ** 2).sum())
    (least, most), power = SHRUNK, 1.0
    for _ in range(STEPS):
        power = (least + most) / 2
        z[far] = middle + side * ratio**power
        least, most = (least, power) if rest + float((z[far] ** 2).sum()) > len(z) else (power, most)
    return z
