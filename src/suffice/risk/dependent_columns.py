"""Confidential columns that add up."""

from __future__ import annotations

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
