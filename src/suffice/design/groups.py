"""Columns that tell groups: their levels, and one number for each record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.design.category import Category
from suffice.design.levels import census
from suffice.design.local_levels import StratumKeys
from suffice.rows.rows import Block, Rows


def learnt(rows: Rows, names: Sequence[str]) -> list[Category]:
    """The levels of columns that tell groups."""
    found = census(rows, names, "learning groups")
    return [Category.of(name, found[name], 0) for name in names]


def codes_of(block: Block, categories: Sequence[Category]) -> NDArray[np.int64]:
    """One number for each record, the same in the same group."""
    return StratumKeys(tuple(categories), ()).keys(block)


def by_groups(rows: Rows, categories: Sequence[Category]) -> NDArray[np.int32]:
    """The group of every record, whatever cells are missing; `categories`: of the columns that tell groups."""
    if not categories:
        return np.zeros(rows.n, dtype=np.int32)
    names = tuple(category.name for category in categories)
    runs = rows.map(lambda run: [codes_of(block, categories) for block in run], names, "finding groups")
    codes = np.concatenate([code for run in runs for code in run])
    return np.unique(codes, return_inverse=True)[1].astype(np.int32)
