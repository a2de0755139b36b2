"""The ends of what an attacker must think possible: many secrets at once first, then one by one what is still open."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.tables.secret import POSSIBLE, Secret
from suffice.tables.solver import NoAnswer, Polytope, Solver

CHUNK = 32
FEW = 4
"""Open targets that have problems of their own at once."""
CLOSE = 1e-6
"""Of the largest cell around: what two ends of an interval may lie apart and be one number."""


def _row(matrix: sparse.csr_array, number: int) -> Array:
    begin, end = matrix.indptr[number : number + 2]
    found = np.zeros(matrix.shape[1])
    found[matrix.indices[begin:end]] = matrix.data[begin:end]
    return found


def costs_of(targets: Sequence[Secret], cells: NDArray[np.int64]) -> sparse.csr_array:
    """Targets as rows over some cells."""
    place = {cell: number for number, cell in enumerate(cells.tolist())}
    triples = [(n, place[cell], sign) for n, target in enumerate(targets) for cell, sign in target.cells]
    row, column, sign = np.array(triples, dtype=np.int64).reshape(-1, 3).T
    return sparse.csr_array((sign.astype(float), (row, column)), shape=(len(targets), len(place)))


class Chase:
    """Targets in one polytope: many at once first, then one by one what is still open."""

    def __init__(self, space: Polytope, cells: NDArray[np.int64], whole: bool, exact: bool, threads: int) -> None:
        self.space, self.whole, self.exact = space, whole, exact
        self.threads, self.border = threads, space.far * (1 - 1e-6)
        self.cells = cells
        self.points = list[Array]()
        """What the solver found possible."""

    def run(self, targets: Sequence[Secret], points: Sequence[Array] = ()) -> list[Secret]:
        """Targets with their ends; points: what may be possible, which is looked at before it is believed."""
        costs = costs_of(targets, self.cells)
        seen = Seen(costs, targets, self.space, self.whole)
        at = np.unique(costs.indices)  # what moves no target shows nothing
        points = [point for point in points if (point[at] != self.space.start[at]).any()]
        if points:
            for point in np.asarray(points)[self.space.holds(np.asarray(points))]:
                seen.add(point)
        try:
            if not self.exact:
                self._together(costs, seen)
            self._alone(costs, seen)
        except NoAnswer as problem:
            return [replace(each, why=str(problem)) for each in targets]
        return [self._told(number, target, costs, seen) for number, target in enumerate(targets)]

    def _together(self, costs: sparse.csr_array, seen: Seen) -> None:
        """Random objectives, all open targets up and all down, for as long as that closes some."""
        if seen.open.sum() <= FEW:
            return
        rng, solver = np.random.default_rng(1), Solver(self.space)
        while True:
            before = seen.open.sum()
            for sign, side in ((1.0, seen.open_low), (-1.0, seen.open_high)):
                mix = np.where(side, rng.uniform(0.5, 1.5, len(side)), 0.0)
                if side.any():
                    self.points.append(solver.least(sign * np.asarray(costs.T @ mix)))
                    seen.add(self.points[-1])
            if not seen.open.any() or before - seen.open.sum() <= 0.02 * before:
                return

    def _alone(self, costs: sparse.csr_array, seen: Seen) -> None:
        open_ = np.arange(len(seen.low)) if self.exact else np.flatnonzero(seen.open)
        chunks = [open_[begin : begin + CHUNK] for begin in range(0, len(open_), CHUNK)]

        costs.sum_duplicates()

        def ends(chunk: NDArray[np.int64]) -> list[tuple[int, float, float, list[Array]]]:
            solver, found = Solver(self.space), []
            for number in chunk:
                cost = _row(costs, int(number))
                points = [solver.least(cost), solver.least(-cost)]
                found.append((int(number), float(cost @ points[0]), float(cost @ points[1]), points))
            return found

        with ThreadPoolExecutor(self.threads) as pool:
            for chunk in pool.map(ends, chunks):
                for number, low, high, points in chunk:
                    for point in points if self.whole or not self.exact else ():
                        self.points.append(point)
                        seen.add(point)
                    seen.end(number, low, high)

    def _told(self, number: int, target: Secret, costs: sparse.csr_array, seen: Seen) -> Secret:
        low, high = (self._far(each, seen.start[number]) for each in (seen.low[number], seen.high[number]))
        found: dict[str, Any] = {"low": low, "high": high, "exact": bool(seen.ended[number])}
        if self.whole:
            try:
                found["numbers"] = self._numbers(number, costs, seen)
            except NoAnswer as problem:
                found |= {"low": np.nan, "why": str(problem)}
        return replace(target, room=float(seen.room[number]), **found)

    def _far(self, end: float, start: float) -> float:
        """An end at the border of the solver's world is no end."""
        return float(end if abs(end - start) < self.border else np.copysign(np.inf, end - start))

    def _numbers(self, number: int, costs: sparse.csr_array, seen: Seen) -> int:
        """How many whole numbers are possible, at most three."""
        some = seen.numbers[number]
        room = np.floor(seen.high[number] + 1e-6) - np.ceil(seen.low[number] - 1e-6) + 1
        if len(some) >= POSSIBLE:
            return POSSIBLE
        if seen.ended[number] and room <= len(some):
            return len(some)
        cost = _row(costs, number)
        solver = Solver(self.space, whole=True)
        ends = [round(float(cost @ solver.least(sign * cost))) for sign in (1.0, -1.0)]
        some = some | set(ends)
        if len(some) < POSSIBLE and ends[1] - ends[0] > 1 and solver.between(cost, ends[0] + 1, ends[1] - 1):
            return POSSIBLE
        return min(len(some), POSSIBLE)


class Seen:
    """What points of the polytope have shown of the targets."""

    def __init__(self, costs: sparse.csr_array, targets: Sequence[Secret], space: Polytope, whole: bool) -> None:
        self.costs, self.whole = costs, whole
        at = np.asarray(costs @ space.start)
        self.low, self.high = at.copy(), at.copy()
        self.ended = np.zeros(len(targets), dtype=bool)
        self.start, self.room = at, CLOSE * np.maximum(np.abs(at), space.unit)
        self.goal_low = at - np.maximum([target.lower for target in targets] - self.room, 0.0)
        self.goal_high = at + np.maximum([target.upper for target in targets] - self.room, 0.0)
        self.numbers: list[set[int]] = [set() for _ in targets]
        self.add(space.start)

    def add(self, point: Array) -> None:
        at = np.asarray(self.costs @ point)
        self.low, self.high = np.minimum(self.low, at), np.maximum(self.high, at)
        if self.whole and np.abs(point - np.rint(point)).max(initial=0.0) < 1e-6:
            for some, number in zip(self.numbers, np.rint(at).astype(int), strict=True):
                if len(some) < POSSIBLE:
                    some.add(int(number))

    def end(self, number: int, low: float, high: float) -> None:
        self.low[number], self.high[number], self.ended[number] = low, high, True

    @property
    def _few(self) -> Flags:
        if self.whole:
            return np.array([len(some) < POSSIBLE for some in self.numbers])
        return np.asarray(self.high - self.low <= 3 * self.room)

    @property
    def open_low(self) -> Flags:
        return np.asarray((self.low > self.goal_low) | self._few)

    @property
    def open_high(self) -> Flags:
        return np.asarray((self.high < self.goal_high) | self._few)

    @property
    def open(self) -> Flags:
        return self.open_low | self.open_high
