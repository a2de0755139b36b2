"""Rounding a file that is not in memory at once: part by part, and then what every part has left over."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algorithms.rounding.cells import Labels, RoundingCells
from suffice.algorithms.rounding.equations import RoundingEquations
from suffice.algorithms.rounding.network import paired
from suffice.algorithms.rounding.program import mend
from suffice.algorithms.rounding.rounding import SECONDS, cells_of, not_found
from suffice.design.limits import Limits

HELPERS = 64
"""Records of a group that wait so that others can be rounded against them, where edits may ask for it."""
WAITING = 2**14
"""Such records of a part, at most."""


def mostly_rounded(
    Y: Array,
    columns: Sequence[int],
    names: Sequence[str],
    generator: np.random.Generator,
    *,
    limits: Limits | None = None,
    groups: Sequence[Labels] = (),
    seconds: float = SECONDS,
) -> tuple[Array, Labels]:
    """Most records of one part in whole numbers, and the rows of those that wait for the other parts.

    Records are rounded in pairs, so each column's total over each group is what it was, fractions included; a record
    that finds no partner waits. When those of all parts are `rounded` together, every total of the file is kept as
    if the file had been one part.

    Parameters are those of `rounded`.

    >>> Y, waiting = mostly_rounded(np.full((5, 1), 0.5), [0], ["employees"], np.random.default_rng(1))
    >>> float(Y.sum()), len(waiting)
    (2.5, 1)
    """
    until = time.monotonic() + seconds
    cells = cells_of(Y, list(columns), names, limits, groups)
    waits = _helpers(cells)
    part = cells.part.copy()
    now = np.flatnonzero(~waits)
    some = cells.some(now)
    part[now] = paired(some, RoundingEquations.of(some), generator)[:, : part.shape[1]]
    waits |= ((part > 0) & (part < 1)).any(axis=1)
    now = np.flatnonzero(~waits)
    Z = cells.base + part
    Z[now] = _mended(cells.some(now), Z[now], generator, until, seconds)
    out = Y.copy()
    out[:, columns] = Z + 0.0  # no -0
    return out, np.flatnonzero(waits)


def _helpers(cells: RoundingCells) -> Flags:
    """The first records of each group, where there are edits: they are few, and their fractions are whole freedom."""
    count = np.bincount(cells.leaf, minlength=1)
    each = min(HELPERS, WAITING // len(count)) if cells.rules else 0
    order = np.argsort(cells.leaf, kind="stable")
    place: Labels = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    return np.less(place, each)


def _mended(cells: RoundingCells, Z: Array, generator: np.random.Generator, until: float, seconds: float) -> Array:
    """Edits that are more than a network are kept among the records that are done."""
    if not cells.broken(Z).any():
        return Z
    Z = mend(cells, Z, generator, until)
    left = {name: count for rule in cells.rules for name, count in rule.counts(Z).items()}
    if left:
        raise not_found(left, seconds if time.monotonic() >= until else None)
    return Z
