"""Confidential columns that add up."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr


def dependent(E: Array, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Columns whose residuals are a combination of those of columns before them, exactly, and of which."""
    found = gqr(E)
    pivots = list(found.pivots)
    relations = {}
    for j in found.dropped:
        size = np.linalg.norm(E[:, j])
        if size == 0:
            continue
        parts = np.linalg.lstsq(E[:, pivots], E[:, j], rcond=None)[0] * np.linalg.norm(E[:, pivots], axis=0)
        relations[names[j]] = tuple(names[p] for p, part in zip(pivots, parts, strict=True) if abs(part) > 1e-9 * size)
    return relations


def loosened(
    E: Array, Estar: Array, names: tuple[str, ...], relations: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Those of them whose released residuals are not the same combination.

    >>> E = np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 2]])
    >>> loosened(E, E[::-1], ("a", "b", "sum"), {"sum": ("a", "b")})
    ()
    >>> loosened(E, np.column_stack([E[::-1, :2], E[:, 2]]), ("a", "b", "sum"), {"sum": ("a", "b")})
    ('sum',)
    """
    found = []
    for name, others in relations.items():
        j, parts = names.index(name), [names.index(other) for other in others]
        left = Estar[:, j] - Estar[:, parts] @ np.linalg.lstsq(E[:, parts], E[:, j], rcond=None)[0]
        if np.linalg.norm(left) > 1e-6 * np.linalg.norm(E[:, j]):
            found.append(name)
    return tuple(found)
