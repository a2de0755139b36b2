"""Missing cells: records left out, or patterns of holes that are large enough to be protected by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Flags
from suffice.design.design import Design, inspection
from suffice.design.groups import by_groups
from suffice.design.roles import Roles
from suffice.design.selection import Selection
from suffice.design.small_groups import small_groups
from suffice.errors import InputError, count_of, escaped
from suffice.rows.arrow import as_float
from suffice.rows.bridge import flags
from suffice.rows.derived import check_aligned
from suffice.rows.rows import Block, Rows

Settle = Callable[[Rows, Roles], Selection | None]

SMALLEST = 10
"""Records of a pattern, at least, unless told."""


def complete(rows: Rows, roles: Roles) -> Rows:
    """The rows that can be protected: nothing is done unless the roles ask for it, and all that is done is noted."""
    return complete_beside(rows, None, roles)[0]


def complete_beside(rows: Rows, start: Rows | None, roles: Roles) -> tuple[Rows, Rows | None]:
    """The same, with those records of a row-aligned data set that stand beside them."""
    steps: dict[Settle, bool] = {
        _dropped: roles.missing == "drop",
        small_groups: bool(roles.groups) and roles.small_groups != "stop",
        _in_patterns: roles.missing == "patterns",
    }
    for settle in (step for step, asked in steps.items() if asked):
        if (settled := settle(rows, roles)) is None:
            continue
        if start is not None:
            check_aligned(rows, start, roles.confidential)
            start = Selection(settled.kept, "").of(start, roles.confidential)
        rows = settled.of(rows, tuple(name for name in rows.kinds if name in roles.columns))
    return rows, start


def _dropped(rows: Rows, roles: Roles) -> Selection | None:
    names = tuple(name for name in roles.leaving if name not in roles.keep)
    looked = inspection(rows, roles)
    replace(looked, holed=looked.columns).complain(rows)  # before rows have other numbers
    absent = _flags(rows, names)
    gone = np.asarray(absent.any(axis=1))
    if not gone.any():
        return None
    counts = ", ".join(f"{name} {count}" for name, count in zip(names, absent.sum(axis=0), strict=True) if count)
    note = f"{gone.sum()} of {rows.n} records dropped because of missing cells ({counts})"
    return Selection(np.asarray(~gone), note)


def _in_patterns(rows: Rows, roles: Roles) -> Selection | None:
    names, design = tuple(roles.confidential), Design.learn(rows, roles)
    design.complain(rows)
    absent = _flags(rows, names)
    if not absent.any():
        return None
    found = Patterns.within(by_groups(rows, design.groupings), absent, smallest(design))
    found.check(names)
    blanked = found.blanked(absent)
    blank = {name: flags for name, flags in zip(names, blanked.T, strict=True) if flags.any()}
    return Selection(found.kept, found.note(blanked), blank)


def smallest(design: Design) -> int:
    """Records of a pattern, at least: as asked for, or enough to leave residuals for all columns."""
    asked = design.roles.smallest_pattern
    return max(SMALLEST, design.width + design.k + 2) if asked is None else asked


@dataclass(frozen=True, repr=False)
class Patterns:
    """The holes that every record ends with, so that each pattern of holes has enough records.

    A pattern with fewer records than `least` joins the largest pattern whose holes contain its own: the other cells of
    its records are blanked. Where there is none they are left out. Records without any value need no protection.

    kept: records that are not left out
    holes: of every record

    >>> absent = np.array([[False, False]] * 5 + [[True, False]] + [[True, True]] * 2)
    >>> Patterns.of(absent, 2).holes[5].tolist()
    [True, True]
    """

    kept: Flags
    holes: Flags
    count: int
    least: int

    @classmethod
    def of(cls, absent: Flags, least: int) -> Patterns:
        _, first, inverse, counts = np.unique(
            np.packbits(absent, axis=1), axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        holes = absent[first]
        large = np.flatnonzero((counts >= least) | holes.all(axis=1))
        end = np.full(len(first), -1)
        end[large] = large
        for small in np.flatnonzero(end < 0):
            room = [g for g in large if counts[g] >= least and not (holes[small] & ~holes[g]).any()]
            end[small] = max(room, key=lambda g: (counts[g], -g), default=-1)
        places = end[inverse.ravel()]
        return cls(places >= 0, np.where((places >= 0)[:, None], holes[places], absent), len(large), least)

    @classmethod
    def within(cls, groups: NDArray[np.int32], absent: Flags, least: int) -> Patterns:
        """The patterns of every group by themselves."""
        kept, holes, count = np.empty(len(absent), dtype=bool), np.empty_like(absent), 0
        order = np.argsort(groups, kind="stable")
        for places in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
            found = cls.of(absent[places], least)
            kept[places], holes[places], count = found.kept, found.holes, count + found.count
        return cls(kept, holes, count, least)

    def blanked(self, absent: Flags) -> Flags:
        """Cells that had a value and leave as holes."""
        return np.asarray(self.holes & ~absent & self.kept[:, None])

    def check(self, names: Sequence[str]) -> None:
        """Refuses columns that would be left without a value."""
        empty = [name for name, hole in zip(names, np.asarray(self.holes[self.kept].all(axis=0)), strict=True) if hole]
        if empty and self.kept.any():
            raise InputError(
                f"No pattern of {self.least} records and more has a value of {escaped(', '.join(empty))}.\n"
                "Leave it out, or ask for a smaller smallest_pattern."
            )

    def note(self, blanked: Flags) -> str:
        """What became of the patterns, in counts."""
        return (
            f"{count_of(self.count, 'pattern')} of missing cells, each protected by itself; of those with fewer than "
            f"{self.least} records {count_of(int(blanked.any(axis=1).sum()), 'record')} joined another "
            f"({count_of(int(blanked.sum()), 'cell')} blanked) and {(~self.kept).sum()} dropped"
        )


def _flags(rows: Rows, names: Sequence[str]) -> Flags:
    """Which cells are missing, a row for each record."""

    def of(run: Sequence[Block]) -> Flags:
        return np.vstack([np.column_stack([_absent(block.columns[name]) for name in names]) for block in run])

    return np.vstack(list(rows.map(of, names, "looking for missing cells")))


def _absent(values: Any) -> Flags:
    if isinstance(values, pa.Array):
        return flags(values.is_null())
    return np.isnan(as_float(values))
