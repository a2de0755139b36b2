"""Far cells released near their own value, against those near another one's."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.risk.far_cells import NEAR, FarCells
from suffice.risk.matches import Matches


def outliers(cells: FarCells, names: tuple[str, ...]) -> dict[str, Matches]:
    """By column: far cells whose released value is within a tenth of their distance from the mean.

    Chance is the same share of the released values of the other far cells: whoever ignores which record is whose and
    names any of these is as near. Alone in its column, a far cell has no other.
    """
    return {name: _matches(own) for name, own in zip(names, cells.own, strict=True) if len(own)}


def _matches(own: Array) -> Matches:
    m, near = (
        len(own),
        np.abs(own[:, 1] - own[:, :1]) <= NEAR * np.abs(own[:, :1]),
    )  # row: whose value, column: whose release
    found = int(np.trace(near))
    return Matches(m, found, (int(near.sum()) - found) / (m - 1) if m > 1 else 0.0)
