"""Scores and loadings: the two unique decompositions of Langsrud (2019), and the split into fit and residual.

Every method sees its data through these few functions. They use inner products only, so they commute with any
Q such that Q'Q = I, and they decide on rank column by column, so units of measure do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from suffice.algebra.array import EPS, Array

By = Literal["qr", "svd"]

RANK = 1e-12
"""The one rank decision: a column is dependent when this share of its length, or less, is new."""

LOST = 32 * EPS
"""Scores that have more than this in common with X have lost digits on the way."""

NEARLY = 0.05
"""Columns of which less than this share is new are made orthonormal with care."""

BALANCED = 1e-8
"""A column sum of V below this decides no sign."""


@dataclass(frozen=True, repr=False)
class GQR:
    """A = QR with R = R~P' (24)-(26): Q orthonormal, one row of R for each independent column."""

    Q: Array
    R: Array
    pivots: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.pivots)

    @property
    def dropped(self) -> tuple[int, ...]:
        """The dependent columns."""
        return tuple(j for j in range(self.R.shape[1]) if j not in self.pivots)

    def __repr__(self) -> str:
        return f"GQR({len(self.Q)} x {self.R.shape[1]}, rank {self.rank})"


class UnevenStack(ValueError):
    """Matrices that are decomposed together and are not all plainly independent: they must be taken one by one."""


