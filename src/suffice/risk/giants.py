"""The few farthest cells of each column: does some released record have their value, whoever's it is?"""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.risk.far_cells import FarCells
from suffice.risk.matches import Matches

FEW, NEAR = 10, 0.05
"""Giants of a column that are looked for in the release, and how near to their distance from the mean."""
ELSEWHERE = (0.6, 0.7, 0.8, 1.25, 1.4, 1.6)
"""Where no giant is looked for: at these multiples of its distance."""


def giants(cells: FarCells, names: tuple[str, ...]) -> dict[str, Matches]:
    """By column: those of the ten farthest cells that some released value is near.

    Chance is what is found at other multiples of their distances: a release with a heavy tail has values everywhere.
    """
    return {
        name: _matches(own[np.argsort(-np.abs(own[:, 0]), kind="stable")[:FEW], 0], after[:, 0])
        for name, own, after in zip(names, cells.own, cells.released, strict=True)
        if len(own)
    }


def _matches(top: Array, after: Array) -> Matches:
    return Matches(len(top), _found(top, after), float(np.mean([_found(c * top, after) for c in ELSEWHERE])))


def _found(top: Array, after: Array) -> int:
    return int((np.abs(after[None, :] - top[:, None]) <= NEAR * np.abs(top[:, None])).any(axis=1).sum())
