"""Possible tables that show many targets safe from many attackers, so that few problems are left to be solved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.tables.chase import CLOSE
from suffice.tables.reach import Reach
from suffice.tables.solver import NEAR, Polytope

LITTLE = 0.3
"""Of what is open: where a round closes less, smaller groups of attackers are taken."""
SMALLER = 4
FEW = 32
"""Tables that are looked at together: what one of them closes needs no later one."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Attackers:
    """What each of several attackers knows of the cells of a polytope.

    own: attackers x cells, the cells that each knows
    parts: attackers x cells, what of the others is its own
    """

    own: sparse.csr_array
    parts: sparse.csr_array

    def allow(self, space: Polytope, points: Array) -> Flags:
        """Which attackers, a row each, must think which points possible."""
        moved, near = points - space.start, NEAR * space.unit
        known = (self.own @ (np.abs(moved) > near).T.astype(np.float64)) > 0
        pairs = self.parts.tocoo()
        short = moved[:, pairs.col] < pairs.data - space.start[pairs.col] - near
        for number in np.flatnonzero(short.any(axis=1)):
            known[pairs.row[short[number]], number] = True
        return np.asarray(~known)

    def bounds(self, space: Polytope, some: NDArray[np.int64]) -> tuple[Array, Array, Flags]:
        """Within which cells are for those who know what all of some attackers know; which cells they know."""
        low, high = space.low.copy(), space.high.copy()
        parts = self.parts[some].tocoo()
        np.maximum.at(low, parts.col, np.minimum(parts.data, space.start[parts.col]))
        fixed = np.zeros(len(low), dtype=bool)
        fixed[self.own[some].indices] = True
        low[fixed] = high[fixed] = space.start[fixed]
        return low, high, fixed


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Distances:
    """How far targets must go for attackers.

    costs: targets x cells, with signs
    down, up: of each target, for anybody
    who, which: attackers and targets for whom it is less, by `less_down` and `less_up`
    none: attackers x targets that are no secret to them, or that are asked of others
    """

    costs: sparse.csr_array
    down: Array
    up: Array
    who: NDArray[np.int64]
    which: NDArray[np.int64]
    less_down: Array
    less_up: Array
    none: Flags


