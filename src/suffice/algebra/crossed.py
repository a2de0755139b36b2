"""Regressions whose columns are crossed with groups, with no column for each group ever made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.decomposition import RANK
from suffice.algebra.group_moments import Grouping

NOISE = 8 * float(np.finfo(np.float64).eps)
"""What is left of a column is rounding when its root mean square is below this share of the largest value."""


def removed(groups: Grouping, Q: Sequence[Array], a: Array) -> Array:
    """What orthonormal columns leave of a column within every group; twice, so that nothing is left of them.

    >>> groups = Grouping.of(np.array([0, 0, 1, 1]))
    >>> [q] = basis(groups, [np.ones(4)], np.zeros((1, 2)))
    >>> np.allclose(removed(groups, [q], np.array([1.0, 3.0, 5.0, 5.0])), [-1, 1, 0, 0])
    True
    """
    left, fit = np.array(a), np.empty_like(a)
    for _ in range(2):
        for q in Q:
            share = groups.spread(groups.total(np.multiply(q, left, out=fit)))
            left -= np.multiply(share, q, out=fit)
    return left


def basis(groups: Grouping, X: Sequence[Array], noise: Array) -> list[Array]:
    """Columns orthonormal within every group that span what X does there; zeros where a column adds nothing.

    noise: the length up to which what is left of a column is nothing, a line for each column, one number a group.
    """
    found: list[Array] = []
    for x, least in zip(X, noise, strict=True):
        v = _unit(groups, removed(groups, found, x), least)
        found.append(_unit(groups, removed(groups, found, v), np.zeros_like(least)))
    return found


def rank(groups: Grouping, Q: Sequence[Array]) -> NDArray[np.int64]:
    """How many columns of a basis are not zeros, in each group."""
    found = np.zeros(len(groups.labels), dtype=np.int64)
    for q in Q:
        found += np.rint(groups.total(q * q)).astype(np.int64)
    return found


def noise(groups: Grouping, X: Sequence[Array], one: Array) -> Array:
    """What counts as nothing of each column: RANK of its length about its mean, or the rounding of its values."""
    found = np.empty((len(X), len(groups.labels)))
    mean = basis(groups, [one], np.zeros((1, len(groups.labels))))
    for line, x in zip(found, X, strict=True):
        centred = removed(groups, mean, x)
        rounding = NOISE * np.sqrt(groups.counts) * groups.largest(x)
        line[:] = np.maximum(RANK * np.sqrt(groups.total(centred * centred)), rounding)
    return found


def _unit(groups: Grouping, v: Array, least: Array) -> Array:
    length = np.sqrt(groups.total(v * v))
    share = np.divide(1.0, length, out=np.zeros_like(length), where=length > least)
    return np.asarray(v * groups.spread(share))
