"""The one door to the solver: extreme points of what an attacker must think possible, and mixed programmes."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import InfeasibleError
from suffice.progress import Progress

FAR = 10.0
"""Times all cells together: beyond that, a cell is called unbounded."""
SCALE = 1e5
"""What the largest cell of a problem in real numbers becomes: the solver's tolerances are absolute, 1e-7."""
NEAR = 1e-7
"""Of the solver's units: what it lets an equation miss."""
SECONDS = 60.0
"""For one whole-number problem."""


class NoAnswer(InfeasibleError):
    """The solver gave no answer that can be relied on."""


class Contradiction(InfeasibleError):
    """The solver has shown that there is no answer."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Polytope:
    """All x with `rows` x = `right` and `low` <= x <= `high`, seen from `start`, one of them."""

    rows: sparse.csr_array
    start: Array
    low: Array
    high: Array
    whole: bool

    @property
    def unit(self) -> float:
        """What one of the solver's units is; whole numbers stay whole."""
        size = float(np.abs(self.start).max(initial=0.0))
        return 1.0 if self.whole or not size else size / SCALE

    @property
    def far(self) -> float:
        """No equation that holds a cell back lets it grow beyond all that there is."""
        return FAR * (float(np.abs(self.start).sum()) or 1.0)

    def box(self) -> tuple[Array, Array]:
        """How far x may go from the start, in the solver's units."""
        low, high = (np.clip(each - self.start, -self.far, self.far) / self.unit for each in (self.low, self.high))
        return np.minimum(low, 0.0), np.maximum(high, 0.0)

    def holds(self, points: Array) -> Flags:
        """Which points, a row each, are some of them, as nearly as the solver's own are."""
        moved, (low, high) = (points - self.start) / self.unit, self.box()
        inside = ((moved >= low - NEAR) & (moved <= high + NEAR)).all(axis=1)
        some = np.flatnonzero(inside)
        kept = np.abs(self.rows @ moved[some].T).max(axis=0, initial=0.0) <= NEAR
        return np.isin(np.arange(len(points)), some[kept])


class Solver:
    """Extreme points of a polytope."""

    def __init__(self, space: Polytope, whole: bool = False, dual: bool = False) -> None:
        """dual: the dual simplex, which goes on from the last point where the bounds change, and not the cost"""
        self.space, self.box = space, space.box()
        self.columns = space.rows.shape[1]
        self.cost = np.zeros(self.columns)
        self.model, self.library = _model(space.rows, *self.box, np.zeros(space.rows.shape[0]), whole)
        if dual:
            self.model.setOptionValue("simplex_strategy", 1)

    def within(self, low: Array, high: Array) -> None:
        """Other bounds for the same equations."""
        before, self.space = self.box, replace(self.space, low=low, high=high)
        self.box = self.space.box()
        some = np.flatnonzero((self.box[0] != before[0]) | (self.box[1] != before[1])).astype(np.int32)
        self.model.changeColsBounds(len(some), some, self.box[0][some], self.box[1][some])

    def least(self, cost: Array) -> Array:
        """The x with the least cost.x."""
        self._aim(cost)
        self.model.run()
        if self.model.getModelStatus() != self.library.HighsModelStatus.kOptimal:
            raise NoAnswer("The solver did not end: some cells could not be audited.")
        return self._checked(np.asarray(self.model.getSolution().col_value))

    def multipliers(self) -> Array:
        """Of the equations, at the last point: cost - rows' multipliers is what each cell could still gain."""
        return np.asarray(self.model.getSolution().row_dual)

    def _aim(self, cost: Array) -> None:
        changed = np.flatnonzero(cost != self.cost).astype(np.int32)
        self.model.changeColsCost(len(changed), changed, cost[changed])
        self.cost = cost

    def _checked(self, moved: Array) -> Array:
        """An answer that is called optimal and violates an equation or a bound is none."""
        low, high = self.box
        off = max(
            np.abs(self.space.rows @ moved).max(initial=0.0),
            (low - moved).max(initial=0),
            (moved - high).max(initial=0),
        )
        if not off <= 1e-5:
            raise NoAnswer(f"The solver's answer violates the table by {off:.1e} of its units: it is not relied on.")
        return np.asarray(self.space.start + self.space.unit * moved)

    def between(self, cost: Array, low: float, high: float) -> bool:
        """Whether there is an x with low <= cost.x <= high."""
        here = float(cost @ self.space.start)
        some = np.flatnonzero(cost).astype(np.int32)
        self.model.addRow(low - here, high - here, len(some), some, cost[some])
        self._aim(np.zeros(self.columns))
        self.model.run()
        status, known = self.model.getModelStatus(), self.library.HighsModelStatus
        self.model.deleteRows(1, np.array([self.space.rows.shape[0]], dtype=np.int32))
        if status not in (known.kOptimal, known.kInfeasible):
            raise NoAnswer("The solver did not end: some cells could not be audited.")
        return bool(status == known.kOptimal)


