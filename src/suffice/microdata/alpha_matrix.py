"""Hybrid data in which every column follows all of the original ones, by a matrix of multipliers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from suffice.algebra.addition import share, usable
from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.errors import UsageError
from suffice.method.isometric import Isometric
from suffice.method.parameter import Number, parameter

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class SquareMatrix:
    """Rows of numbers, as many as there are columns; one number stands for so many times the identity."""

    allowed: str = "a square matrix, row by row (on the command line '0.5,0.1;0,0.4'), or a number (times the identity)"

    def read(self, value: object) -> float | Matrix:
        if not isinstance(value, Iterable) or isinstance(value, str):
            number = Number().read(value)
            assert number is not None
            return number
        rows = [tuple(row) if isinstance(row, Iterable) else () for row in value]
        if not rows or any(len(row) != len(rows) for row in rows):
            raise ValueError
        return tuple(tuple(float(Number(-1e100, 1e100).read(_plain(entry)) or 0.0) for entry in row) for row in rows)

    def parse(self, text: str) -> float | Matrix:
        if not {",", ";"} & {*text}:
            return self.read(float(text))
        return self.read([[float(entry) for entry in row.split(",")] for row in text.split(";")])


@dataclass(frozen=True)
class AlphaMatrix(Isometric):
    """Let each variable's residuals follow those of all variables, and add new ones that make up for the rest.

    Y*  = Yhat + E A' + T* C                                         (2.1)-(2.3)
    C'C = E'E - A E'E A'                                             (2.4)

    **Promises** means, covariances and every regression on the given columns. C exists where the largest singular value
    of S^(-1/2) A S^(1/2), S = E'E, is below 1: otherwise it is refused with the largest multiple of A that is feasible.
    A diagonal A is `ResidualCorrelation`; A' = W^-1 D W, E = T W, is `ScoreCorrelation`.

    A: row j holds what variable j takes of the residuals of all variables. Entries depend on the units of the
        columns: b in place (i, j) adds b units of variable i for each of variable j.
    shrink: use that share of the largest feasible multiple where A is not feasible as it is.

    ESSnet (2009), section 2.2, option 3; Muralidhar & Sarathy (2008).

    >>> rng = np.random.default_rng(1)
    >>> X, Y, Z = np.ones((9, 1)), rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    >>> Ystar = AlphaMatrix([[0.5, 0.2], [0.0, 0.4]]).solve(X, Y, Z)
    >>> np.allclose(Ystar.mean(axis=0), Y.mean(axis=0)), np.allclose(np.cov(Ystar.T), np.cov(Y.T))
    (True, True)
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    references: ClassVar = ("ESSnet (2009), equations (2.1)-(2.4)", "Muralidhar & Sarathy (2008)")

    A: float | Matrix = parameter(SquareMatrix(), "what each variable takes of the residuals of all variables")
    shrink: float | None = parameter(
        Number(0, 1, closed=False, none="refuse"),
        "the share of the largest feasible multiple of A to use where A is not feasible",
        None,
    )

    def for_columns(self, places: Sequence[int], k: int) -> AlphaMatrix:
        return replace(self, A=self._matrix(k)[np.ix_(places, places)].tolist()) if isinstance(self.A, tuple) else self

    def draws(self, k: int) -> int:
        return k

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        Yhat, E = split(Y, X)
        alpha, taken, C = self._alpha_C(E)  # (2.4)
        Tstar = self.new_scores(Z, len(C), X, E, n=n)  # orthogonal to X and E
        return Yhat + alpha * taken + Tstar @ C  # (2.1)

    def _alpha_C(self, E: Array) -> tuple[float, Array, Array]:
        taken = E @ self._matrix(E.shape[1]).T
        given = share(E, taken)
        alpha = usable(1.0, given, self.shrink, "A must keep their relation", "A")
        return alpha, taken, given.C(alpha)

    def _matrix(self, k: int) -> Array:
        if not isinstance(self.A, tuple):
            return self.A * np.eye(k)
        if len(self.A) != k:
            raise UsageError(f"{self.name}: A has {len(self.A)} rows and there are {k} confidential columns.")
        return np.array(self.A)

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        alpha = self._alpha_C(split(Y, X)[1])[0]
        return () if alpha == 1.0 else (f"A is not feasible: {alpha:.4g} times A is used.",)

    @classmethod
    def examples(cls) -> tuple[AlphaMatrix, ...]:
        return cls(0.4), cls(0.0)


def _plain(entry: object) -> object:
    return entry.item() if isinstance(entry, np.generic) else entry
