"""Where a walk starts that has nothing to forget: records drawn from the law, with the moments that are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import gqr
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Strata
from suffice.algorithms.rotation.densities import Densities
from suffice.method.records import Records

ROUNDS, FEWEST, CELLS = 100, 20, 500_000
"""Columns and moments are given back in turns so often, and less often where records are many."""
DRAWS, MOST = 20, 200_000
"""Of so many draws of a column (of at most so many cells) the one that is nearest in mean and spread, which are kept
anyway. Were it the nearest in skewness too, its largest value would be the original's within 5 % in 7 draws of 10."""
FOLLOWED = 0.3
"""Of the regression of scores on the given columns: all of it would keep more of how values bend with them than the law
does, and none would leave the line alone to tell them. Between these the walk stays where it starts."""
VARIES = 1e-12
"""A column of which less than this share is new inside a stratum has nothing to draw there."""
DIGITS = 2.0**44
"""Coefficients are rounded, so that how a machine adds up does not change a release: a walk amplifies."""


def start(
    records: Records, ground: Constraints, law: Densities, strata: Strata | None, generator: np.random.Generator
) -> Array | None:
    """Records that share with the original what every release does, and its densities; None where none can be made.

    By turns every column gets the values of a drawn one, in its own order, and every stratum its moments, by the
    smallest change: Y* = Yhat + DA with D the residuals and A'D'DA = E'E.
    """
    Y = records.Y
    zero = (Y == 0) & law.empty if len(law.table) else np.zeros(Y.shape, dtype=bool)
    open_ = ~zero & (Y.std(axis=0) > 0)
    Q = np.where(open_, law.scores(Y), 0.0)
    columns = [_column(law, j, Y[open_[:, j], j], generator) for j in range(Y.shape[1])]
    every = np.arange(len(Y))
    parts = [every] if strata is None else [every[strata == each] for each in range(int(strata.max()) + 1)]
    pieces = [_Piece.of(rows, ground, Y[rows]) for rows in parts]
    T = _scores(Q, open_, records.X, generator)
    for _ in range(max(FEWEST, min(ROUNDS, CELLS // len(Y)))):
        drawn = np.array(Y)
        for j, column in enumerate(columns):
            rows = np.flatnonzero(open_[:, j])
            drawn[rows[np.argsort(T[rows, j], kind="stable")], j] = column
        T = np.empty_like(Y)
        for piece in pieces:
            made = piece.with_moments(drawn[piece.rows])
            if made is None:
                return None
            T[piece.rows] = made
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


def _scores(Q: Array, open_: Flags, X: Array, generator: np.random.Generator) -> Array:
    """Scores drawn about a part of their regression on the given columns, with the correlations of the rest."""
    fit, E = np.zeros_like(Q), np.zeros_like(Q)
    for j, rows in enumerate(open_.T):
        fit[:, j] = X @ np.linalg.lstsq(X[rows], Q[rows, j], rcond=None)[0]
        fit[:, j] *= FOLLOWED
        E[rows, j] = Q[rows, j] - fit[rows, j]
    both = open_.T.astype(np.float64) @ open_
    s, V = np.linalg.eigh(E.T @ E / np.maximum(both, 1.0))
    return np.asarray(fit + generator.standard_normal(Q.shape) @ (V * np.sqrt(np.maximum(s, 0.0))).T)


def _column(law: Densities, j: int, y: Array, generator: np.random.Generator) -> Array:
    """As many values, in order, one from each of as many equal shares of the density."""
    n = len(y)
    mean, sd, best, least = float(y.mean()) if n else 0.0, float(y.std()) if n else 0.0, y, np.inf
    for _ in range(max(1, min(DRAWS, MOST // n)) if sd > 0 else 0):
        drawn = law.quantiles(j, (np.arange(n) + generator.random(n)) / n, y)
        off = abs(drawn.mean() - mean) / sd + abs(drawn.std() / sd - 1)
        if off < least:
            best, least = drawn, off
    return best
