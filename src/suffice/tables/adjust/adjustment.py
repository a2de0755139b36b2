"""What an adjustment is: changes of all cells, what they cost, and what stayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf

import numpy as np
import pyarrow as pa

from suffice.algebra.array import Array
from suffice.errors import count_of
from suffice.statistics.cell_moments import CellMoments
from suffice.statistics.cells import CellPromise
from suffice.statistics.safe_cells import SHORT, SafeCells
from suffice.statistics.statistic import BOUND
from suffice.tables.adjust.information import FEW, bits_left
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table

LEVELS = ("lower", "upper")


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Adjustment:
    """A table whose sensitive cells are safe.

    changes: y, by value
    cost, bound: of the objective, and what no table costs less than; not a number where that is not known
    kept: each statistic's error in standard deviations, and in units of the last digits: at most 30 is called exact
    places: decimals that cells are written with, by value, where they are decimal fractions
    freed: sensitive cells whose direction the ordering could not give
    eased: sensitive cells that had no room for the size that was drawn, and got a smaller one
    one_way: sensitive cells that their bounds let go in one direction only
    q: times its level, what a sensitive cell changes by at most
    open_at_best: bits of the original that exact statistics could leave open, whatever the key
    stopped: whether the search was ended by hand
    reach: of the sizes between a level and half as much again, the part that they are drawn from
    """

    table: Table
    sensitivities: tuple[Sensitivity, ...]
    changes: Mapping[str, Array]
    objective: str
    signs: str
    sizes: str
    cost: float
    bound: float
    statistics: CellMoments | None
    kept: Mapping[str, tuple[float, float]]
    places: Mapping[str, int] = field(default_factory=dict)
    freed: int = 0
    whole: bool = False
    eased: int = 0
    one_way: int = 0
    stopped: bool = False
    q: float = 2.0
    open_at_best: float = inf
    reach: float = 1.0

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.changes)

    def cells(self, value: str | None = None) -> Array:
        """The adjusted cells of a value."""
        name = value or self.values[0]
        found = np.asarray(self.table.values[name] + self.changes[name])
        return np.round(found, self.places[name]) if name in self.places else found

    @property
    def gap(self) -> float:
        """By how much the cost may be above the least, as a share of it; not a number where that is not known."""
        if np.isnan(self.bound):
            return np.nan
        return max(0.0, self.cost - self.bound) / self.cost if self.cost else 0.0

    @property
    def error(self) -> float:
        """The largest violation of an equation, as a share of its cells."""
        worst = 0.0
        for name in self.values:
            x = self.cells(name)
            room = abs(self.table.relations) @ np.abs(x)
            worst = max(worst, float(np.max(np.abs(self.table.relations @ x) / np.where(room > 0, room, 1), initial=0)))
        return worst

    @property
    def printed(self) -> bool:
        """Whether the decimals that a text file has of the cells add up exactly, too."""
        T = self.table.relations
        for name in self.values:
            x = [Fraction(repr(cell)) for cell in self.cells(name).tolist()]
            for row in range(T.shape[0]):
                here = range(T.indptr[row], T.indptr[row + 1])
                if sum(int(T.data[k]) * x[T.indices[k]] for k in here):
                    return False
        return True

    @property
    def _safe(self) -> SafeCells:
        """Levels of what is sensitive, a column for every value."""
        names = [self.table.label(cell) for cell in range(len(self.table))]
        given = self.sensitivities
        sensitive = np.column_stack([each.sensitive & ~self.table.hidden for each in given])
        lower, upper = (np.column_stack([getattr(each, name) for each in given]) for name in LEVELS)
        return SafeCells(sensitive, lower, upper, names)

    @property
    def unsafe(self) -> int:
        """Sensitive cells that are nearer to their true value than their level."""
        before = np.column_stack([self.table.values[name] for name in self.values])
        after = np.column_stack([self.cells(name) for name in self.values])
        return int(self._safe.near(before, after).sum())

    @property
    def at_level(self) -> int:
        """Sensitive cells that changed by exactly their level, or the most it allows: who knows it has candidates."""
        found = 0
        for each in self.sensitivities:
            y = self.changes[each.value]
            level = np.where(y > 0, each.upper, each.lower)
            there = each.sensitive & ~self.table.hidden
            for times in {1.0, self.q}:
                found += int((there & (np.abs(np.abs(y) - times * level) <= 2 * SHORT * level)).sum())
        return found

    @property
    def bits_left(self) -> float:
        """What the request could leave open, whatever the key; what is left, should that be too little."""
        if self.whole:
            return inf
        own = bits_left(self.table, self.changes, self.sensitivities, self.statistics)
        return self.open_at_best if own >= FEW else min(own, self.open_at_best)

    @property
    def promises(self) -> tuple[CellPromise, ...]:
        """What the certificate recomputes beside additivity."""
        return (self._safe, *([self.statistics] if self.statistics else []))

    def frame(self) -> pa.Table:
        """The cells that were asked for, with their adjusted values alone."""
        return replace(self.table, values={name: self.cells(name) for name in self.values}).frame()

    def text(self) -> str:
        """What was done, in words and numbers for the holder of the table."""
        moved = sum(int(((y != 0) & ~self.table.hidden).sum()) for y in self.changes.values())
        secret = sum(int(given.sensitive.sum()) for given in self.sensitivities)
        size = len(self.values) * int((~self.table.hidden).sum())
        lines = [f"{count_of(secret, 'sensitive cell')} of {size:,} at safe values; {moved:,} cells are changed"]
        known = "best found; how near to the least is not known"
        if not np.isnan(self.bound):
            known = f"no less than {self.bound:,.7g} is possible, gap {self.gap:.2%}"
            known += ": proven" * (self.gap < 1e-6)
        known += "; ended by hand" * self.stopped
        lines.append(f"objective {self.objective}: {self.cost:,.7g} ({known})")
        if self.reach < 1:
            lines.append(
                f"exact moments had no room for sizes up to half above the levels: they are drawn from the first "
                f"{self.reach:.2g} of that"
            )
        elif self.eased:
            lines.append(f"{count_of(self.eased, 'sensitive cell')} without room for the size that was drawn")
        if self.freed:
            lines.append(f"the ordering did not fit: the directions of {self.freed:,} smallest cells were chosen")
        exact = "exact" if self.error == 0 else f"to {self.error:.0e} of the cells of an equation"
        lines.append(f"additivity: {exact}; in the decimals of a text file: {'exact' if self.printed else 'rounded'}")
        lines.append(f"protection: {'every sensitive cell' if not self.unsafe else f'NOT {self.unsafe:,} cells'}")
        for name, (error, ratio) in self.kept.items():
            lines.append(f"  {name}: " + ("exact" if ratio <= BOUND else f"to {error:.0e} standard deviations"))
        return "\n".join(lines)
