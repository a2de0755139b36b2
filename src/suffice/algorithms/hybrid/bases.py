"""Orthonormal bases of many small matrices at once.

A stack is an array (groups, columns, rows): each column of each group is contiguous. A dependent column has a basis
vector of zeros, so that ranks may differ between the groups of a stack.
"""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import RANK

NOISE = 8 * float(np.finfo(np.float64).eps)
"""What is left of a column is rounding when its root mean square is below this share of the largest value."""


def sizes(A: Array) -> Array:
    """A power of two for each column, near its largest value: division by it is exact, and no square overflows."""
    largest = np.maximum(A.max(axis=0, initial=0.0), -A.min(axis=0, initial=0.0))
    return np.asarray(np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1.0))[1] - 1))


def lengths(V: Array) -> Array:
    """The length of every column of every group."""
    return np.asarray(np.sqrt(np.einsum("spn,spn->sp", V, V)))


def tolerance(V: Array, raw: Array) -> Array:
    """The length up to which what is left of a column counts as nothing: RANK of it, or the rounding of its values."""
    largest = np.abs(raw).max(axis=2, initial=0.0)
    return np.asarray(np.maximum(RANK * lengths(V), NOISE * np.sqrt(V.shape[2]) * largest))


def cleared(V: Array, tol: Array) -> Array:
    """V, where a column that is rounding only is exactly zero."""
    V[lengths(V) <= tol] = 0.0
    return V


def removed(Q: Array, V: Array) -> Array:
    """V - QQ'V, twice: what the basis Q does not explain."""
    for _ in range(2):
        V = V - (V @ Q.transpose(0, 2, 1)) @ Q
    return V


def extended(Q: Array, V: Array, tol: Array) -> tuple[Array, Flags]:
    """[Q T] with T an orthonormal basis of what V adds to Q, column by column, and which columns of V add something.

    One decomposition of the composite matrix (27): each column is made orthogonal to all before it after it was
    brought to unit length, so that T is orthogonal to Q however little of V is new.

    tol: the length up to which the new part of a column counts as nothing, for each group and column.
    """
    groups, known, rows = Q.shape
    out, adds = np.empty((groups, known + V.shape[1], rows)), np.empty((groups, V.shape[1]), dtype=bool)
    out[:, :known] = Q
    for j in range(V.shape[1]):
        v, length = _new_part(out[:, : known + j], V[:, j])
        adds[:, j] = length > tol[:, j]
        out[:, known + j] = np.where(adds[:, j, None], v, 0.0)
    return out, adds


def _new_part(Q: Array, a: Array) -> tuple[Array, Array]:
    """The direction in `a` that is orthogonal to Q, and the length of `a` along it."""
    norm = np.sqrt(np.einsum("sn,sn->s", a, a))
    v = a / np.where(norm > 0.0, norm, 1.0)[:, None]
    v = removed(Q, v[:, None, :])[:, 0]  # Gram-Schmidt; twice is enough
    share = np.sqrt(np.einsum("sn,sn->s", v, v))
    return v / np.where(share > 0.0, share, 1.0)[:, None], share * norm


def triangle(E: Array, tol: Array) -> tuple[Array, Flags]:
    """R of E = TR with a line of zeros where a column of E depends on those before it; and which do not."""
    T, adds = extended(np.empty((len(E), 0, E.shape[2])), E, tol)
    return np.triu(T @ E.transpose(0, 2, 1)), adds


def first(A: Array, adds: Flags) -> Array:
    """The same lines in each group, those that count before those of zeros."""
    if adds.all():
        return A
    order = np.argsort(~adds, axis=1, kind="stable")
    return np.take_along_axis(A, order[:, :, None], axis=1)


def loadings(E: Array, tol: Array) -> Array:
    """W of E = TW (2), with as many lines as E has columns: first one for each independent column, then zeros."""
    return first(*triangle(E, tol))
