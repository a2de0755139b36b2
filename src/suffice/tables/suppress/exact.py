"""The pattern of least cost, by cutting planes: Fischetti and Salazar-Gonzalez (2001)."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.tables.secret import Secret
from suffice.tables.solver import Contradiction, NoAnswer, Polytope, Programme, Solver
from suffice.tables.suppress.demand import Demand, PatternRequest
from suffice.tables.suppress.search import CellPattern

VIOLATED = 1e-4
"""By how much a pattern must miss a cut, whose right side is 1."""
WIDE = 10.0
"""Times a level: what the attacker's cells may change by where nothing else holds them."""
NEVER = 1e-9
TOLERANCE = 1e-6
"""Of costs: what the solver leaves between the cheapest choice and its proof."""
WHOLE = 50.0
"""What a master problem in whole numbers takes, in problems of an attacker."""


class ExactSearch:
    """A master problem in the cells, 1 suppressed and 0 published; each attacker who comes too near adds a cut.

    For an attacker on c, any multipliers g of the equations give d = c - T'g and
    c.(x - a) = d.(x - a) <= sum_i (d_i+ above_i + d_i- below_i) y_i, which must not be less than the level.

    work: problems of an attacker in a table of 100 cells, at most: the same on any machine, which seconds are not
    bound: what no pattern costs less than, so far
    last: the cheapest cells that all cuts allow, so far
    """

    def __init__(
        self, request: PatternRequest, start: CellPattern, gap: float, seconds: float, work: float = np.inf
    ) -> None:
        self.request, self.best, self.gap = request, start, gap
        self.end, self.left, self.price = monotonic() + seconds, work, 1 + len(request.table) / 100
        self.bound = 0.0
        self.columns = np.flatnonzero(request.open)
        self.cuts: list[Array] = []
        self.last: Flags | None = None
        self.demands = {demand.key: demand for demand in request.demands()}

    @property
    def by_clock(self) -> bool:
        """Whether no time is left: another machine would have come to another end."""
        return monotonic() >= self.end

    def run(self) -> CellPattern:
        """The best pattern."""
        try:
            for whole in (False, True):
                while True:
                    y = self._master(whole)
                    if self._cost(self.best.gaps) <= self.bound / (1 - self.gap) + NEVER if self.gap < 1 else True:
                        return self.best
                    fresh = self._separated(y)
                    if whole and not fresh:
                        fresh = self._audited(y > 0.5)
                        if not fresh:
                            return self.best
                    if not fresh:
                        break
                    self.cuts += fresh
        except (NoAnswer, Contradiction):  # time or work ended; the pattern there is stays good
            pass
        return self.best

    def _cost(self, gaps: Flags) -> float:
        return float(self.request.cost[gaps & ~self.request.primary].sum())

    def _master(self, whole: bool) -> Array:
        """The cheapest y that all cuts allow."""
        left = self.end - monotonic()
        if left <= 0 or self.left <= 0:
            raise NoAnswer("Neither time nor work is left.")
        request, count = self.request, len(self.columns)
        y = (request.primary | request.always).astype(np.float64)
        if not self.cuts:
            return y
        cuts = np.array(self.cuts)
        known = cuts @ y
        rows = sparse.csr_array(cuts[:, self.columns])
        least = np.maximum(1.0 - known, 0.0)
        answer = Programme(
            request.cost[self.columns],
            rows,
            least,
            np.full(len(least), np.inf),
            np.zeros(count),
            np.ones(count),
            np.full(count, whole),
        ).solve(left, nodes=None if np.isinf(self.left) else int(self.left))
        if answer.stopped:
            raise KeyboardInterrupt
        self.left -= (WHOLE + answer.nodes) * whole
        self.bound = max(self.bound, answer.bound)
        y[self.columns] = np.clip(np.round(answer.x, 9), 0.0, 1.0)
        if whole:
            self.last = y > 0.5
            if answer.cost - answer.bound > NEVER * max(answer.cost, 1.0) + TOLERANCE:
                raise NoAnswer("A cheaper choice of cells may be there.")
        return y

    def _separated(self, y: Array) -> list[Array]:
        """Cuts that y misses, an attacker at a time."""
        found = list[Array]()
        for demand in self.demands.values():
            found += [cut for cut in self._cuts(demand, y) if cut @ y < 1.0 - VIOLATED]
            self.left -= 2 * self.price
            if self.left <= 0 or self.by_clock:
                break
        return found

    def _cuts(self, demand: Demand, y: Array) -> Iterator[Array]:
        """Of one demand: above, below, and both together."""
        goals = (demand.above, demand.below)
        sides = [
            self._weights(demand, y, up, max(goal, demand.span)) for up, goal in zip((1.0, -1.0), goals, strict=True)
        ]
        if any(each is None for each in sides):
            return
        for weights, goal in zip(sides, goals, strict=True):
            if goal > 0 and weights is not None:
                yield np.minimum(weights / goal, 1.0)
        if demand.span > max(goals) and sides[0] is not None and sides[1] is not None:
            yield np.minimum((sides[0] + sides[1]) / demand.span, 1.0)

    def _weights(self, demand: Demand, y: Array, up: float, goal: float) -> Array | None:
        """What every cell lets the attacker's interval reach, were it suppressed."""
        request, relations = self.request, self.request.table.relations
        seen = y.copy()
        seen[list(demand.own)] = 0.0
        low, high = request.room_for(demand)
        below, above = (np.minimum(each, WIDE * goal) for each in (low, high))
        cells = np.flatnonzero(seen > 0)
        cost = up * request.row(demand)
        space = Polytope(
            sparse.csr_array(relations[:, cells]),
            np.zeros(len(cells)),
            -(below * seen)[cells] / goal,
            (above * seen)[cells] / goal,
            False,
        )
        solver = Solver(space)
        try:
            solver.least(-cost[cells])
        except NoAnswer:
            return None
        d = np.round(cost + relations.T @ solver.multipliers(), 7)
        with np.errstate(invalid="ignore"):
            found = np.where(d > 0, d * high, np.where(d < 0, -d * low, 0.0))
        found[request.table.impossible] = 0.0
        return np.asarray(found)

    def _audited(self, gaps: Flags) -> list[Array]:
        """A pattern that misses no cut is audited: it is the best one, or there is more that it must keep."""
        request = self.request
        pattern = gaps & ~request.always | request.primary
        audits = request.audits(pattern, self.best.points)
        exposed = request.exposed(audits)
        worse = any(len(audits[name].unjudged) > len(self.best.audits[name].unjudged) for name in audits)
        if not exposed and not worse:
            self.best = CellPattern(pattern, audits, pattern & ~request.primary, self.best.points)
            return []
        found = list[Array]()
        for demand, target in exposed:
            found += self._kept(demand, target, pattern)
        return found or [self._other(pattern)]

    def _kept(self, demand: Demand, target: Secret, gaps: Flags) -> list[Array]:
        y = (gaps | self.request.always).astype(np.float64)
        if not target.is_sum:
            if demand.key not in self.demands:
                self.demands[demand.key] = demand
                cuts = [cut for cut in self._cuts(demand, y) if cut @ y < 1.0 - VIOLATED]
                if cuts:
                    return cuts
            return [self._more(gaps)]
        cuts = [cut for cut in self._cuts(demand, y) if cut @ y < 1.0 - VIOLATED]
        return [self._while(cut, demand, gaps) for cut in cuts] or [self._other(gaps)]

    def _more(self, gaps: Flags) -> Array:
        """What whole numbers tell of a cell in this pattern, they tell in every part of it: one more cell."""
        return (self.request.open & ~gaps).astype(np.float64)

    def _while(self, cut: Array, demand: Demand, gaps: Flags) -> Array:
        """A cut that holds while these cells, and no others of their equation, are suppressed.

        cut.y >= 1 - (cells of the sum that are published) - (others of the equation that are suppressed)
        """
        request, cells = self.request, np.array([cell for cell, _ in demand.cells])
        rows = request.table.relations.tocsc()
        lines = [set(rows[:, [cell]].indices.tolist()) for cell in cells]
        near = np.unique(request.table.relations[sorted(set.intersection(*lines))].indices)
        found = cut.copy()
        found[near[~gaps[near]]] = 1.0
        return self._unless(found, cells[~request.primary[cells] & ~request.always[cells]])

    def _other(self, gaps: Flags) -> Array:
        """Any other pattern."""
        found = (self.request.open & ~gaps).astype(np.float64)
        return self._unless(found, np.flatnonzero(gaps & self.request.open))

    def _unless(self, cut: Array, cells: NDArray[Any]) -> Array:
        """The cut need not hold where one of the cells is published: found.y >= 1 - sum (1 - y)."""
        some = cells.astype(np.int64)
        primary = np.flatnonzero(self.request.primary)
        found = cut.copy()
        # found.y + len - sum y >= 1 as sum of coefficients with right side 1: the constant rests on a sensitive cell
        found[some] -= 1.0
        found[primary[0]] += len(some)
        return found
