"""What a pattern must leave possible, and the request that all of it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.progress import Progress
from suffice.tables.audit import Audit
from suffice.tables.auditor import Auditor
from suffice.tables.insiders import known_to
from suffice.tables.pattern import known_ends
from suffice.tables.secret import POSSIBLE, Secret
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table
from suffice.tables.targets import Targets

SLACK = 1e-4
"""Of a level: what is asked beyond it, so that no last digit decides."""
LEAST = 1e-6
"""Of the largest cell: how far a sensitive zero must reach, where no level says it."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Demand:
    """A cell, or a sum of cells, that must be able to go so far below its value, above it, and both together.

    insider: who the attacker is, where he contributes to cells
    own: cells that he knows, being alone behind them
    shared: cells that he knows a part of, and how far they may go down for him
    """

    value: str
    cells: tuple[tuple[int, int], ...]
    below: float
    above: float
    span: float
    insider: int | None = None
    own: tuple[int, ...] = ()
    shared: tuple[tuple[int, float], ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        return self.value, self.cells, self.insider

    def sides(self, room: float) -> tuple[float, float]:
        """How far down and up, where the whole span is to be had; room: below."""
        down = min(max(self.below, min(self.span / 2, 1.0 if self.span == POSSIBLE - 1 else np.inf)), room)
        return down, max(self.above, self.span - down)

    def ways(self, room: float) -> list[tuple[float, float]]:
        """How the span may be had: on both sides, above alone, below alone."""
        above = self.below, max(self.above, self.span - self.below)
        below = max(self.below, self.span - self.above), self.above
        some = [self.sides(room), *([above, below] if self.span > max(self.below, self.above) else [])]
        return [way for way in some if way[0] <= room]


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class PatternRequest:
    """A table, what is sensitive in it, and which cells may be suppressed at what cost.

    primary: cells that are suppressed whatever comes
    open: cells that may be, besides
    """

    table: Table
    given: tuple[Sensitivity, ...]
    primary: Flags
    open: Flags
    cost: Array
    beforehand: float | tuple[Array, Array] | None = None
    threads: int | None = None
    progress: Progress | None = None
    _cache: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    _left: dict[str, Array] = field(default_factory=dict)
    _auditors: dict[str, Auditor] = field(default_factory=dict)

    @property
    def always(self) -> Flags:
        """Cells that nobody publishes, and that everybody must guess."""
        return np.asarray(self.table.hidden & ~self.table.impossible)

    def room(self, name: str) -> tuple[Array, Array]:
        """How far below and above its value each cell may be, as far as everybody knows."""
        if name not in self._cache:
            x, given = self.table.values[name], next(each for each in self.given if each.value == name)
            low, high = known_ends(self.table, name, self.beforehand)
            if self.beforehand is None and Targets(self.table, name, given).signed:
                low = np.full(len(x), -np.inf)
            self._cache[name] = np.maximum(x - low, 0.0), np.maximum(high - x, 0.0)
        return self._cache[name]

    def left(self, name: str) -> Array:
        """How far below its value a cell that is not sensitive may be for its largest contributor, who is not alone."""
        if name not in self._left:
            people, x = self.table.contributors, self.table.values[name]
            self._left[name] = np.full(len(x), np.inf)
            if people is not None and (people.names is not None or name not in self.table.counts):
                most = self.table.makeup(name).largest[:, 0]
                some = (most > 0) & (most < x) & ~self.primary  # those are moved at any rate
                self._left[name] = np.where(some, x - most, np.inf)
        return self._left[name]

    def demands(self) -> list[Demand]:
        """Of every sensitive cell, for anybody."""
        return [self.demand(each.value, target) for each in self.given for target in self._cells(each)]

    def _cells(self, given: Sensitivity) -> list[Secret]:
        x = self.table.values[given.value]
        secret = given.sensitive & ~self.table.impossible & ~self.table.hidden
        return [
            Secret(((int(c), 1),), float(x[c]), float(given.lower[c]), float(given.upper[c]))
            for c in np.flatnonzero(secret)
        ]

    def demand(self, name: str, target: Secret) -> Demand:
        """What keeps the audit from calling a target exposed."""
        more, down = 1 + SLACK, target.value
        own, shared = tuple[int, ...](), tuple[tuple[int, float], ...]()
        if target.insider is not None:
            x = self.table.values[name]
            known, cells, part = known_to(self.table, name, target.insider, Targets(self.table, name, None).signed)
            own = tuple(known.tolist())
            shared = tuple(zip(cells.tolist(), np.maximum(x[cells] - part, 0.0).tolist(), strict=True))
            at = dict(shared)
            if min(sign for _, sign in target.cells) > 0:
                down = sum(at.get(cell, float(x[cell])) for cell, _ in target.cells)
        if name in self.table.counts:  # whole numbers: what is just beyond a level is the next one
            return Demand(name, target.cells, target.lower, target.upper, POSSIBLE - 1.0, target.insider, own, shared)
        below = min(more * target.lower, down) if target.lower <= down else more * target.lower
        span = max(below, more * target.upper) or LEAST * float(np.abs(self.table.values[name]).max())
        return Demand(name, target.cells, below, more * target.upper, span, target.insider, own, shared)

    def room_for(self, demand: Demand) -> tuple[Array, Array]:
        """The room that there is as far as an attacker knows."""
        below, above = (each.copy() for each in self.room(demand.value))
        cells = np.array([cell for cell, _ in demand.shared], dtype=np.int64)
        below[cells] = np.minimum(below[cells], [most for _, most in demand.shared])
        own = list(demand.own)
        below[own] = above[own] = 0.0
        return below, above

    def audits(
        self, gaps: Flags, points: Mapping[str, Sequence[Array]], hasty: bool = False, rough: bool = False
    ) -> dict[str, Audit]:
        """The audit of every value, helped by tables that are possible."""
        for each in self.given:
            if each.value not in self._auditors:
                how = {"beforehand": self.beforehand, "threads": self.threads, "progress": self.progress}
                self._auditors[each.value] = Auditor(self.table, each, each.value, **how)  # type: ignore[arg-type]
        return {name: each.of(gaps, points.get(name, ()), hasty, rough) for name, each in self._auditors.items()}

    def exposed(self, audits: Mapping[str, Audit]) -> list[tuple[Demand, Secret]]:
        """What the audits call exposed."""
        return [(self.demand(name, target), target) for name, each in audits.items() for target in each.exposed]

    def row(self, demand: Demand) -> Array:
        """A demand as a vector over the cells."""
        found = np.zeros(len(self.table))
        for cell, sign in demand.cells:
            found[cell] = sign
        return found

    def relations(self, cells: NDArray[np.int64]) -> sparse.csr_array:
        """The equations between some cells, without those that hold none of them."""
        found = sparse.csr_array(self.table.relations[:, cells])
        found.eliminate_zeros()
        return sparse.csr_array(found[np.flatnonzero(np.diff(found.indptr))])