def some_point(rows: sparse.csr_array, right: Array, low: Array, whole: bool) -> Array:
    """An x with `rows` x = `right` and x >= `low`: values for cells whose own are unknown."""
    unit = 1.0 if whole else float(np.abs(right).max(initial=0.0)) / SCALE or 1.0
    model, library = _model(rows, low / unit, np.full(len(low), np.inf), right / unit, whole)
    model.changeColsCost(len(low), np.arange(len(low), dtype=np.int32), np.where(np.isinf(low), 0.0, 1.0))
    model.run()
    if model.getModelStatus() == library.HighsModelStatus.kInfeasible:
        raise InfeasibleError("The published cells contradict each other: no values of the suppressed cells fit them.")
    if model.getModelStatus() != library.HighsModelStatus.kOptimal:
        raise NoAnswer("No values of the suppressed cells were found: the table could not be audited.")
    found = np.asarray(model.getSolution().col_value)
    return np.rint(found) if whole else unit * found


def _model(rows: sparse.csr_array, low: Array, high: Array, right: Array, whole: bool) -> tuple[Any, Any]:
    """A model of the solver, and the solver's own names."""
    import highspy

    library: Any = highspy
    matrix, program, model = rows.tocsc(), library.HighsLp(), library.Highs()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = np.zeros(len(low))
    program.col_lower_, program.col_upper_ = low, high
    program.row_lower_ = program.row_upper_ = right
    program.a_matrix_.format_ = library.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    if whole:
        program.integrality_ = [library.HighsVarType.kInteger] * len(low)
    for name, setting in _settings(whole).items():
        model.setOptionValue(name, setting)
    model.passModel(program)
    return model, library


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Answer:
    """The best point found, what it costs, and what no point costs less than.

    stopped: whether the search was ended by hand
    nodes: of the search for whole numbers
    """

    x: Array
    cost: float
    bound: float
    stopped: bool = False
    nodes: int = 0

    @property
    def gap(self) -> float:
        return max(0.0, self.cost - self.bound) / max(abs(self.cost), 1e-12)


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Programme:
    """The least cost.x with `least` <= `rows` x <= `most`, `low` <= x <= `high`, some of x whole."""

    cost: Array
    rows: sparse.csr_array
    least: Array
    most: Array
    low: Array
    high: Array
    whole: Flags

    def solve(
        self,
        seconds: float = SECONDS,
        gap: float = 0.0,
        start: Array | None = None,
        progress: Progress | None = None,
        presolve: bool = True,
        nodes: int | None = None,
    ) -> Answer:
        """The best point within the time; what the listener raises ends the search and is raised again.

        An interrupt by hand gives the best point, too, where there is one; a second one does not.
        presolve: whether the solver looks for a smaller problem first, which programmes that begin at rest do not need
        nodes: of the search for whole numbers, at most: unlike seconds they are the same on any machine
        """
        model, library = _model(self.rows, self.low, self.high, np.zeros(self.rows.shape[0]), False)
        count, width = self.rows.shape
        model.changeColsCost(width, np.arange(width, dtype=np.int32), self.cost)
        model.changeRowsBounds(count, np.arange(count, dtype=np.int32), self.least, self.most)
        for name, setting in _OPEN.items():
            model.setOptionValue(name, setting)
        model.setOptionValue("time_limit", float(seconds))
        model.setOptionValue("presolve", "on" if presolve else "off")
        if self.whole.any():
            some = np.flatnonzero(self.whole).astype(np.int32)
            model.changeColsIntegrality(len(some), some, np.full(len(some), library.HighsVarType.kInteger))
            model.setOptionValue("mip_rel_gap", gap)
            model.setOptionValue("mip_abs_gap", 1e-7)
            if nodes is not None:
                model.setOptionValue("mip_max_nodes", max(nodes, 1))
        if start is not None:
            point = library.HighsSolution()
            point.col_value = start.tolist()
            model.setSolution(point)
        with _by_hand() as pressed:
            raised = _told(model, library, progress or (lambda *_: None), seconds, pressed)
            model.run()
        raised += [KeyboardInterrupt()] if pressed and not raised else []
        by_hand = bool(raised) and isinstance(raised[0], KeyboardInterrupt) and len(pressed) < 2
        if raised and not (by_hand and self._found(model)):
            raise raised[0]
        return replace(self._answer(model, library), stopped=bool(raised))

    def _found(self, model: Any) -> bool:
        return bool(self.whole.any()) and model.getInfo().primal_solution_status == 2

    def _answer(self, model: Any, library: Any) -> Answer:
        status, known, info = model.getModelStatus(), library.HighsModelStatus, model.getInfo()
        if status in (known.kInfeasible, known.kUnboundedOrInfeasible):
            raise Contradiction("No values fit all that is asked.")
        whole = bool(self.whole.any())
        if status != known.kOptimal and not self._found(model):
            raise NoAnswer("No answer was found in the time that was given.")
        cost, x = float(info.objective_function_value), np.asarray(model.getSolution().col_value)
        return (
            Answer(x, cost, float(info.mip_dual_bound), nodes=int(info.mip_node_count))
            if whole
            else Answer(x, cost, cost)
        )


