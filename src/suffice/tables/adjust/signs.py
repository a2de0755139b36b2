"""In which direction each sensitive cell goes: by a programme, by Cox's ordering, or block by block."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.progress import Progress
from suffice.tables.adjust.problem import Problem, Signs
from suffice.tables.grid import Grid, Places
from suffice.tables.solver import SECONDS, Answer, Contradiction, NoAnswer

BLOCK = 4
"""Sensitive cells whose directions are chosen together."""
CODES = 4
"""Codes of a dimension that a block has beside those of its sensitive cells and their totals."""
LARGE = 20_000
"""Cells of a table above which no programme of the whole is solved."""
NEAR, LONG = 1e-2, 20.0
"""Gap and seconds of the programme of a block."""
START = 5.0
"""Seconds for a start of the programme."""
FEW = 1e-3
"""Of the cost: a round of blocks that gains less is the last."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Directions:
    """Changes, and how they were found.

    bound: what no table costs less than; not a number where nothing is known of that
    freed: cells whose direction the ordering could not give
    eased: cells without room for the size that was drawn
    stopped: whether the search was ended by hand
    """

    y: Array
    cost: float
    bound: float
    freed: int = 0
    eased: int = 0
    stopped: bool = False


@dataclass(frozen=True)
class Budget:
    """How long to look, how near is near enough, and whom to tell."""

    seconds: float = SECONDS
    gap: float = 0.0
    progress: Progress | None = None


def exact(problem: Problem, limit: Budget) -> Directions:
    """The programme of Cox (1) and (2), from the changes of the ordering where these fit."""
    try:
        begin, _ = problem.solve(alternating(problem), seconds=min(START, limit.seconds))
    except (Contradiction, NoAnswer):
        begin = None
    y, answer = problem.solve(seconds=limit.seconds, gap=limit.gap, start=begin, progress=limit.progress)
    return settled(problem, y, answer)


def settled(problem: Problem, y: Array, answer: Answer | None = None, freed: int = 0) -> Directions:
    """The cheapest changes in the directions that were found: the programme's own have its tolerances."""
    y, again = problem.solve(problem.signs_of(y))
    if answer is None:
        return Directions(y, again.cost, np.nan, freed)
    return Directions(y, again.cost, problem.least_cost(answer.bound), freed, stopped=answer.stopped)


def ordering(problem: Problem, limit: Budget, repair: bool = True) -> Directions:
    """Largest first, up and down by turns (Cox, section 5); cells tied by an equation move together.

    repair: where the rest does not fit, the directions of the smallest cells are chosen by a programme
    """
    order, signs, freed = tied_groups(problem), alternating(problem), 0
    while True:
        try:
            y, _ = problem.solve(signs, seconds=limit.seconds, gap=max(limit.gap, 0.05), progress=limit.progress)
            return settled(problem, y, freed=sum(len(group) for group in order[len(order) - freed :]))
        except Contradiction:
            if not repair or freed == len(order):
                raise
        freed = min(2 * freed or 1, len(order))
        for cell, _ in [pair for group in order[len(order) - freed :] for pair in group]:
            signs[cell] = 0


def alternating(problem: Problem) -> Signs:
    """Up and down by turns, the largest cell first; of every two, the key says which goes up: else anybody knows."""
    signs, first = problem.one_way, 1
    for number, group in enumerate(tied_groups(problem)):
        first = -first if number % 2 else -1 if problem.tilt is not None and problem.tilt[group[0][0]] < 0 else 1
        for cell, sign in group:
            signs[cell] = signs[cell] or first * sign
    return signs


def tied_groups(problem: Problem) -> list[list[tuple[int, int]]]:
    """Sensitive cells, largest first; those that an equation of two cells ties are one group, each with its sign."""
    both = sparse.csr_array(problem.relations)
    live = problem.movable.astype(float)
    tied: dict[int, dict[int, int]] = {}
    for row in np.flatnonzero(abs(both) @ live == 2):
        begin, end = both.indptr[row : row + 2]
        some = [k for k in range(begin, end) if live[both.indices[k]] and both.data[k]]
        one, two = (int(both.indices[k]) for k in some)
        sign = -int(both.data[some[0]] * both.data[some[1]])
        tied.setdefault(one, {})[two] = tied.setdefault(two, {})[one] = sign
    found, seen = [], set[int]()
    for first in sorted(np.flatnonzero(problem.sensitive).tolist(), key=lambda cell: -abs(problem.original[cell])):
        if first in seen:
            continue
        group, waiting = {first: 1}, [first]
        while waiting:
            cell = waiting.pop()
            for other, sign in tied.get(cell, {}).items():
                if other not in group:
                    group[other] = group[cell] * sign
                    waiting.append(other)
        seen |= set(group)
        found.append([(cell, sign) for cell, sign in group.items() if problem.sensitive[cell]])
    return found


