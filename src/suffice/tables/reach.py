"""Possible tables in which many targets are at their levels at once."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.tables.solver import NoAnswer, Polytope, Solver

STEEP = 1e3
"""Times the usual one: what a target is worth at most, and at least a part of it."""


class Reach:
    """Each target below or above, as it is drawn, and then the other way round, for one attacker after the other.

    A target's change up to its level is a column of its own, which earns: so much as can be had is had. Only bounds
    change between attackers, so that the solver goes on from where it was.
    """

    def __init__(self, space: Polytope, costs: sparse.csr_array, down: Array, up: Array) -> None:
        self.space = space
        count = np.diff(costs.indptr)
        self.single, self.sums = np.flatnonzero(count == 1), np.flatnonzero(count > 1)
        self.at = costs.indices[costs.indptr[self.single]]
        self.costs = costs
        side = np.random.default_rng(1).random(len(count)) < 0.5
        self.ways = [(each, self._solver(each, np.where(each, up, down))) for each in (side, ~side)]

    def points(self, low: Array, high: Array) -> list[Array]:
        """What is possible within these bounds; the start is."""
        found = list[Array]()
        for side, (solver, cost, goal) in self.ways:
            solver.within(*self._bounds(side, goal, low, high))
            try:
                x = solver.least(cost)
            except NoAnswer:  # what it would have shown is looked at singly
                continue
            width = len(low)
            point = x[:width].copy()
            np.add.at(point, self.at, self._signs(side) * x[width : width + len(self.at)])
            found.append(np.clip(point, low, high))
        return found

    def _signs(self, side: Flags) -> Array:
        return np.where(side[self.single], 1.0, -1.0)

    def _solver(self, side: Flags, goal: Array) -> tuple[Solver, Array, Array]:
        """Columns: the cells beyond the levels of targets, these levels, what sums reach, and what is beyond that."""
        space, at, some = self.space, self.at, len(self.sums)
        signs = sparse.diags_array(self._signs(side))
        turned = sparse.csr_array(sparse.diags_array(np.where(side[self.sums], 1.0, -1.0)) @ self.costs[self.sums])
        one, none = sparse.eye_array(some), sparse.csr_array((space.rows.shape[0], 2 * some))
        rows = sparse.csr_array(
            sparse.vstack(
                [
                    sparse.hstack([space.rows, space.rows[:, at] @ signs, none]),
                    sparse.hstack([turned, turned[:, at] @ signs, -one, -one]),
                ]
            )
        )
        order = np.concatenate([self.single, self.sums])
        worth = np.clip(np.median(goal) / goal, 1 / STEEP, STEEP)[order] if len(goal) else goal
        cost = np.concatenate([np.zeros(len(space.start)), -worth, np.zeros(some)])
        start = np.concatenate([space.start, np.zeros(len(at) + 2 * some)])
        low, high = self._bounds(side, goal, space.low, space.high)
        return Solver(Polytope(rows, start, low, high, False), dual=True), cost, goal

    def _bounds(self, side: Flags, goal: Array, low: Array, high: Array) -> tuple[Array, Array]:
        at, start, up = self.at, self.space.start, side[self.single]
        level = np.minimum(goal[self.single], np.where(up, high[at] - start[at], start[at] - low[at]))
        base = [low.copy(), high.copy()]
        base[0][at] = np.where(up, start[at], low[at] + level)
        base[1][at] = np.where(up, high[at] - level, start[at])
        none, some = np.zeros(len(at)), len(self.sums)
        return (
            np.concatenate([base[0], none, np.zeros(2 * some)]),
            np.concatenate([base[1], level, goal[self.sums], np.full(some, np.inf)]),
        )
