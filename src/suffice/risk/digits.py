"""Cells that leave as they are among cells that do not: their digits tell them apart."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.risk.sample import RecordSample

FINEST = 4
"""Decimals that a column may have to lie on a lattice."""
FEWEST = 3
"""Cells that must show: one may be chance."""


def digits(sample: RecordSample) -> dict[str, tuple[int, int]]:
    """Columns of few decimals: sampled cells, zeros aside, that leave unchanged while the others get many decimals."""
    found: dict[str, tuple[int, int]] = {}
    for j, name in enumerate(sample.names):
        there = ~np.isnan(sample.Y[:, j]) & (sample.Y[:, j] != 0)
        y, released = sample.Y[there, j], sample.Ystar[there, j]
        decimals = next((d for d in range(FINEST + 1) if on_lattice(y, d).all()), None)
        if decimals is None:
            continue
        same, fine = y == released, ~on_lattice(released, decimals)
        if same.sum() >= FEWEST and fine.sum() >= FEWEST and on_lattice(released, decimals).sum() <= 2 * same.sum():
            found[name] = (int(same.sum()), len(y))
    return found


def on_lattice(values: Array, decimals: int) -> Flags:
    """Which values have no more than so many decimals."""
    return np.asarray(np.round(values, decimals) == values)