def blocks(problem: Problem, limit: Budget, generator: np.random.Generator) -> Directions:
    """Few sensitive cells at a time, with the cells around them and all totals of these; the rest stays as it is."""
    until, work = monotonic() + limit.seconds, _Blocks(problem, generator)
    secret = np.flatnonzero(problem.sensitive)
    done = np.zeros(len(problem.original), dtype=bool)
    y = np.zeros(len(done))
    while not done[secret].all():  # first each cell is made safe, then all are looked at again
        targets = work.near(secret[~done[secret]])
        y = work.improved(y, targets, done | np.isin(np.arange(len(done)), targets), until)
        done[targets] = True
        _tell(limit, int(done[secret].sum()), 2 * len(secret))
    cost, patience = problem.cost(y), 0
    while patience < 2 and monotonic() < until:
        left = generator.permutation(secret)
        while len(left) and monotonic() < until:
            targets = work.near(left)
            left = left[~np.isin(left, targets)]
            try:
                y = work.improved(y, targets, done, until)
            except NoAnswer:
                break
            _tell(limit, 2 * len(secret) - len(left), 2 * len(secret) + 1)
        before, cost = cost, problem.cost(y)
        patience = patience + 1 if before - cost <= FEW * cost else 0
    if len(y) <= LARGE:
        return settled(problem, y)
    return Directions(y, problem.cost(y), np.nan)


def _tell(limit: Budget, done: int, of: int) -> None:
    if limit.progress is not None:
        limit.progress("adjusting", min(done, of - 1), of)


class _Blocks:
    """Parts of a table that are closed: with a cell, all its totals."""

    def __init__(self, problem: Problem, generator: np.random.Generator) -> None:
        self.problem, self.generator, self.grid = problem, generator, problem.grid
        self.cells = len(self.grid.codes)
        self.above = [_above(self.grid, number) for number in range(len(self.grid.axes))]

    def near(self, left: Places) -> Places:
        """Sensitive cells of one value that share codes with the first of those that are left."""
        same = left[left // self.cells == left[0] // self.cells]
        codes = self.grid.codes[same % self.cells]
        alike = (codes == codes[0]).sum(axis=1) + self.generator.random(len(same))
        return np.asarray(same[np.argsort(-alike, kind="stable")[:BLOCK]])

    def improved(self, y: Array, targets: Places, bound: Flags, until: float) -> Array:
        """Changes that cost less, or as much; a block in which nothing fits grows."""
        times = 1
        while True:
            free = self._free(targets, times)
            part = self.problem.within(y, free, np.isin(np.arange(len(y)), targets), bound)
            try:
                seconds = min(max(until - monotonic(), 1.0), LONG)
                moved, _ = part.solve(seconds=seconds, gap=NEAR, start=y[free] if self.safe(y, targets) else None)
            except Contradiction:
                if free.sum() >= self.cells:
                    raise
                times *= 2
                continue
            found = y.copy()
            found[free] = moved
            return found

    def safe(self, y: Array, cells: Places) -> bool:
        """Whether these cells are safe already: then the changes are a start."""
        return bool(((y >= self.problem.up) | (y <= -self.problem.down))[cells].all())

    def _free(self, targets: Places, times: int) -> Flags:
        value, here = int(targets[0]) // self.cells, self.grid.codes[targets % self.cells]
        inside = np.ones(self.cells, dtype=bool)
        for number, axis in enumerate(self.grid.axes):
            some = np.zeros(len(axis.codes), dtype=bool)
            some[here[:, number]] = True
            more = min(CODES * times, len(axis.leaves))
            some[self.generator.choice(axis.leaves, more, replace=False)] = True
            some |= (self.above[number] @ some.astype(float)) > 0
            inside &= some[self.grid.codes[:, number]]
        free = np.zeros(len(self.problem.original), dtype=bool)
        free[value * self.cells :][: self.cells] = inside
        return free


def _above(grid: Grid, number: int) -> sparse.csr_array:
    """Codes x codes: 1 where the first holds all of the second."""
    member = grid.axes[number].member
    shared = sparse.coo_array(member @ member.T)
    size = np.diff(member.indptr)
    full = shared.data == size[shared.col]
    return sparse.csr_array((np.ones(full.sum()), (shared.row[full], shared.col[full])), shape=(len(size), len(size)))
