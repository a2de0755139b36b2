"""Possible tables in which many targets are at their levels at once."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.tables.solver import NoAnswer, Polytope, Solver

STEEP = 1e3
"""Times the usual one: what a target is worth at most, and at least a part of it."""


class Reach:
    """Each target below or above, and then the other way round, for one attacker after the other.

    A target's change up to its level is a column of its own, which earns: so much as can be had is had. Only bounds
    change between attackers, so that the solver goes on from where it was.

    down, up: how far the targets are to go
    lean: a change in which many targets are at their levels, or were: which way each went; else it is drawn
    """

    def __init__(
        self, space: Polytope, costs: sparse.csr_array, down: Array, up: Array, lean: Array | None = None
    ) -> None:
        self.space, self.costs = space, costs
        count = np.diff(costs.indptr)
        self.single, self.sums = np.flatnonzero(count == 1), np.flatnonzero(count > 1)
        self.at = costs.indices[costs.indptr[self.single]]
        self.down, self.up = down, up
        self.rng = np.random.default_rng(1)
        side = self.rng.random(len(count)) < 0.5
        if lean is not None:
            went = np.asarray(costs @ lean)
            side = np.where(went == 0, side, went > 0)
        self.sides = (side, ~side)
        self.solver: Solver | None = None

    def points(self, low: Array, high: Array, wanted: tuple[Flags, Flags]) -> list[Array]:
        """What is possible within these bounds; wanted: targets that are to go down, and up."""
        found, one = list[Array](), len(self.at)
        for side in self.sides:
            down, up = np.where(wanted[0] & ~side, self.down, 0.0), np.where(wanted[1] & side, self.up, 0.0)
            if not (down.any() or up.any()):
                continue
            if self.solver is None:
                self.solver, self.cost = self._solver()
            self.solver.within(*self._bounds(down, up, low, high))
            try:
                x = self.solver.least(self.cost)
            except NoAnswer:  # what it would have shown is looked at singly
                continue
            point, levels = x[: len(low)].copy(), x[len(low) : len(low) + 2 * one]
            np.add.at(point, self.at, levels[:one] - levels[one:])
            found.append(np.clip(point, low, high))
        side = self.rng.random(len(self.down)) < 0.5  # whoever stood in each other's way may go other ways next time
        self.sides = (side, ~side)
        return found

    def _solver(self) -> tuple[Solver, Array]:
        """Columns: cells beyond the levels of targets, these levels, up and down, sums' alike, and what is beyond."""
        space, at, some = self.space, self.at, self.costs[self.sums]
        count, width = len(self.sums), len(self.space.start)
        sums = sparse.eye_array(count)
        rows = sparse.vstack([space.rows, some]) if count else space.rows
        levels = sparse.csc_array(rows)[:, at]
        more = sparse.vstack([sparse.csr_array((space.rows.shape[0], 3 * count)), sparse.hstack([-sums, sums, -sums])])
        matrix = sparse.hstack([rows, levels, -levels, *([more] if count else [])])
        goals = np.maximum(self.up, self.down)
        worth = np.clip(np.median(goals) / goals, 1 / STEEP, STEEP) if len(goals) else goals
        single, several = worth[self.single], worth[self.sums]
        cost = -np.concatenate([np.zeros(width), single, single, several, several, np.zeros(count)])
        start = np.concatenate([space.start, np.zeros(2 * len(at) + 3 * count)])
        bounds = self._bounds(self.down, np.zeros(len(goals)), space.low, space.high)
        return Solver(Polytope(sparse.csr_array(matrix), start, *bounds, False), dual=True), cost

    def _bounds(self, down: Array, up: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Where a target goes one way, up to its level and beyond, it does not go the other way."""
        at, start = self.at, self.space.start
        rise = np.minimum(up[self.single], high[at] - start[at])
        fall = np.minimum(down[self.single], start[at] - low[at])
        least, most = low.copy(), high.copy()
        least[at] = np.where(fall > 0, low[at] + fall, np.where(rise > 0, start[at], low[at]))
        most[at] = np.where(rise > 0, high[at] - rise, np.where(fall > 0, start[at], high[at]))
        ends = down[self.sums], up[self.sums]
        none, zero = np.zeros(2 * len(at)), np.zeros(2 * len(self.sums))
        return (
            np.concatenate([least, none, zero, np.where(ends[1] > 0, 0.0, -np.inf)]),
            np.concatenate([most, rise, fall, ends[1], ends[0], np.where(ends[0] > 0, 0.0, np.inf)]),
        )
