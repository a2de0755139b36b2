"""A pattern of suppressed cells as a file has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError
from suffice.tables.columns import codes_of, columns_of_file, marks_of, numbers_of
from suffice.tables.sensitivity import Sensitivity, value_of
from suffice.tables.table import Table


def pattern_of(
    table: Table,
    cells: Any,
    value: str | None = None,
    suppressed: str | None = None,
    sensitive: str | None = None,
    lower: str | None = None,
    upper: str | None = None,
) -> tuple[Flags, Sensitivity | None]:
    """Suppressed cells, and the sensitive ones that a file names with their protection levels.

    cells: a file with the table's dimensions; values that are shown must be those of the table
    """
    name = value_of(table, value)
    dims = [axis.name for axis in table.grid.axes]
    marks = [mark for mark in (suppressed, sensitive, lower, upper) if mark]
    if (lower or upper) and not sensitive:
        raise UsageError("Protection levels need the column of sensitive cells.\nName it with --sensitive.")
    file = columns_of_file(cells, [*dims, name, *marks])
    at = _places(table, file)
    shown = numbers_of(file, name, holes=True)
    gap = marks_of(file, suppressed) if suppressed else np.isnan(shown)
    _refuse_other_values(table, at, np.where(gap, np.nan, shown), name)
    gaps = np.ones(len(table), dtype=bool)
    gaps[at[~gap]] = False  # a cell is published when one of its names is
    gaps &= ~table.hidden & ~table.impossible
    if sensitive is None:
        return gaps, None
    none = np.zeros(len(table))
    secret = np.zeros(len(table), dtype=bool)
    secret[at[marks_of(file, sensitive)]] = True
    levels = [_levels(file, column, at, table) if column else none for column in (lower, upper)]
    first, second = levels if lower and upper else [levels[0] if lower else levels[1]] * 2
    x = table.values[name]
    if (secret & (first > x) & (x >= 0)).any() and lower:
        label = table.label(int(np.flatnonzero(secret & (first > x))[0]))
        raise InputError(f"The lower protection level of {label} is above the cell's value.\nLower it.")
    first = first if (x < 0).any() else np.minimum(first, np.where(np.isnan(x), np.inf, x))
    why: Sequence[tuple[str, ...]] = [("marked",) if mark else () for mark in secret]
    flags = np.zeros(len(table), dtype=bool)
    return gaps, Sensitivity(name, secret, first, second, tuple(why), flags, np.abs(x))


def levels_of(table: Table, cells: Any, value: str, column: str) -> Sensitivity:
    """Sensitive cells as a column of protection levels says them: those that have one, the same below and above."""
    (given,) = columns_of_cells(table, cells, [column])
    level, x = np.nan_to_num(given), table.values[value]
    if (level < 0).any():
        label = table.label(int(np.flatnonzero(level < 0)[0]))
        raise InputError(f"A protection level in {column!r} is negative ({label}).\nLevels are numbers from zero.")
    secret = level > 0
    lower = level if (x < 0).any() else np.minimum(level, np.nan_to_num(x))
    why = tuple(("level",) if mark else () for mark in secret)
    return Sensitivity(value, secret, lower, level, why, np.zeros(len(table), dtype=bool), np.abs(x))


def _levels(file: pa.Table, column: str, at: np.ndarray, table: Table) -> Array:
    """A column of protection levels, by cell; those that are not said are zero."""
    numbers, found = numbers_of(file, column, holes=True), np.zeros(len(table))
    if (numbers < 0).any():
        label = table.label(int(at[np.flatnonzero(numbers < 0)[0]]))
        raise InputError(f"A protection level in {column!r} is negative ({label}).\nLevels are numbers from zero.")
    np.maximum.at(found, at, np.nan_to_num(numbers))
    return found


def columns_of_cells(table: Table, cells: Any, columns: Sequence[str]) -> tuple[Array, ...]:
    """Numbers of a file by cell; not a number where it has none."""
    dims = [axis.name for axis in table.grid.axes]
    file = columns_of_file(cells, [*dims, *columns])
    at = _places(table, file)
    found = np.full((len(columns), len(table)), np.nan)
    found[:, at] = [numbers_of(file, column, holes=True) for column in columns]
    return tuple(found)


def limited(
    table: Table, cells: Any, found: Sequence[Sensitivity], fixed: str | None, capacities: Sequence[str]
) -> list[Sensitivity]:
    """What is sensitive, with the limits of an adjustment: a mark at cells that stay, and capacities of every value."""
    if capacities and len(capacities) != len(found):
        raise UsageError("Capacities need a column for every value whose cells are sensitive.")
    stay = _marked(table, cells, fixed) if fixed else np.zeros(len(table), dtype=bool)
    rooms = columns_of_cells(table, cells, capacities) if capacities else [None] * len(found)
    for room in rooms:
        if room is not None and (room < 0).any():
            raise InputError("A capacity is negative.\nCapacities are numbers from zero.")
    return [replace(each, forced=each.forced | stay, capacity=room) for each, room in zip(found, rooms, strict=True)]


def preferred(
    table: Table, cells: Any, found: Sequence[Sensitivity], costs: str | None, last: str | None
) -> list[Sensitivity]:
    """What is sensitive, with columns of what suppressing a cell costs, and of marks at an earlier pattern."""
    result = list(found)
    if costs:
        (given,) = columns_of_cells(table, cells, [costs])
        result = [replace(each, cost=np.where(np.isnan(given), each.cost, given)) for each in result]
    if last:
        marks = _marked(table, cells, last)
        result = [replace(each, last=marks) for each in result]
    return result


def _marked(table: Table, cells: Any, column: str) -> Flags:
    file = columns_of_file(cells, [*(axis.name for axis in table.grid.axes), column])
    found = np.zeros(len(table), dtype=bool)
    found[_places(table, file)[marks_of(file, column)]] = True
    return found


def known_ends(table: Table, name: str, beforehand: float | tuple[Array, Array] | None) -> tuple[Array, Array]:
    """Between which everybody knows the cells: that none is negative, if so, and a share of each, or bounds by cell."""
    x = table.values[name]
    low, high = np.full(len(x), -np.inf if (x < 0).any() else 0.0), np.full(len(x), np.inf)
    if isinstance(beforehand, tuple):
        low, high = np.fmax(low, beforehand[0]), np.fmin(high, beforehand[1])
    elif beforehand is not None:
        low, high = np.fmax(low, x - beforehand * np.abs(x)), x + beforehand * np.abs(x)
    outside = ((x < low) | (x > high)) & ~table.hidden
    if outside.any():
        raise InputError(
            f"{outside.sum():,} cells of {name!r} lie outside of what everybody is said to know (the first: "
            f"{table.label(int(np.flatnonzero(outside)[0]))}).\nCorrect the bounds."
        )
    return low, high


def _places(table: Table, file: pa.Table) -> np.ndarray:
    dims = (axis.name for axis in table.grid.axes)
    return np.array([table.find(*codes) for codes in zip(*(codes_of(file, dim) for dim in dims), strict=True)])


def _refuse_other_values(table: Table, at: np.ndarray, shown: Array, name: str) -> None:
    x = table.values[name][at]
    wrong = np.flatnonzero(np.abs(shown - x) > 1e-9 * np.abs(x))
    if len(wrong):
        label = table.label(int(at[wrong[0]]))
        raise InputError(
            f"{len(wrong):,} published cells of {name!r} are not those of the records (the first: {label}).\n"
            "Give the records that the table was made of."
        )
