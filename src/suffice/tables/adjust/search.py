"""From a problem to changes: directions, sizes that have room, statistics to the last digits, and why nothing fits."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.errors import InfeasibleError, count_of
from suffice.rows.threads import one_blas_thread
from suffice.statistics.statistic import BOUND
from suffice.tables.adjust.adjustment import LEVELS
from suffice.tables.adjust.explain import explain, possible
from suffice.tables.adjust.kernel import FINEST, TableKernel, drift, rounded, steps
from suffice.tables.adjust.moments import CellSets, exactly, newton
from suffice.tables.adjust.opening import open_at_best, opened
from suffice.tables.adjust.problem import Problem, Signs
from suffice.tables.adjust.request import AdjustmentRequest, Limits
from suffice.tables.adjust.signs import LARGE, Budget, Directions, alternating, blocks, exact, ordering
from suffice.tables.adjust.squares import descended, squares
from suffice.tables.adjust.whole import whole_changes
from suffice.tables.solver import Contradiction, NoAnswer

EASE = 0.05
"""Gap of the programme that looks for room where drawn sizes have none."""
PROVEN = 3e-6
"""Of the cost: a gap that the solver's last digits, and the key's share of the cost, may make."""
NEAR = 0.01
"""Gap of the programme where second moments are kept: its linear parts are not the last word."""
TURNS, TURN = 3, 0.3
"""How often other directions are tried where some have no exact statistics, and what the key adds to their cost."""

Failed = tuple[Contradiction, Signs, Array]
"""What had no answer, in which directions, and at which changes its equations were linearised."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class AdjustmentSearch:
    """How the changes of a request are found.

    limits: capacities, fixed cells and what everybody knows
    family: sets whose statistics stay
    repair: where the ordering does not fit, directions of the smallest cells are chosen
    """

    asked: AdjustmentRequest
    limits: Limits
    family: CellSets | None
    how: str
    limit: Budget
    repair: bool

    @property
    def signs(self) -> str:
        """Large tables are adjusted block by block."""
        large = len(self.asked.table) * len(self.asked.given) > LARGE
        return "blocks" if self.how == "best" and large and self.family is None else self.how

    def found(self, start: Array | None = None) -> tuple[Problem, Directions, Array, dict[str, int]]:
        """Directions and changes, to the last digits; from changes that have room, where such are known."""
        problem = self.asked.problem(*self.limits, ends=False)
        if start is None:
            problem, choice = self.chosen(self.asked.problem(*self.limits), problem)
        else:
            choice = Directions(start, np.nan, np.nan, eased=int(problem.sensitive.sum()))
        y, places = self.finished(problem, choice.y)
        if self.family is not None and self.asked.keep is not None and not self.asked.whole:
            kept = self.family.promise(self.asked.keep).ratios(problem.original, problem.original + y)
            lost = ", ".join(name for name, (_, ratio) in kept.items() if ratio > BOUND)
            if lost:
                raise InfeasibleError(
                    f"Not kept to the last digits: {lost}.\nName fewer sets, or raise q or the capacities."
                )
        return problem, choice, y, places

    def exact_near(self, y: Array) -> Array:
        """Changes in the directions of these that have all statistics exactly, and room for all sizes."""
        asked, family = self.asked, self.family
        assert family is not None
        assert asked.keep is not None
        problem, kernels = asked.problem(*self.limits, ends=False), [TableKernel(asked.table)] * len(asked.given)
        with one_blas_thread():
            found = newton(problem, family, asked.keep, kernels, self._approached(problem, asked.keep, y)[0])
            if not exactly(problem, family, asked.keep, kernels, found):
                raise Contradiction("In these directions no changes have exact statistics.")
        return found

    def nearest_in(self, signs: Signs) -> Array:
        """Changes in these directions that miss the linear parts of second moments least."""
        problem = self._with_statistics(self.asked.problem(*self.limits, ends=False))
        return problem.nearest(self._seconds, signs, seconds=self.limit.seconds)

    def chosen(self, problem: Problem, wide: Problem) -> tuple[Problem, Directions]:
        """Directions and changes; second moments are in the programme with their linear parts.

        wide: the same with all the room above the sizes, and smaller sizes, for where nothing fits
        """
        try:
            return self._with_room(*map(self._with_statistics, (problem, wide)))
        except Contradiction as error:
            first = error
        if self.asked.keep == "moments" and self.signs != "blocks":  # not linear: that these parts cannot is no proof
            with suppress(Contradiction):
                return wide, Directions(self._turned(self._with_statistics(wide)), np.nan, np.nan)
        raise self.why(wide, alternating(wide) if self.signs == "ordering" else None) from first

    def _with_room(self, problem: Problem, wide: Problem) -> tuple[Problem, Directions]:
        try:
            return problem, self._chosen(problem)
        except Contradiction:
            if self.asked.sizes != "drawn" or self.signs == "blocks":
                raise
        try:
            return wide, self._chosen(wide)
        except Contradiction:
            eased, count = self._eased(wide)
            return eased, replace(self._chosen(eased), eased=count)

    def _with_statistics(self, problem: Problem, at: Array | None = None) -> Problem:
        if self.family is None or self.asked.keep is None:
            return problem
        kept, right = self.family.rows(self.asked.keep, at)
        return replace(problem, kept=kept, right=right)

    @property
    def _seconds(self) -> Flags:
        """Which of the statistics in the programme are second moments."""
        assert self.family is not None
        sets = len(self.family.names)
        return np.arange(sets + len(self.family.pairs)) >= sets

    def _eased(self, problem: Problem) -> tuple[Problem, int]:
        """Sizes that were drawn and have no room are drawn anew between the level and what there is room for."""
        down, up = (np.concatenate([getattr(each, name) for each in self.asked.given]) for name in LEVELS)
        secret = problem.sensitive
        wide = replace(problem, down=np.where(secret, down, 0), up=np.where(secret, up, 0), tilt=None)
        wide = replace(wide, weights=-np.where(secret, 1 / np.where(secret, up, 1), 0.0))
        narrow = replace(
            wide,
            low=np.where(secret, np.maximum(wide.low, -problem.down), wide.low),
            high=np.where(secret, np.minimum(wide.high, problem.up), wide.high),
        )
        try:
            y, _ = narrow.solve(seconds=self.limit.seconds, gap=EASE)
        except Contradiction:
            y, _ = wide.solve(seconds=self.limit.seconds, gap=EASE)
        over, under = (y > 0) & (y < problem.up), (y < 0) & (-y < problem.down)
        share = self.asked.draws("sizes")
        ups = np.where(secret & over, up + share * (np.abs(y) - up) * (1 - 1e-6), problem.up)
        downs = np.where(secret & under, down + share * (np.abs(y) - down) * (1 - 1e-6), problem.down)
        ups, downs = self._grained(ups, up), self._grained(downs, down)
        return replace(problem, up=ups, down=downs), int((secret & (over | under)).sum())

    def _grained(self, sizes: Array, level: Array) -> Array:
        """Sizes in multiples of what changes are, where these are not below the level."""
        found, width = sizes.copy(), len(self.asked.table)
        for number in range(len(self.asked.given)):
            own, grain = slice(number * width, (number + 1) * width), self.asked.grain(number)
            if grain is not None:
                less = grain.below(sizes[own])
                found[own] = np.where(less >= level[own], less, sizes[own])
        return found

    def _chosen(self, problem: Problem) -> Directions:
        asked, bound = self.asked, np.nan
        if asked.objective == "largest":
            _, answer = problem.solve(largest=True, seconds=self.limit.seconds, progress=self.limit.progress)
            most, bound = answer.cost * (1 + 1e-9), answer.bound
            problem = replace(problem, low=np.maximum(problem.low, -most), high=np.minimum(problem.high, most))
        if self.signs == "ordering":
            choice = ordering(problem, self.limit, self.repair)
        elif self.signs == "blocks":
            choice = blocks(problem, self.limit, asked.stream.generator("blocks"))
        else:
            near = max(self.limit.gap, NEAR) if asked.keep == "moments" else self.limit.gap  # there a start, no more
            choice = exact(problem, replace(self.limit, gap=near))
        if asked.objective == "l2":
            choice = replace(choice, y=descended(problem, problem.signs_of(choice.y), self.limit), bound=np.nan)
        return replace(choice, bound=bound) if asked.objective == "largest" else choice

    def finished(self, problem: Problem, y: Array) -> tuple[Array, dict[str, int]]:
        """Changes whose sums hold to the last digit, within their bounds; and decimals of cells that have few."""
        asked, kernels = self.asked, [TableKernel(self.asked.table)] * len(self.asked.given)
        originals = np.split(problem.original, len(kernels))
        by = steps(originals, problem.digits)
        if self.family is not None and asked.keep is not None:
            by = steps(originals, FINEST)
            with one_blas_thread():
                problem, y = self._met(problem, self.family, asked.keep, kernels, y)
                if not asked.whole:
                    y = opened(asked, problem, self.family, asked.keep, kernels, y)
        if asked.whole:
            generator = asked.stream.generator("whole")
            return self._checked(problem, whole_changes(problem, kernels, y, self.limit.seconds, generator)), {}
        grains = [grain for grain in map(asked.grain, range(len(kernels))) if grain is not None]
        if len(grains) == len(kernels):
            plain = rounded(kernels, y, [grain.step for grain in grains])
            if problem.fits(plain):
                pairs = zip(asked.names, grains, strict=True)
                return plain, {name: grain.places for name, grain in pairs if grain.places is not None}
        return self._checked(problem, rounded(kernels, y, by), drift(kernels, by)), {}

    def _checked(self, problem: Problem, y: Array, slack: Array | float = 0.0) -> Array:
        wrong = np.flatnonzero(problem.misfits(y, slack))
        if len(wrong):
            value, cell = divmod(int(wrong[0]), len(self.asked.table))
            first = f"{self.asked.names[value]} of {self.asked.table.label(cell)}"
            kept = f" with exact {self.asked.keep}" if self.asked.keep and not self.asked.whole else ""
            raise InfeasibleError(
                f"No adjustment was found{kept}: {count_of(len(wrong), 'cell')} would leave what they may change by; "
                f"the first: {first}.\nRaise q or the capacities, or keep fewer statistics."
            )
        return y

    def _met(
        self, problem: Problem, family: CellSets, keep: str, kernels: Sequence[TableKernel], y: Array
    ) -> tuple[Problem, Array]:
        """All statistics to the last digits, second moments' equations linearised in turn.

        Where the directions have none, others are chosen: at these equations, with all the room above the sizes, and
        then such as the key makes cheaper.
        """
        room = self.asked.problem(*self.limits, ends=False)
        wide = replace(problem, low=room.low, high=room.high)
        first: tuple[Problem, Array] | None = None
        why: Failed | None = None
        for number, given in enumerate((problem, problem, wide, *[wide] * TURNS)):
            start = y
            try:
                if number:
                    turned = 2 * self.asked.draws(f"turn {number}") - 1 if number > 2 else 0.0
                    more = np.where(problem.sensitive, TURN * turned, 0.0)
                    tilted = replace(given, tilt=more if problem.tilt is None else problem.tilt + more)
                    start = self._turned(self._with_statistics(tilted, y if number < 3 else None))
                start, failed = self._approached(given, keep, start)
                why = why or failed
            except Contradiction as error:
                why = why or (error, problem.signs_of(start), start)
                continue
            except NoAnswer:
                continue
            found = newton(given, family, keep, kernels, start)
            if self.asked.whole or exactly(given, family, keep, kernels, found):
                return given, found
            first = first or (given, found)
        if why is not None:
            raise self.why(problem, *why[1:]) from why[0]
        return first or (problem, y)

    def _approached(self, given: Problem, keep: str, start: Array) -> tuple[Array, Failed | None]:
        """Second moments' equations linearised at the last changes, in their directions; and where nothing met them."""
        signs, why = given.signs_of(start), None
        for _ in range(3 if keep == "moments" else 0):
            at, near = start, self._with_statistics(given, start)
            try:
                start = squares(near, signs) if self.asked.objective == "l2" else near.solve(signs)[0]
            except Contradiction as error:
                why = why or (error, signs, at)
                start = near.nearest(self._seconds, signs)
        return start, why

    def _turned(self, problem: Problem) -> Array:
        """Directions and changes that meet all linear parts; of second moments, else as nearly as can be."""
        try:
            return self._chosen(problem).y
        except Contradiction:
            if self.asked.keep != "moments":
                raise
            return problem.nearest(self._seconds, seconds=self.limit.seconds, gap=EASE)

    def open_at_best(self) -> float:
        """Bits that an adjustment could leave open of the original; infinite where no second moment is exact."""
        if self.family is None or self.asked.keep is None or self.asked.whole:
            return np.inf
        return open_at_best(self.asked, self.asked.problem(*self.limits, ends=False), self.family, self.asked.keep)

    def costs(self, problem: Problem, y: Array, choice: Directions) -> tuple[float, float]:
        """What was reached by the objective, and the bound where it is one for what was asked."""
        if self.asked.objective == "l2":
            return float(problem.weights @ y**2), np.nan
        cost = float(np.abs(y).max(initial=0.0)) if self.asked.objective == "largest" else problem.cost(y)
        if self.asked.keep == "moments" or cost < choice.bound * (1 - PROVEN):  # then it is no bound
            return cost, np.nan
        return cost, cost if choice.bound > cost * (1 - PROVEN) else choice.bound

    def why(self, problem: Problem, signs: Signs | None = None, at: Array | None = None) -> InfeasibleError:
        """Names what stands against it, and what would heal it.

        at: the changes at which second moments were linearised, where it was there that nothing fitted
        """
        asked = self.asked
        said = self.family.promise(asked.keep).said if self.family is not None and asked.keep else []
        problem = self._with_statistics(problem, at)
        none = np.zeros(len(asked.table), dtype=bool)
        bare = replace(asked, given=tuple(replace(each, forced=none, capacity=None) for each in asked.given))
        capacity, fixed, known = self.limits
        room = {name: np.full(len(asked.table), np.abs(asked.table.values[name]).sum()) for name in asked.names}
        healed = {
            "larger capacities, or fewer fixed cells": bare.problem(room, (), known, ends=False),
        }
        for q in (1.5 * asked.q, 2 * asked.q, 4 * asked.q):  # the first that would do
            wider = replace(asked, q=q).problem(*self.limits, ends=False)
            if possible(self._with_statistics(wider, at)):
                healed = {f"a larger q than {asked.q:g}, such as {q:g}": wider, **healed}
                break
        if known or any(each.known is not None for each in asked.given):
            free = replace(asked, given=tuple(replace(each, known=None) for each in asked.given))
            healed["wider bounds of what everybody knows"] = free.problem(capacity, fixed, {}, ends=False)
        healed = {remedy: self._with_statistics(other, at) for remedy, other in healed.items()}
        if said:
            healed["fewer statistics kept"] = asked.problem(*self.limits, ends=False)
        if signs is not None:
            word = (
                "other directions, by another key"
                if at is not None
                else "directions that are not those of the ordering"
            )
            healed = {word: problem, **healed}
        means = len(self.family.names) if self.family is not None else 0
        return explain(asked.table, asked.names, problem, said, healed, signs, means, at is None)
