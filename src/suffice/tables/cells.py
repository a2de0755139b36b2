"""Cells of many rows, or of several tables, brought together: each once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.errors import InputError, UsageError
from suffice.tables.axis import Axis
from suffice.tables.grid import Grid

EXACT = 1e-9
"""What sums may miss, as a share of the absolute cells of their equation; and two values of one cell, of it."""


def placed(axis: Axis, codes: NDArray[np.str_]) -> NDArray[np.int64]:
    words, back = np.unique(codes, return_inverse=True)
    lost = [str(word) for word in words if str(word) not in axis.place]
    if lost:
        raise InputError(
            f"The hierarchy of {axis.name} lacks {len(lost):,} codes of the file, such as {lost[0]!r}.\nAdd them to it."
        )
    return np.array([axis.place[str(word)] for word in words], dtype=np.int64)[back]


def in_order(first: NDArray[np.int64], back: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Unique things in the order in which they came."""
    order = np.argsort(first)
    return first[order], np.argsort(order)[back]


def once(grid: Grid, values: Array, back: NDArray[np.int64], name: str) -> Array:
    """One value for each cell; cells that are given twice must agree, and a number tells what a gap hides."""
    found = np.full(len(grid.codes), np.nan)
    known = ~np.isnan(values)
    found[back[known]] = values[known]
    wrong = np.flatnonzero(known & (np.abs(values - found[back]) > EXACT * np.abs(found[back])))
    if len(wrong):
        raise InputError(
            f"The cell {grid.label(int(back[wrong[0]]))} is there twice, with values of {name!r} that contradict each "
            f"other ({len(wrong):,} such cells).\nCorrect them: linked tables must share their cells."
        )
    return found


def joined_axes(grids: Sequence[Grid]) -> tuple[Axis, ...]:
    axes: dict[str, Axis] = {}
    for grid in grids:
        for axis in grid.axes:
            axes[axis.name] = axes[axis.name].joined(axis) if axis.name in axes else axis
    return tuple(axes.values())


def moved(grid: Grid, axes: Sequence[Axis]) -> NDArray[np.int64]:
    """The cells of a grid as places on other axes."""
    own = {axis.name: (axis, grid.codes[:, k]) for k, axis in enumerate(grid.axes)}
    columns = []
    for axis in axes:
        if axis.name in own:
            codes, places = own[axis.name]
            columns.append(np.array([axis.place[code] for code in codes.codes])[places])
        elif axis.total is None:
            raise UsageError(f"Tables without {axis.name} cannot be linked: no code of it stands for all.")
        else:
            columns.append(np.full(len(grid.codes), axis.place[axis.total]))
    return np.column_stack(columns)
