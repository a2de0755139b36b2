"""Rows of the same group, stacked with other groups of the same size: many small matrices at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.algebra.array import Array
from suffice.algebra.group_moments import by_digits
from suffice.errors import InputError

Labels = NDArray[np.int64]

TOGETHER = 512
"""Groups in a stack: their matrices stay in the cache."""
ROWS = 2**15
"""Rows in a stack of more than one group, at most."""
SPARSE = 8
"""Whole numbers that span at most so many times the rows are numbered without a sort."""


@dataclass(frozen=True, repr=False)
class Stack:
    """Groups of one size: `rows` has a line for each group, `groups` says which they are."""

    rows: NDArray[np.int64]
    groups: NDArray[np.int64]

    def take(self, A: Array) -> Array:
        """Columns of A as (groups, columns, rows of the group)."""
        return np.ascontiguousarray(A[self.rows].transpose(0, 2, 1))

    def put(self, V: Array, A: Array) -> None:
        """The reverse of `take`."""
        A[self.rows] = V.transpose(0, 2, 1)


def numbered(labels: ArrayLike) -> Labels:
    """The same groups, numbered from 0 without gaps.

    >>> numbered([7, 3, 7])
    array([1, 0, 1])
    """
    named = np.asarray(labels).reshape(-1)
    if len(named) and named.dtype.kind == "i" and int(named.max()) - int(named.min()) < SPARSE * len(named):
        named = named.astype(np.int64) - int(named.min())
        return (np.cumsum(np.bincount(named) > 0) - 1)[named]  # no sort is needed
    return np.unique(named, return_inverse=True)[1].reshape(-1).astype(np.int64)


def crossed(a: Labels, b: Labels) -> Labels:
    """A group for each pair of groups that occurs; both are numbered from 0."""
    return numbered(a * (b.max(initial=0) + 1) + b)


def nested(fine: Labels, coarse: Labels) -> Labels:
    """The coarse group of each fine group, in the order of the fine ones; each must lie in one."""
    of = np.zeros(fine.max(initial=-1) + 1, dtype=np.int64)
    of[fine] = coarse
    torn = len(np.unique(fine[of[fine] != coarse]))
    if torn:
        raise InputError(
            f"{torn} of {len(of)} clusters have records in more than one group of clusters.\n"
            "Every cluster must lie within one group: cross the clusters with the groups first."
        )
    return of


def stacks(labels: Labels) -> list[Stack]:
    """All rows, group by group; groups of the same size together, at most TOGETHER of them.

    >>> [s.rows.tolist() for s in stacks(np.array([0, 1, 0, 2, 2]))]
    [[[1]], [[0, 2], [3, 4]]]
    """
    order, sizes = by_digits(labels, 0, int(labels.max(initial=0)).bit_length()), np.bincount(labels)
    first = np.cumsum(sizes) - sizes
    return [
        Stack(order[first[groups][:, None] + np.arange(size)], groups)
        for size in np.unique(sizes[sizes > 0])
        for groups in _parts(np.flatnonzero(sizes == size), max(1, min(TOGETHER, ROWS // int(size))))
    ]


def _parts(groups: Labels, many: int) -> Iterator[Labels]:
    for start in range(0, len(groups), many):
        yield groups[start : start + many]
