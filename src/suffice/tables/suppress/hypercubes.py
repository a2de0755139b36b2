"""Hypercubes with capacity around sensitive cells: cells whose codes are those of the cell or of one other cell."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.tables.axis import Axis
from suffice.tables.suppress.demand import Demand, PatternRequest

SPARSE = 8
"""Times the cells: crossings of all codes, beyond which they are not laid out."""
WORK = 1e8
"""Corners that are looked at, at most."""


class Hypercubes:
    """For one cell after the other the cheapest hypercube that can carry its levels, those in use being free.

    A change of the corners by one amount, with signs that alternate, keeps all sums: where every corner has so much
    room both ways, the cell can be at its levels.
    """

    def __init__(self, request: PatternRequest) -> None:
        self.request, axes = request, request.table.grid.axes
        codes = request.table.grid.codes
        self.codes = codes
        self.at = np.full([len(axis.codes) for axis in axes], -1)
        self.at[tuple(codes.T)] = np.arange(len(codes))
        self.kin = [_kin(axis) for axis in axes]
        self.leaf = [np.isin(np.arange(len(axis.codes)), axis.leaves) for axis in axes]
        price = np.where(request.primary | request.always, 0.0, np.where(request.open, request.cost, np.inf))
        self.price = np.where(self.at < 0, 0.0, price[self.at])
        self.changes = {each.value: np.zeros(len(codes)) for each in request.given}
        """Of all hypercubes together, by value: which ways cells can go at once, though perhaps not so far."""

    @classmethod
    def fit(cls, request: PatternRequest) -> bool:
        """Whether a table is one that they can be looked for in."""
        size = float(np.prod([float(len(axis.codes)) for axis in request.table.grid.axes]))
        corners = size * 2.0 ** len(request.table.grid.axes)
        return size <= SPARSE * len(request.table) and corners * float(request.primary.sum()) <= WORK

    def pattern(self) -> Flags:
        """The cells of all hypercubes; what none was found for is left to others."""
        found = self.request.primary.copy()
        for demand in sorted(self.request.demands(), key=lambda each: -max(each.below, each.above)):
            corners = self._cheapest(demand)
            if corners is not None:
                cells = self.at[corners].ravel()
                found[cells[cells >= 0]] = True
                self.price[corners] = 0.0
                self._change(demand, corners)
        return np.asarray(found & (self.request.primary | self.request.open))

    def _change(self, demand: Demand, corners: tuple[NDArray[np.intp], ...]) -> None:
        change, cell = self.changes[demand.value], demand.cells[0][0]
        down, up = demand.sides(float(self.request.room(demand.value)[0][cell]))
        size = up if change[cell] >= 0 else -down
        signs = [np.where(each.ravel() == own, 1.0, -1.0) for each, own in zip(corners, self.codes[cell], strict=True)]
        sign = np.array(1.0)
        for each in signs:
            sign = np.multiply.outer(sign, each)
        here = self.at[corners] >= 0
        change[self.at[corners][here]] += size * sign[here]

    def _cheapest(self, demand: Demand) -> tuple[NDArray[np.intp], ...] | None:
        cell = demand.cells[0][0]
        place, room = self.codes[cell], self._room(demand.value)
        down, up = demand.sides(float(self.request.room(demand.value)[0][cell]))
        others = [self._others(axis, place) for axis in range(len(place))]
        if any(each is None for each in others):
            return None
        some = [each for each in others if each is not None]
        cost, able = np.zeros([len(each) for each in some]), np.ones([len(each) for each in some], dtype=bool)
        for far in product((False, True), repeat=len(some)):
            away = [here and bool((each != own).any()) for here, each, own in zip(far, some, place, strict=True)]
            if away != list(far) or not any(far):
                continue
            corner = np.ix_(*[each if gone else own for gone, each, own in zip(far, some, place[:, None], strict=True)])
            fall, rise = (up, down) if sum(far) % 2 else (down, up)  # of this corner, while the cell rises, and falls
            cost = cost + self.price[corner]
            able = able & (room[0][corner] >= fall) & (room[1][corner] >= rise)
        cost = np.where(able, cost, np.inf)
        best = np.unravel_index(np.argmin(cost), cost.shape) if cost.size else ()
        if not cost.size or not np.isfinite(cost[best]):
            return None
        return np.ix_(*[np.unique([own, each[k]]) for own, each, k in zip(place, some, best, strict=True)])

    def _others(self, axis: int, place: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Codes that may stand for the cell's own; of a sum of codes its own, where the table does not cross them."""
        code = int(place[axis])
        if self.leaf[axis][code]:
            return self.kin[axis][code]
        line = list(place)
        line[axis] = slice(None)
        return None if (self.at[tuple(line)] >= 0).sum() > 1 else place[axis : axis + 1]

    def _room(self, value: str) -> tuple[Array, Array]:
        below, above = self.request.room(value)
        below = np.minimum(below, self.request.left(value))
        return tuple(np.where(self.at < 0, np.inf, each[self.at]) for each in (below, above))  # type: ignore[return-value]


def _kin(axis: Axis) -> list[NDArray[np.int64]]:
    """For every lowest code the others that are in the same sums; itself where it is in none."""
    sums: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, (_, line) in enumerate(axis.sums):
        for child, sign in line:
            sums[child].append((number, sign))
    leaves = set(axis.leaves)
    alike: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
    for code in axis.leaves:
        alike[tuple(sums[code])].append(code)
    found = []
    for code in range(len(axis.codes)):
        group = alike[tuple(sums[code])] if code in leaves else []
        found.append(np.array([each for each in group if each != code] if sums[code] else [code], dtype=np.int64))
    return found
