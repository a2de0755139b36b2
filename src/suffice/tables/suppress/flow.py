"""Changes of a table that cost little and reach what must be reached: their cells are a pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.tables.solver import Contradiction, NoAnswer, Programme
from suffice.tables.suppress.demand import Demand, PatternRequest

WIDE = 100.0
"""Times the largest level: more than that no cell need change."""
GAIN = 1e3
"""What reaching a level is worth, in costs of the dearest cell."""
NODES = 2_000
"""Of a search for whole numbers, at most: no clock decides on a pattern."""
SEEN = 1e-7
"""Of the unit: what is a change."""


class Flow:
    """Changes f with T f = 0, inside of what everybody knows, in cells that may be suppressed."""

    def __init__(self, request: PatternRequest, value: str, usable: Flags, attacker: Demand | None = None) -> None:
        self.request, self.value = request, value
        mask = usable.copy()
        if attacker is not None:
            mask[list(attacker.own)] = False
        self.cells = np.flatnonzero(mask)
        self.place = np.full(len(mask), -1)
        self.place[self.cells] = np.arange(len(self.cells))
        self.rows = request.relations(self.cells)
        room = request.room(value) if attacker is None else request.room_for(attacker)
        self.below, self.above = (each[self.cells] for each in room)

    def all(self, demands: Sequence[Demand], up: Flags, cost: Array) -> Array:
        """Single cells, each at its level above or below, as many as can be: the cheapest change, a number a cell.

        A change of one unit earns up to the level and is free beyond it, so that there always is an answer. Cells that
        are not at their levels go down no further than those who contribute to them must think possible.
        """
        at = self.place[[each.cells[0][0] for each in demands]]
        sides = np.array([each.sides(self.below[p]) for each, p in zip(demands, at, strict=True)])
        goal = np.where(up, sides[:, 1], sides[:, 0])
        unit = float(np.median(goal[goal > 0])) if (goal > 0).any() else 1.0
        below = np.minimum(self.below, self.request.left(self.value)[self.cells])
        below[at] = np.minimum(np.maximum(below[at], sides[:, 0]), self.below[at])
        room = np.array([below, self.above]) / unit
        room = np.minimum(room, WIDE * goal.max(initial=1.0) / unit)
        price = cost[self.cells] / max(float(cost[self.cells].max(initial=0.0)), 1e-300)
        room[up.astype(int) ^ 1, at] = 0.0  # one direction only
        goal = np.minimum(goal / unit, room[up.astype(int), at])
        room[up.astype(int), at] -= goal
        earned = self.rows[:, at] * np.where(up, 1.0, -1.0)
        matrix = sparse.csr_array(sparse.hstack([-self.rows, self.rows, earned]))
        gain = np.full(len(at), -GAIN) * (1.0 / np.maximum(goal, 1e-3))
        high = np.concatenate([room[0], room[1], goal])
        x = self._solve(np.concatenate([price, price, gain]), matrix, high)
        count = len(self.cells)
        moved = x[count : 2 * count] - x[:count]
        np.add.at(moved, at, np.where(up, 1.0, -1.0) * x[2 * count :])
        return self._spread(moved * unit, unit)

    def cheapest(self, demand: Demand, cost: Array, whole: bool = False) -> list[Array] | None:
        """Two changes that take a demand to its levels, below and above, in the cheapest way; None where none does."""
        best, least = None, np.inf
        room = self.request.room_for(demand)
        down = float(sum(room[0 if sign > 0 else 1][cell] for cell, sign in demand.cells))
        for way in demand.ways(down):
            found = [self.one(demand, up, goal, cost, whole) for up, goal in zip((False, True), way, strict=True)]
            both = [each for each in found if each is not None]
            paid = float(cost[np.any([each != 0 for each in both], axis=0)].sum()) if len(both) == 2 else np.inf
            if paid < least:
                best, least = both, paid
        return best

    def one(self, demand: Demand, up: bool, goal: float, cost: Array, whole: bool = False) -> Array | None:
        """The cheapest change that takes a demand so far; None where nothing does."""
        if goal <= 0:
            return np.zeros(len(self.place))
        unit = 1.0 if whole else goal
        room = np.minimum(np.array([self.below, self.above]) / unit, WIDE * goal / unit)
        price = cost[self.cells] / max(float(cost[self.cells].max(initial=0.0)), 1e-300)
        here = np.array([self.place[cell] for cell, _ in demand.cells])
        if (here < 0).any():
            return None
        reach = np.zeros(len(self.cells))
        reach[here] = [sign for _, sign in demand.cells]
        reach = reach if up else -reach
        line = sparse.csr_array(np.concatenate([-reach, reach])[None, :])
        matrix = sparse.csr_array(sparse.vstack([sparse.hstack([-self.rows, self.rows]), line]))
        least = np.zeros(matrix.shape[0])
        least[-1] = goal / unit
        most = np.zeros(matrix.shape[0])
        most[-1] = np.inf
        programme = (np.tile(price, 2), matrix, room.ravel(), least, most)
        try:
            x = self._solve(*programme)
            if whole and not _is_whole(x):
                x = self._solve(*programme, whole=True)
        except Contradiction:
            return None
        count = len(self.cells)
        return self._spread((x[count:] - x[:count]) * unit, unit)

    def _solve(
        self,
        cost: Array,
        matrix: sparse.csr_array,
        high: Array,
        least: Array | None = None,
        most: Array | None = None,
        whole: bool = False,
    ) -> Array:
        none = np.zeros(matrix.shape[0])
        flags = np.full(len(high), whole)
        least, most = (none if each is None else each for each in (least, most))
        programme = Programme(cost, matrix, least, most, np.zeros(len(high)), high, flags)
        try:
            answer = programme.solve(np.inf, 0.05 if whole else 0.0, presolve=whole, nodes=NODES)
        except NoAnswer:
            return np.zeros(len(high))
        if answer.stopped:
            raise KeyboardInterrupt
        return answer.x

    def _spread(self, moved: Array, unit: float) -> Array:
        found = np.zeros(len(self.place))
        found[self.cells] = np.where(np.abs(moved) > SEEN * unit, moved, 0.0)
        return found


def _is_whole(x: Array) -> bool:
    """Whether an answer in real numbers, which is found far sooner, is one in whole numbers."""
    return bool(np.abs(x - np.rint(x)).max(initial=0.0) < SEEN)