class Screen:
    """Which targets nothing shows safe yet from which attackers.

    A possible table that fits what several attackers know shows its targets safe from each of them: so they are asked
    in groups first, as if they knew all that the others of the group know.
    """

    def __init__(self, space: Polytope, attackers: Attackers, levels: Distances, lean: Array | None = None) -> None:
        self.space, self.attackers, self.levels = space, attackers, levels
        at = np.asarray(levels.costs @ space.start)
        self.room = CLOSE * np.maximum(np.abs(at), space.unit)
        down, up = levels.down, levels.up
        if space.whole:  # one more and one less are three whole numbers
            down, up = (np.maximum(np.ceil(goal - self.room), 1.0) for goal in (down, up))
        else:
            tiny = np.maximum(down, up) <= 4 * self.room
            down, up = np.where(tiny, 0.0, down), np.where(tiny, 4 * self.room, up)
        self.down, self.up = down, up
        self.below: Flags = ~levels.none
        self.above: Flags = ~levels.none
        down, up = (np.maximum(goal * (1 + CLOSE), 4 * self.room) for goal in (down, up))
        self.reach = Reach(space, levels.costs, down, up, lean)
        self.points, self.each = list[Array](), True
        """What is possible, and not yet taken; whether each attacker is asked for whom something is left open."""
        count = len(levels.who)
        self.low, self.high = np.zeros(count), np.zeros(count)
        """How far tables take those targets whose levels are less for an attacker."""

    @property
    def open(self) -> Flags:
        return self.below | self.above

    def show(self, points: Array) -> None:
        """Takes note of what possible tables show, to whom."""
        for begin in range(0, len(points), FEW):
            self._show(points[begin : begin + FEW])

    def _show(self, points: Array) -> None:
        levels = self.levels
        allowed = self.attackers.allow(self.space, points)
        if self.space.whole:
            points = np.where((np.abs(points - np.rint(points)).max(axis=1) < 1e-6)[:, None], points, self.space.start)
        shown = np.asarray(levels.costs @ (points - self.space.start).T)
        left, open_to = (self.below.any(axis=0), self.above.any(axis=0)), self.open.any(axis=1)
        for number in range(len(points)):
            rows = np.flatnonzero(allowed[:, number] & open_to)
            some = left[0] & (shown[:, number] <= -self.down), left[1] & (shown[:, number] >= self.up)
            for open_, columns in zip((self.below, self.above), some, strict=True):
                open_[np.ix_(rows, np.flatnonzero(columns))] = False
        if len(levels.who):
            moved = np.where(allowed[levels.who], shown[levels.which], 0.0)
            self.low = np.minimum(self.low, moved.min(axis=1))
            self.high = np.maximum(self.high, moved.max(axis=1))
            wide = self.high - self.low > 4 * self.room[levels.which]
            for open_, done in (
                (self.below, -self.low >= levels.less_down), (self.above, self.high >= levels.less_up)
            ):  # fmt: skip
                here = done & wide
                open_[levels.who[here], levels.which[here]] = False

    def leave(self, which: Flags) -> None:
        """Targets that are not to be looked at."""
        self.below[:, which] = self.above[:, which] = False

    def taken(self) -> list[Array]:
        """Possible tables that were found since the last call."""
        found, self.points = self.points, []
        return found

    def group(self, some: NDArray[np.int64], which: NDArray[np.int64] | None = None, loose: bool = False) -> None:
        """Looks for tables that fit all that these attackers know, in which targets are at their levels.

        which: targets, all by default; loose: whatever these attackers know of the targets that are shown
        """
        here = np.isin(np.arange(len(self.room)), which if which is not None else np.arange(len(self.room)))
        wanted = self.below[some].any(axis=0) & here, self.above[some].any(axis=0) & here
        low, high, fixed = self.attackers.bounds(self.space, some)
        if loose:
            single, at = self.reach.single, self.reach.at
            goal = np.where(wanted[0][single] & ~fixed[at], self.reach.down[single], 0.0)
            low[at] = np.maximum(self.space.low[at], np.minimum(low[at], self.space.start[at] - goal))
        fresh = self.reach.points(low, high, wanted)
        self.points += fresh
        self.show(np.array(fresh).reshape(len(fresh), len(low)))

    def together(self) -> None:
        """All attackers as one, for as long as that closes some; then those whose own parts stood in the way."""
        for loose in (True, False):
            while len(some := self._attackers()) > 1:
                before = self._count
                self.group(some, loose=loose)
                if self._count > (1 - LITTLE) * before:
                    break

    def run(self) -> Iterator[int]:
        """Attackers for whom something is left open, when groups of them have been asked, and each alone."""
        self._halves()
        self._halves(SMALLER)
        for one in self._attackers().tolist():
            if self.open[one].any() and self.each:
                self.group(np.array([one]))
            if self.open[one].any():
                yield one

    def _attackers(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.open.any(axis=1))

    @property
    def _count(self) -> int:
        return int(self.below.sum() + self.above.sum())

    def _halves(self, smaller: int = 0) -> None:
        """Groups of attackers, drawn anew, for as long as that closes some; then `smaller` ones, if at all."""
        rng, groups = np.random.default_rng(1), 2
        while len(some := self._attackers()) > groups:
            before = self._count
            if self.open.any(axis=0).sum() <= groups:  # fewer problems by target
                self._by_target()
            else:
                for part in np.array_split(rng.permutation(some), groups):
                    self.group(part)
            if self._count > (1 - LITTLE) * before:
                if not smaller:
                    return
                groups *= smaller

    def _by_target(self) -> None:
        """All attackers for whom one target is open as one, for each target."""
        for target in np.flatnonzero(self.open.any(axis=0)):
            if len(some := np.flatnonzero(self.open[:, target])) > 1:
                self.group(some, np.array([target]))
