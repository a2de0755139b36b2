"""Possible tables that show many targets safe from many attackers, so that few problems are left to be solved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.tables.chase import Seen, costs_of
from suffice.tables.reach import Reach
from suffice.tables.secret import POSSIBLE, Secret
from suffice.tables.solver import NEAR, Polytope

MANY = 200
"""Possible tables that are kept."""


class Screen:
    """What is known to be possible in one polytope, for attackers who have further bounds in it."""

    def __init__(
        self, space: Polytope, cells: NDArray[np.int64], targets: Sequence[Secret], points: Sequence[Array]
    ) -> None:
        self.space, self.costs = space, costs_of(targets, cells)
        self.seen = Seen(self.costs, targets, space, space.whole)
        room = self.seen.room
        goals = [self.seen.start - self.seen.goal_low, self.seen.goal_high - self.seen.start]
        if space.whole:  # the next whole number
            goals = [np.maximum(np.ceil(goal - room), 1.0) for goal in goals]
        self.reach = Reach(space, self.costs, *(np.maximum(goal + room / 2, 4 * room) for goal in goals))
        known = [point for point in points if space.holds(point)]
        self.known = {target.cells for target in targets}
        self.columns, self.positive = self.costs.tocsc(), np.asarray(self.costs.min(axis=1).toarray()).ravel() >= 0
        self.moves = np.zeros((0, len(cells)))
        self.shown = np.zeros((len(targets), 0))
        self.add([*known, *self.reach.points(space.low, space.high)])

    def add(self, points: Sequence[Array]) -> None:
        """What is possible for one is possible for anybody."""
        moves = self._moves(points[: MANY - len(self.moves)])
        self.moves = np.concatenate([self.moves, moves])
        self.shown = np.concatenate([self.shown, self.costs @ moves.T], axis=1)

    def open(self, low: Array, high: Array, down: Array) -> tuple[Flags, list[Array]]:
        """Targets that nothing shows safe yet within these bounds, and possible tables that were found.

        Of the way to a possible table any share is possible too; for what no such shows there are tables of its own.
        down: how far below each target must go, at most
        """
        space = self.space
        some = np.flatnonzero((low != space.low) | (high != space.high))
        moves = self.moves[:, some]
        room = np.where(moves < 0, (space.start - low)[some], (high - space.start)[some])
        moved = np.abs(moves) > NEAR * space.unit
        steps = np.divide(room, np.abs(moves), out=np.ones_like(moves), where=moved).min(axis=1, initial=1.0)
        if space.whole:  # a share of a whole number is none
            steps = np.floor(steps)
        open_, points = self._open(steps * self.shown, down), list[Array]()
        if open_.any():
            points = self.reach.points(low, high)
            open_ &= self._open(self.costs @ self._moves(points).T, down)
            self.add(points)
        return open_, points

    def touched(self, columns: NDArray[np.int64]) -> Flags:
        """Targets that hold one of these cells."""
        found = np.zeros(self.columns.shape[0], dtype=bool)
        for column in columns:
            found[self.columns.indices[self.columns.indptr[column] : self.columns.indptr[column + 1]]] = True
        return found

    def down(self, columns: NDArray[np.int64], part: Array) -> Array:
        """How far targets may go down for one who knows parts of cells: his own part is no secret from him."""
        known = np.zeros(self.columns.shape[1])
        known[columns] = part
        touched = self.touched(columns) & self.positive  # what is taken away has no highest part
        return np.where(touched, np.maximum(self.seen.start - self.costs @ known, 0.0), np.inf)

    def _moves(self, points: Sequence[Array]) -> Array:
        found = np.array(points).reshape(len(points), len(self.space.start)) - self.space.start
        if self.space.whole:
            found = np.rint(found[np.abs(found - np.rint(found)).max(axis=1, initial=0.0) < 1e-6])
        return np.asarray(found)

    def _open(self, shown: Array, down: Array) -> Flags:
        """Which targets lack a side, by how far tables take them."""
        seen = self.seen
        low, high = shown.min(axis=1, initial=0.0), shown.max(axis=1, initial=0.0)
        few = high - low <= 3 * seen.room
        if self.space.whole:
            few = np.array([len({0, *each.astype(int).tolist()}) < POSSIBLE for each in shown], dtype=bool)
        below = np.minimum(seen.start - seen.goal_low, np.maximum(down - seen.room, 0.0))
        return np.asarray((-low < below) | (high < seen.goal_high - seen.start) | few)