def gqr(A: Array, tol: float | Array = RANK) -> GQR:
    """Generalized QR decomposition, unique and with dependent columns allowed.

    A = QR,  R = R~P',  diag(R~) > 0                                  (24)-(26)

    Pivoting is minimal: a dependent column is dropped in favour of the columns before it.

    A: any matrix; more columns than rows, no columns and zero columns are fine. A stack of matrices (groups, rows,
        columns) is decomposed as a whole if the columns of all are plainly independent, and else refused.
    tol: a column is dependent when its residual after the columns before it is at most `tol` of its length
        (one number, or one per column).

    Langsrud (2019), Appendix 1.

    >>> D = gqr(np.array([[3.0, 6.0, 1.0], [4.0, 8.0, 1.0]]))
    >>> D.pivots, D.dropped
    ((0, 2), (1,))
    >>> np.allclose(D.Q @ D.R, [[3, 6, 1], [4, 8, 1]])
    True
    """
    Q0, R0 = np.linalg.qr(A)  # the rest is on a small matrix
    if _plainly_independent(R0, tol):
        signs = np.where(np.diagonal(R0, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
        return GQR(Q0 * signs[..., None, :], R0 * signs[..., None], tuple(range(A.shape[-1])))
    if A.ndim > 2:
        raise UnevenStack
    pivots = independent(R0, tol)
    Q1, R1 = np.linalg.qr(R0[:, list(pivots)])
    Q1 = Q1 * np.where(np.diagonal(R1) < 0, -1.0, 1.0)  # positive diagonal of R~
    R = Q1.T @ R0
    R[np.arange(A.shape[1]) < np.array(pivots, dtype=int)[:, None]] = 0.0  # R~ is upper triangular
    return GQR(Q0 @ Q1, R, pivots)


def _plainly_independent(R: Array, tol: float | Array) -> bool:
    """Whether a triangle's diagonal, the new part of each column, leaves no doubt: then nothing is pivoted."""
    if R.shape[-2] != R.shape[-1]:
        return False
    with np.errstate(invalid="ignore"):  # of a constant everything may be rounding, and nothing is left
        new = np.abs(np.diagonal(R, axis1=-2, axis2=-1))
        return bool((new > 2 * tol * np.sqrt((R * R).sum(axis=-2))).all())


def independent(A: Array, tol: float | Array = RANK) -> tuple[int, ...]:
    """The columns of A that are no combination of the columns before them."""
    rows, columns = A.shape
    tols = np.broadcast_to(tol, columns)
    Q = np.empty((rows, min(rows, columns)))
    pivots: list[int] = []
    for j in range(columns):
        q, length = _new_part(Q[:, : len(pivots)], A[:, j])
        if len(pivots) < rows and length > tols[j]:
            Q[:, len(pivots)] = q
            pivots.append(j)
    return tuple(pivots)


def _new_part(Q: Array, a: Array) -> tuple[Array, float]:
    """The direction in `a` that is orthogonal to Q, and its share of the length of `a`."""
    norm = float(np.linalg.norm(a))
    if norm == 0.0:
        return a, 0.0
    v = a / norm
    for _ in range(2):  # Gram-Schmidt; twice is enough
        v = v - Q @ (Q.T @ v)
    length = float(np.linalg.norm(v))
    return v / (length or 1.0), length


def scores(E: Array, by: By = "qr") -> tuple[Array, Array]:
    """Orthonormal scores T and loadings W of residual data, E = TW (2).

    qr:   T = Q, W = R            (Appendix 1)
    svd:  T = U, W = Lambda V'    (Appendix 2; the column sums of V are positive)

    The SVD is taken of the small R, and W = U'R: each column keeps its own digits whatever its scale.

    >>> T, W = scores(np.array([[1.0, 1.0], [2.0, 0.0], [2.0, 3.0]]), by="svd")
    >>> np.allclose(T.T @ T, np.eye(2)), np.allclose(W @ W.T, np.diag(np.diag(W @ W.T)))
    (True, True)
    """
    D = gqr(E)
    if by == "qr":
        return D.Q, D.R
    if E.ndim > 2:
        raise UnevenStack
    U, _, Vt = np.linalg.svd(D.R, full_matrices=False)
    U = U * signs(Vt)
    return D.Q @ U, U.T @ D.R


def signs(Vt: Array) -> Array:
    """Signs of the rows of V' that make sums positive or, where a sum is nothing, the first large entry."""
    if not Vt.size:
        return np.ones(len(Vt))
    size = np.abs(Vt)
    first = np.argmax(size > 0.5 * size.max(axis=1, keepdims=True), axis=1)
    total = Vt.sum(axis=1)
    deciding = np.where(np.abs(total) < BALANCED, Vt[np.arange(len(Vt)), first], total)
    return np.where(deciding < 0, -1.0, 1.0)


def split(Y: Array, X: Array) -> tuple[Array, Array]:
    """Fitted values and residuals, Y = Yhat + E (1)-(2); collinear columns in X are allowed.

    A residual column that is rounding error only (at most RANK of its own column of Y) is exactly zero.

    >>> Yhat, E = split(np.array([[1.0], [2.0], [6.0]]), np.ones((3, 1)))
    >>> np.allclose(Yhat, 3.0), np.allclose(E.T, [[-2, -1, 3]])
    (True, True)
    """
    E = rest(Y, _span(X)[0])
    return Y - E, E


def steady(X: Array) -> Array:
    """X, or where some column nearly is a combination of others an orthonormal basis of its span: always the same one.

    Two bases of such columns may each be right to the last digit of X and differ from each other by their condition.
    """
    Q, plain = _span(X)
    return X if plain else Q


def _span(X: Array) -> tuple[Array, bool]:
    """An orthonormal basis of the columns, and whether they are far from dependent."""
    D = gqr(X)
    at = list(D.pivots)
    if X.ndim > 2 or (np.diagonal(D.R[:, at]) > NEARLY * np.linalg.norm(X[:, at], axis=0)).all():
        return D.Q, True
    Q = np.empty((len(X), len(at)))
    for i, j in enumerate(at):
        v = X[:, j]
        for q in (*Q.T[:i], *Q.T[:i]):  # twice, column by column: a large mean is then taken out without rounding
            v = v - q * (q @ v)
        Q[:, i] = v / np.linalg.norm(v)
    return Q, False


def rest(Y: Array, Q: Array) -> Array:
    """What orthonormal columns leave of Y; what is rounding error only is exactly zero."""
    Qt = Q.mT
    E = Y - Q @ (Qt @ Y)
    E = E - Q @ (Qt @ E)
    rounding = np.linalg.norm(E, axis=-2, keepdims=True) <= RANK * np.linalg.norm(Y, axis=-2, keepdims=True)
    return np.where(rounding, 0.0, E) if rounding.any() else E


def new_directions(Z: Array, X: Array) -> Array:
    """T*: orthonormal scores of what X leaves of Z (3), orthogonal to X to the last digits.

    Where Z leaves hardly more directions than it has columns, those of its residuals are nearly dependent, and
    making them orthonormal turns them into X again by their condition: then they are split once more.
    """
    E = split(Z, X)[1]
    T = gqr(E).Q
    if not T.size or np.abs(X.mT @ T).max(initial=0.0) <= LOST * np.linalg.norm(X, axis=-2).max(initial=0.0):
        return T
    return gqr(split(T, X)[1]).Q


def freedom(X: Array, n: int | None) -> int:
    """Degrees of freedom left by X: n - rank X, where n is the number of records (default: of rows)."""
    return (len(X) if n is None else n) - gqr(X).rank


def ensure_intercept(X: Array) -> Array:
    """X with a column of ones in front, unless the ones lie in the span of X already.

    >>> ensure_intercept(np.array([[1.0, 0.0], [0.0, 1.0]])).shape
    (2, 2)
    """
    ones = np.ones((len(X), 1))
    _, rest = split(ones, X)
    return np.hstack([ones, X]) if rest.any() else X
