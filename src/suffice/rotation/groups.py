"""How records are dealt into groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


def deal(order: Rows, size: int, strata: Rows | None = None) -> Rows:
    """Groups of `size` neighbours in an order, each inside one stratum; who is left over sits out.

    >>> deal(np.arange(7), 3)
    array([[0, 1, 2],
           [3, 4, 5]])
    >>> deal(np.arange(6), 2, np.array([0, 1, 0, 1, 1, 1]))
    array([[0, 2],
           [1, 3],
           [4, 5]])
    """
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
        _, first, count = np.unique(strata[order], return_index=True, return_counts=True)
        place = np.arange(len(order)) - np.repeat(first, count)
        order = order[place < np.repeat(count // size * size, count)]
    return order[: len(order) // size * size].reshape(-1, size)


def random_order(n: int, generator: np.random.Generator) -> Rows:
    """Every order is as likely."""
    return generator.permutation(n)


def near_order(Y: Array, scale: Array, generator: np.random.Generator) -> Rows:
    """Records alike along a random direction of log y are neighbours; where the groups begin is random too."""
    order = np.argsort(logs(Y, scale) @ generator.standard_normal(Y.shape[1]), kind="stable")
    return np.roll(order, int(generator.integers(len(order))))


def far_order(Y: Array, scale: Array, size: int, generator: np.random.Generator) -> Rows:
    """A group takes one record from each of `size` parts along a random direction of log y."""
    order = near_order(Y, scale, generator)
    parts = order[: len(order) // size * size].reshape(size, -1)
    mixed = generator.permuted(parts, axis=1)
    return np.concatenate([mixed.T.ravel(), order[parts.size :]])


def logs(Y: Array, scale: Array) -> Array:
    """sign(y) log(1 + |y| / scale), at unit spread."""
    L = np.sign(Y) * np.log1p(np.abs(Y) / scale)
    return np.asarray(L / np.maximum(L.std(axis=0), np.finfo(float).tiny))