_OPEN = {"solver": "choose", "simplex_strategy": 1, "primal_feasibility_tolerance": 1e-9}


@contextmanager
def _by_hand() -> Iterator[list[int]]:
    """Notes interrupts by hand, which would otherwise be raised anywhere inside the solver."""
    pressed, before = list[int](), signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or before in (None, signal.SIG_IGN):
        yield pressed
        return
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _told(model: Any, library: Any, progress: Progress, seconds: float, pressed: Sequence[int]) -> list[BaseException]:
    """Tells the listener of the time spent and the gap; what it raises is kept, and ends the search."""
    raised: list[BaseException] = []
    begin, kinds = monotonic(), library.cb.HighsCallbackType

    def hear(kind: Any, message: str, given: Any, back: Any, data: Any) -> None:
        try:
            gap = given.mip_gap if kind == kinds.kCallbackMipInterrupt else np.inf
            stage = f"adjusting, gap {gap:.1%}" if gap < 1 else "adjusting"
            progress(stage, min(int(100 * (monotonic() - begin) / seconds), 99), 100)
        except BaseException as error:
            raised.append(error)
        if raised or pressed:
            back.user_interrupt = True

    model.setCallback(hear, None)
    for kind in (kinds.kCallbackMipInterrupt, kinds.kCallbackSimplexInterrupt):
        model.startCallback(kind)
    return raised


def _settings(whole: bool) -> dict[str, Any]:
    """The primal simplex goes on from the last point, which stays possible when the objective changes."""
    common = {"output_flag": False, "threads": 1, "random_seed": 1}
    if whole:
        return {**common, "time_limit": SECONDS, "mip_rel_gap": 0.0, "mip_abs_gap": 0.5}
    return {**common, "presolve": "off", "solver": "simplex", "simplex_strategy": 4}
