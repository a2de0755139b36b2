"""How much of given residuals can be used beside a synthetic addition: alpha and C of (9) and (10)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from suffice.algebra.array import Array
from suffice.algebra.decomposition import GQR, gqr
from suffice.errors import InfeasibleError

LIMIT = 1e-7
"""alpha this close to the largest one, relatively, counts as the largest: C is singular there, never used."""

DEPENDENT = 1e-9
"""A linear relation between columns is broken when more than this share of the column is off."""


class DependentColumns(InfeasibleError):
    """Columns with a linear relation in the original residuals, and none in what should replace them."""

    def __init__(self, columns: Sequence[int], need: str) -> None:
        self.columns = tuple(columns)
        self.need = need
        super().__init__(self._text([str(column + 1) for column in columns]))

    def named(self, names: Sequence[str]) -> InfeasibleError:
        """The same error with the names of the columns; `names` are those of all confidential columns."""
        return InfeasibleError(self._text([names[column] for column in self.columns]))

    def _text(self, names: list[str]) -> str:
        if len(names) == 1:
            return f"Column {names[0]} is explained by the given columns, so {self.need}."
        which = ", ".join(names[:-1]) + " and " + names[-1]
        return f"Columns {which} are linearly dependent, so {self.need}."


@dataclass(frozen=True, repr=False)
class Share:
    """Given residuals Eg in the loadings of the original ones: Eg = B R, B = U S V', E = Q R.

    Then (10) reads C'C = R'V (I - alpha^2 S^2) V'R: no difference of squares of data is ever taken.
    """

    S: Array
    Vt: Array
    R: Array
    broken: tuple[int, ...]

    @property
    def largest(self) -> float:
        """The largest alpha for which (10) has a solution; 0 where a linear relation is broken."""
        if self.broken:
            return 0.0
        return 1.0 / float(self.S[0]) if self.S.any() else math.inf

    def C(self, alpha: float) -> Array:
        """C of (10), upper triangular with positive diagonal (the Cholesky factor)."""
        left = np.sqrt(np.maximum(1.0 - (alpha * self.S) ** 2, 0.0))
        return gqr(left[:, None] * self.Vt @ self.R).R


def share(E: Array, Eg: Array) -> Share:
    """The given residuals Eg, measured by the original residuals E.

    C'C = E'E - alpha^2 Eg'Eg                                         (10)

    Langsrud (2019), section 3; the limit is the square root of the inverse of the largest eigenvalue
    of (E'E)^-1 Eg'Eg, here 1 / max(S).

    >>> E, Eg = np.eye(3)[:, :2], 2 * np.eye(3)[:, 1:]
    >>> s = share(E, Eg)
    >>> s.largest
    0.5
    >>> np.allclose(s.C(0.25).T @ s.C(0.25), E.T @ E - 0.25**2 * Eg.T @ Eg)
    True
    """
    D = gqr(E)
    at = list(D.pivots)
    B = solve_triangular(D.R[:, at].T, Eg[:, at].T, lower=True).T if at else np.zeros((len(E), 0))
    _, S, Vt = np.linalg.svd(np.linalg.qr(B, mode="r"), full_matrices=False)
    return Share(S, Vt, D.R, _broken(D, Eg, Eg - B @ D.R))


def _broken(D: GQR, Eg: Array, off: Array) -> tuple[int, ...]:
    """The first dependent column of E whose relation does not hold in Eg, and the columns it depends on."""
    for j in D.dropped:
        if np.linalg.norm(off[:, j]) > DEPENDENT * np.linalg.norm(Eg, axis=0).max():
            return j, *relation(D, j)
    return ()


def relation(D: GQR, j: int) -> tuple[int, ...]:
    """The independent columns that make up the dependent column j."""
    at = list(D.pivots)
    length = np.linalg.norm(D.R, axis=0)
    part = np.abs(solve_triangular(D.R[:, at], D.R[:, j])) * length[at]
    return tuple(p for p, size in zip(at, part, strict=True) if size > DEPENDENT * length[j])


def usable(alpha: float, given: Share, shrink: float | None, need: str, of: str = "") -> float:
    """alpha where it is feasible, or `shrink` times the largest; or a refusal that states the largest.

    of: the parameter that alpha = 1 is a multiple of
    """
    if given.broken:
        raise DependentColumns(given.broken, need)
    if alpha < given.largest * (1.0 - LIMIT):
        return alpha
    if shrink is not None:
        return shrink * given.largest
    raise InfeasibleError(
        f"No synthetic addition keeps the covariance matrix {f'with this {of}' if of else f'at alpha {alpha:g}'}.\n"
        f"  largest feasible alpha {_floor(given.largest)} (itself excluded){f', for alpha times {of}' * bool(of)}\n"
        f"Ask for less{', or for more equal similarity' * (of != 'A')}, or give shrink to use that share of the "
        "largest alpha."
    )


def _floor(alpha: float) -> str:
    """Four digits, rounded down, so that what is stated is feasible."""
    digits = 3 - math.floor(math.log10(alpha))
    return f"{math.floor(alpha * 10**digits + LIMIT) / 10**digits:g}"
