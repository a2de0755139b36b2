"""What Cox (1) and (2) ask: changes y of all cells with T y = 0, sensitive ones by no less than their level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.progress import Progress
from suffice.statistics.safe_cells import far_enough
from suffice.tables.adjust.kernel import FINE, FINEST
from suffice.tables.grid import Grid
from suffice.tables.solver import SECONDS, Answer, Programme

OWN = 24
"""Binary digits of the least size."""
NEAR = 1e-9
"""Of a bound: what a solver's last digits may exceed it by."""
DEAR = 100.0
"""Times the dearest cell: what costs missing a statistic."""
Signs = NDArray[np.int8]
"""1 for up, -1 for down, 0 for a sensitive cell whose direction is open, or one that is not sensitive."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Problem:
    """Changes of the cells of one value after the other.

    original: a, the cells
    relations: T
    down, up: what a sensitive cell changes by at least, in each direction
    low, high: between which changes must lie
    weights: what a unit of change costs
    tilt: the share of that which the key adds to it upwards and takes from it downwards, of sensitive cells
    kept, right: linear statistics of the changes, and what they must be
    """

    grid: Grid
    original: Array
    relations: sparse.csr_array
    sensitive: Flags
    down: Array
    up: Array
    low: Array
    high: Array
    weights: Array
    kept: sparse.csr_array
    right: Array
    tilt: Array | None = None

    @property
    def movable(self) -> Flags:
        return np.asarray(self.low < self.high)

    @property
    def unit(self) -> float:
        """What a thousandth of the largest size is: the solver's tolerances are absolute."""
        return float(np.max(np.maximum(self.up, self.down)[self.sensitive], initial=0.0)) / 1e3 or 1.0

    @property
    def digits(self) -> int:
        """Binary digits below the largest cell that changes need: the least size must have some of its own."""
        least = np.min(np.minimum(self.up, self.down)[self.sensitive], initial=np.inf)
        size = float(np.abs(self.original).max(initial=0.0)) / least if least > 0 else np.inf
        return int(np.clip(np.ceil(np.log2(size or 1.0)) + OWN, FINE, FINEST)) if size < np.inf else FINEST

    @property
    def one_way(self) -> Signs:
        """Signs of sensitive cells that can go in one direction only."""
        up, down = self.sensitive & (self.high >= self.up), self.sensitive & (-self.low >= self.down)
        return (up & ~down).astype(np.int8) - (down & ~up).astype(np.int8)

    def cost(self, y: Array) -> float:
        return float(self.weights @ np.abs(y))

    def misfits(self, y: Array, slack: Array | float = 0.0) -> Flags:
        """Cells that are not safe, or beyond their bounds by more than the last digits, and some more of their own."""
        safe = far_enough(self.original, y, self.down, self.up)
        inside = (y >= self.low - slack + NEAR * self.low) & (y <= self.high + slack + NEAR * self.high)
        return np.asarray(~inside | (self.sensitive & ~safe))

    def fits(self, y: Array, slack: Array | float = 0.0) -> bool:
        return not self.misfits(y, slack).any()

    def least_cost(self, bound: float) -> float:
        """What no changes cost less than, from what they do not with the key's share of it."""
        if self.tilt is None:
            return bound
        return bound - float(self.weights @ np.maximum(self.tilt * self.high, self.tilt * self.low))

    def signs_of(self, y: Array) -> Signs:
        return np.where(self.sensitive, np.sign(y), 0).astype(np.int8)

    def within(self, y: Array, free: Flags, open_: Flags, bound: Flags) -> Problem:
        """The same with the changes of all cells but the free ones as they are.

        open_: sensitive cells whose directions may change; bound: those that are safe, or are to be
        """
        low, high = self.low[free], self.high[free]
        signs = np.where(bound & ~open_, self.signs_of(y), 0).astype(np.int8)[free]
        low = np.where(signs > 0, np.maximum(low, self.up[free]), low)
        high = np.where(signs < 0, np.minimum(high, -self.down[free]), high)
        rows = sparse.csr_array(sparse.vstack([self.relations, self.kept])[:, free])
        touched = np.flatnonzero(np.diff(rows.indptr))
        off = np.concatenate([np.zeros(self.relations.shape[0]), self.right - self.kept @ y])
        rows = sparse.csr_array(rows[touched])
        return replace(
            self,
            original=self.original[free],
            relations=sparse.csr_array((0, len(low))),
            sensitive=(self.sensitive & open_)[free],
            down=self.down[free],
            up=self.up[free],
            low=low,
            high=high,
            weights=self.weights[free],
            tilt=None if self.tilt is None else self.tilt[free],
            kept=rows,
            right=rows @ y[free] + off[touched],
        )

    def nearest(self, rows: Flags, signs: Signs | None = None, **how: Any) -> Array:
        """Changes that miss some of what is kept by as little as can be."""
        pick = np.flatnonzero(rows)
        slack = sparse.csr_array((np.ones(len(pick)), (pick, np.arange(len(pick)))), shape=(len(rows), len(pick)))
        still = sparse.csr_array((self.relations.shape[0], len(pick)))
        none, far = np.zeros(len(pick)), np.full(len(pick), float(np.abs(self.original).sum()))

        def with_(cells: Array, more: Array = none) -> Array:
            return np.concatenate([cells, more])

        missing = replace(
            self,
            original=with_(self.original),
            relations=sparse.csr_array(sparse.hstack([self.relations, still])),
            sensitive=np.concatenate([self.sensitive, none > 0]),
            down=with_(self.down),
            up=with_(self.up),
            low=with_(self.low, -far),
            high=with_(self.high, far),
            weights=with_(self.weights, none + DEAR * self.weights.max(initial=0.0)),
            kept=sparse.csr_array(sparse.hstack([self.kept, slack])),
            tilt=None if self.tilt is None else with_(self.tilt),
        )
        y, _ = missing.solve(None if signs is None else np.concatenate([signs, none.astype(np.int8)]), **how)
        return y[: len(self.original)]

    def solve(self, signs: Signs | None = None, *, largest: bool = False, **how: Any) -> tuple[Array, Answer]:
        """The cheapest changes, or those whose largest is least; signs that are 0 are chosen."""
        return _Layout(self, signs, largest).solve(**how)

    def programme(self, signs: Signs | None = None) -> Programme:
        """As the solver sees it: first the rows of T and the statistics kept."""
        return _Layout(self, signs, False).programme()


