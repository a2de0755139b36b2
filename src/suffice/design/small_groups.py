"""Groups with few records or units: joined to one, or left out."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray

from suffice.design.category import Category
from suffice.design.design import Design
from suffice.design.groups import by_groups
from suffice.design.levels import small
from suffice.design.roles import Roles
from suffice.design.selection import Selection
from suffice.design.units import few_units, once, unit_words
from suffice.errors import count_of
from suffice.rows.multiset import Words
from suffice.rows.rows import Rows

FREE = 10
"""Degrees of freedom that a group is left with, at least, unless told: fewer are warned of."""
UNITS = 5
"""Units that a group is left with, at least, unless told: fewer are warned of."""
LABEL = "joined"


def small_groups(rows: Rows, roles: Roles) -> Selection | None:
    """Which records are in small groups, and what becomes of them: a label of their own, or nothing more."""
    design = Design.learn(rows, roles)
    least, groups = smallest_group(design), by_groups(rows, design.groupings)
    sizes, drop = np.bincount(groups), roles.small_groups == "drop"
    few = sizes < least if drop else small(sizes, least)
    needed = [count_of(least, "record")] if least else []
    if roles.unit:
        places, units = _units(rows, groups, roles.unit)
        fewest = UNITS if roles.smallest_group is None else roles.smallest_group
        few |= np.bincount(places) < fewest if drop else few_units(places, units, fewest)
        needed += [count_of(fewest, "unit")]
    if not few.any():
        return None
    by, enough = " and ".join(roles.groups), " and ".join(needed)
    said = f"{few.sum()} of {count_of(len(sizes), 'group')} by {by} ({sizes[few].sum()} of {rows.n} records)"
    here = np.asarray(few[groups])
    if roles.small_groups == "drop":
        return Selection(np.asarray(~here), f"{said} dropped: they have fewer than {enough}")
    labels = {each.name: (here, _label(rows, each)) for each in design.groupings}
    told = ", ".join(f"{name} = {label}" for name, (_, label) in labels.items())
    note = f"{said} joined to one, so that none has fewer than {enough}: released with {told}"
    return Selection(np.ones(rows.n, dtype=bool), note, labels=labels)


def smallest_group(design: Design) -> int:
    """Records of a group, at least: as asked for, or so many that enough residuals are left for all columns.

    Where units are named, it is units that are asked for.
    """
    asked = design.roles.smallest_group
    return design.m + max(FREE, design.k + 1) if asked is None else 0 if design.roles.unit else asked


def _units(rows: Rows, groups: NDArray[np.int32], unit: str) -> tuple[NDArray[np.int64], Words]:
    """Every unit once in each of its groups."""
    units = np.concatenate([unit_words(block, unit) for run in rows.runs([unit]) for block in run])
    first = once(groups.astype(np.int64), units)
    return groups[first].astype(np.int64), units[first]


def _label(rows: Rows, category: Category) -> str | int:
    """A level that the column has not: text, or the first whole number that is free."""
    if rows.kinds[category.name] == "integer":
        return next(number for number in count() if number not in category.numbers)
    return next(text for i in count(1) if (text := LABEL if i == 1 else f"{LABEL} {i}") not in category.texts)
