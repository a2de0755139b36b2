"""Groups with few records: joined to one, or left out."""

from __future__ import annotations

from itertools import count

import numpy as np

from suffice.design.category import Category
from suffice.design.design import Design
from suffice.design.groups import by_groups
from suffice.design.levels import small
from suffice.design.roles import Roles
from suffice.design.selection import Selection
from suffice.rows.rows import Rows

FREE = 10
"""Degrees of freedom that a group is left with, at least, unless told: fewer are warned of."""
LABEL = "joined"


def small_groups(rows: Rows, roles: Roles) -> Selection | None:
    """Which records are in small groups, and what becomes of them: a label of their own, or nothing more."""
    design = Design.learn(rows, roles)
    least, groups = smallest_group(design), by_groups(rows, design.groupings)
    sizes = np.bincount(groups)
    if not (sizes < least).any():
        return None
    few = sizes < least if roles.small_groups == "drop" else small(sizes, least)
    said = (
        f"{few.sum()} of {len(sizes)} groups by {' and '.join(roles.groups)} ({sizes[few].sum()} of {rows.n} records)"
    )
    here = np.asarray(few[groups])
    if roles.small_groups == "drop":
        return Selection(np.asarray(~here), f"{said} dropped: they have fewer than {least} records")
    labels = {each.name: (here, _label(rows, each)) for each in design.groupings}
    told = ", ".join(f"{name} = {label}" for name, (_, label) in labels.items())
    note = f"{said} joined to one, so that none has fewer than {least} records: released with {told}"
    return Selection(np.ones(rows.n, dtype=bool), note, labels=labels)


def smallest_group(design: Design) -> int:
    """Records of a group, at least: as asked for, or so many that enough residuals are left for all columns."""
    asked = design.roles.smallest_group
    return design.m + max(FREE, design.k + 1) if asked is None else asked


def _label(rows: Rows, category: Category) -> str | int:
    """A level that the column has not: text, or the first whole number that is free."""
    if rows.kinds[category.name] == "integer":
        return next(number for number in count() if number not in category.numbers)
    return next(text for i in count(1) if (text := LABEL if i == 1 else f"{LABEL} {i}") not in category.texts)