def one_sided(problem: Problem, signs: Signs, low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds of changes whose direction is given."""
    low = np.where(signs > 0, np.maximum(low, problem.up), low)
    high = np.where(signs < 0, np.minimum(high, -problem.down), high)
    return low, high


class _Layout:
    """Columns of the programme: y+, y-, the directions I that are open, and the largest change where it counts."""

    def __init__(self, problem: Problem, signs: Signs | None, largest: bool) -> None:
        self.problem, self.largest = problem, largest
        given = problem.one_way if signs is None else np.where(signs == 0, problem.one_way, signs)
        self.low, self.high = one_sided(problem, given.astype(np.int8), problem.low, problem.high)
        self.open = np.flatnonzero(problem.sensitive & (given == 0))
        self.live = np.flatnonzero((self.low != 0) | (self.high != 0))

    def programme(self) -> Programme:
        problem, live, unit = self.problem, self.live, self.problem.unit
        low, high = self.low[live] / unit, self.high[live] / unit
        n, m = len(live), len(self.open)
        where = np.searchsorted(live, self.open)
        pick = sparse.csr_array((np.ones(m), (np.arange(m), where)), shape=(m, n))
        none = sparse.csr_array((m, n))
        least_up, most_up = problem.up[self.open] / unit, high[where]
        least_down, most_down = problem.down[self.open] / unit, -low[where]

        def i(numbers: Array) -> sparse.csr_array:
            return sparse.csr_array(sparse.diags_array(numbers)) if m else sparse.csr_array((0, 0))

        both = sparse.csr_array(sparse.vstack([problem.relations, problem.kept])[:, live])
        T = sparse.hstack([both, -both, sparse.csr_array((both.shape[0], m))])
        rows = [
            T,
            sparse.hstack([pick, none, i(-least_up)]),  # p I <= y+ <= q I
            sparse.hstack([pick, none, i(-most_up)]),
            sparse.hstack([none, pick, i(least_down)]),  # p (1 - I) <= y- <= q (1 - I)
            sparse.hstack([none, pick, i(most_down)]),
        ]
        right = np.concatenate([np.zeros(problem.relations.shape[0]), problem.right / unit])
        inf = np.full(m, np.inf)
        least = np.concatenate([right, np.zeros(m), -inf, least_down, -inf])
        most = np.concatenate([right, inf, np.zeros(m), inf, most_down])
        weights = problem.weights[live]
        tilt = 0.0 if problem.tilt is None or not m else problem.tilt[live]  # with all directions given it is void
        cost = np.concatenate([weights * (1 + tilt), weights * (1 - tilt), np.zeros(m)])
        box = (np.concatenate([np.maximum(low, 0.0), np.maximum(-high, 0.0), np.zeros(m)]),
               np.concatenate([np.maximum(high, 0.0), np.maximum(-low, 0.0), np.ones(m)]))  # fmt: skip
        matrix = sparse.csr_array(sparse.vstack(rows))
        if self.largest:
            matrix, least, most, cost, box = _with_largest(matrix, least, most, box, n)
        whole = np.zeros(len(cost), dtype=bool)
        whole[2 * n : 2 * n + m] = True
        return Programme(cost, matrix, least, most, *box, whole)

    def solve(
        self,
        seconds: float = SECONDS,
        gap: float = 0.0,
        start: Array | None = None,
        progress: Progress | None = None,
    ) -> tuple[Array, Answer]:
        n, unit, y = len(self.live), self.problem.unit, np.zeros(len(self.low))
        point = None
        if start is not None and not self.largest:
            moved = start[self.live] / unit
            chosen = (start[self.open] > 0).astype(float)
            point = np.concatenate([np.maximum(moved, 0), np.maximum(-moved, 0), chosen])
        found = self.programme().solve(seconds, gap, point, progress)
        y[self.live] = unit * (found.x[:n] - found.x[n : 2 * n])
        return y, Answer(y, unit * found.cost, unit * found.bound, found.stopped)


def _with_largest(
    matrix: sparse.csr_array, least: Array, most: Array, box: tuple[Array, Array], n: int
) -> tuple[sparse.csr_array, Array, Array, Array, tuple[Array, Array]]:
    """One column more, that no change exceeds and that alone costs."""
    width = matrix.shape[1]
    one = sparse.eye_array(n)
    limit = sparse.hstack([one, one, sparse.csr_array((n, width - 2 * n)), sparse.csr_array(np.full((n, 1), -1.0))])
    matrix = sparse.csr_array(sparse.vstack([sparse.hstack([matrix, sparse.csr_array((matrix.shape[0], 1))]), limit]))
    least, most = np.concatenate([least, np.full(n, -np.inf)]), np.concatenate([most, np.zeros(n)])
    cost = np.append(np.zeros(width), 1.0)
    return matrix, least, most, cost, (np.append(box[0], 0.0), np.append(box[1], np.inf))
