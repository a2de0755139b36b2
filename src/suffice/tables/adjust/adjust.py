"""A table adjusted: sensitive cells at safe values, the others as near as can be, all sums and statistics kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import GuardError, InfeasibleError, InputError, UsageError, count_of
from suffice.progress import Progress
from suffice.rows.threads import one_blas_thread
from suffice.seed import Seed
from suffice.statistics.cell_moments import CellMoments
from suffice.statistics.cells import CellPromise
from suffice.statistics.safe_cells import SafeCells
from suffice.statistics.statistic import BOUND
from suffice.tables.adjust.explain import explain
from suffice.tables.adjust.kernel import Kernel, rounded
from suffice.tables.adjust.moments import CellSets, newton
from suffice.tables.adjust.problem import Problem, Signs
from suffice.tables.adjust.signs import LARGE, Budget, Directions, alternating, blocks, exact, ordering
from suffice.tables.adjust.squares import descended, squares
from suffice.tables.adjust.whole import whole_changes
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.solver import SECONDS, Contradiction
from suffice.tables.table import Table

OBJECTIVES = ("l1", "relative", "l2", "largest")
SIGNS = ("best", "ordering", "blocks")
KEEPS = ("means", "slope", "moments")
SIZES = ("drawn", "least")
LEVELS = ("lower", "upper")
WIDE = 1.5
"""Times its level: up to where the size of a sensitive cell is drawn."""
EASE = 0.05
"""Gap of the programme that looks for room where drawn sizes have none."""
NEAR = 0.01
"""Gap of the programme where second moments are kept: its linear parts are not the last word."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Adjustment:
    """A table whose sensitive cells are safe.

    changes: y, by value
    cost, bound: of the objective, and what no table costs less than; not a number where that is not known
    kept: each statistic's error in standard deviations, and in units of the last digits: at most 30 is called exact
    freed: sensitive cells whose direction the ordering could not give
    eased: sensitive cells that had no room for the size that was drawn, and got a smaller one
    one_way: sensitive cells that their bounds let go in one direction only
    """

    table: Table
    sensitivities: tuple[Sensitivity, ...]
    changes: Mapping[str, Array]
    objective: str
    signs: str
    sizes: str
    cost: float
    bound: float
    statistics: CellMoments | None
    kept: Mapping[str, tuple[float, float]]
    freed: int = 0
    whole: bool = False
    eased: int = 0
    one_way: int = 0

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.changes)

    def cells(self, value: str | None = None) -> Array:
        """The adjusted cells of a value."""
        name = value or self.values[0]
        return np.asarray(self.table.values[name] + self.changes[name])

    @property
    def gap(self) -> float:
        """By how much the cost may be above the least, as a share of it; not a number where that is not known."""
        if np.isnan(self.bound):
            return np.nan
        return max(0.0, self.cost - self.bound) / self.cost if self.cost else 0.0

    @property
    def error(self) -> float:
        """The largest violation of an equation, as a share of its cells."""
        worst = 0.0
        for name in self.values:
            x = self.cells(name)
            room = abs(self.table.relations) @ np.abs(x)
            worst = max(worst, float(np.max(np.abs(self.table.relations @ x) / np.where(room > 0, room, 1), initial=0)))
        return worst

    @property
    def _safe(self) -> SafeCells:
        """Levels of what is sensitive, a column for every value."""
        names = [self.table.label(cell) for cell in range(len(self.table))]
        given = self.sensitivities
        sensitive = np.column_stack([each.sensitive & ~self.table.hidden for each in given])
        lower, upper = (np.column_stack([getattr(each, name) for each in given]) for name in LEVELS)
        return SafeCells(sensitive, lower, upper, names)

    @property
    def unsafe(self) -> int:
        """Sensitive cells that are nearer to their true value than their level."""
        before = np.column_stack([self.table.values[name] for name in self.values])
        after = np.column_stack([self.cells(name) for name in self.values])
        return int(self._safe.near(before, after).sum())

    @property
    def promises(self) -> tuple[CellPromise, ...]:
        """What the certificate recomputes beside additivity."""
        return (self._safe, *([self.statistics] if self.statistics else []))

    def frame(self) -> pa.Table:
        """The cells that were asked for, with their adjusted values alone."""
        return replace(self.table, values={name: self.cells(name) for name in self.values}).frame()

    def text(self) -> str:
        """What was done, in words and numbers for the holder of the table."""
        moved = sum(int(((y != 0) & ~self.table.hidden).sum()) for y in self.changes.values())
        secret = sum(int(given.sensitive.sum()) for given in self.sensitivities)
        size = len(self.values) * int((~self.table.hidden).sum())
        lines = [f"{count_of(secret, 'sensitive cell')} of {size:,} at safe values; {moved:,} cells are changed"]
        known = "best found; how near to the least is not known"
        if not np.isnan(self.bound):
            known = f"no less than {self.bound:,.7g} is possible, gap {self.gap:.2%}"
            known += ": proven" * (self.gap < 1e-6)
        lines.append(f"objective {self.objective}: {self.cost:,.7g} ({known})")
        if self.eased:
            lines.append(f"{count_of(self.eased, 'sensitive cell')} without room for the size that was drawn")
        if self.freed:
            lines.append(f"the ordering did not fit: the directions of {self.freed:,} smallest cells were chosen")
        lines.append(
            f"additivity: {'exact' if self.error == 0 else f'to {self.error:.0e} of the cells of an equation'}"
        )
        lines.append(f"protection: {'every sensitive cell' if not self.unsafe else f'NOT {self.unsafe:,} cells'}")
        for name, (error, ratio) in self.kept.items():
            lines.append(f"  {name}: " + ("exact" if ratio <= BOUND else f"to {error:.0e} standard deviations"))
        return "\n".join(lines)


def adjust(
    table: Table,
    sensitivity: Sensitivity | Sequence[Sensitivity],
    *,
    objective: str = "l1",
    signs: str = "best",
    sizes: str = "drawn",
    q: float = 2.0,
    capacity: float | Mapping[str, Array] = 1.0,
    fixed: Sequence[int] = (),
    known: Mapping[str, tuple[Array, Array]] | None = None,
    keep: str | None = None,
    sets: Mapping[str, Sequence[int]] | None = None,
    whole: bool = False,
    seed: Seed | None = None,
    seconds: float = SECONDS,
    gap: float = 0.0,
    repair: bool = True,
    accept: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Adjustment:
    """Sensitive cells moved to safe values, the others as little as can be, T x = 0 to the last bit (Cox 1-5).

    sensitivity: of one value, or of several, each with its protection levels
    objective: l1, the sum of changes; relative, in shares of the cells; l2; largest, the least largest one, then l1
    signs: best, by a mixed programme; ordering, Cox's section 5; blocks, few cells at a time, for large tables
    sizes: drawn by the key between the level and half as much again; least is stopped unless accepted
    q: a sensitive cell changes by at most q times its level
    capacity: other cells change by at most this share of them, or by so much each
    fixed: cells that stay; cells that are zero always do
    known: between which every attacker knows the cells to be, by value: adjusted cells are there, too
    keep: means, slope (adjusted on original: slope 1, intercept 0) or moments, of `sets`
    sets: cells by name, the k-th of each belonging together; without: the inner cells
    whole: whole numbers, whose statistics are near and not exact
    repair: where the ordering does not fit, directions of the smallest cells are chosen

    >>> cells = {"a": ["Total", "x", "y", "z"], "v": [60, 10, 20, 30]}
    >>> from suffice.tables.sensitivity import Prior, find_sensitive
    >>> table = Table.of_cells(cells, ["a"], ["v"])
    >>> secret = find_sensitive(table, [], "v", priors=[Prior(("x",), "unsafe", lower=2, upper=2)])
    >>> made = adjust(table, secret, fixed=[table.find("Total")])
    >>> made.error, made.unsafe, bool(abs(made.cells()[1] - 10) >= 2)
    (0.0, 0, True)
    """
    _refuse_words(objective=(objective, OBJECTIVES), signs=(signs, SIGNS), sizes=(sizes, SIZES))
    if keep is not None:
        _refuse_words(keep=(keep, KEEPS))
    given = (sensitivity,) if isinstance(sensitivity, Sensitivity) else tuple(sensitivity)
    request = _Request(
        table, given, objective, signs, sizes, q, keep, Budget(seconds, gap, progress), (seed or Seed()), repair
    )
    _refuse_least(sizes, accept or {})
    problem = request.problem(capacity, fixed, known or {}, whole)
    family = request.family(sets) if keep else None
    try:
        problem, choice = request.chosen(problem, family)
    except Contradiction as error:
        raise request.why(problem, family, alternating(problem) if signs == "ordering" else None) from error
    y, kernels = request.finished(problem, family, choice.y)
    if whole:
        y = whole_changes(problem, kernels, y, seconds)
    statistics = family.promise(keep, not whole) if family and keep else None
    kept = statistics.ratios(problem.original, problem.original + y) if statistics else {}
    lost = ", ".join(name for name, (_, ratio) in kept.items() if ratio > BOUND)
    if lost and not whole:
        raise InfeasibleError(f"Not kept to the last digits: {lost}.\nName fewer sets, or raise q or the capacities.")
    if not problem.fits(y):
        raise InfeasibleError("The adjustment left its bounds in the last step.\nRaise q or the capacities.")
    cost, bound = request.costs(problem, y, choice)
    return Adjustment(
        table,
        given,
        dict(zip(request.names, np.split(y, len(given)), strict=True)),
        objective,
        request.signs,
        sizes,
        cost,
        bound,
        statistics,
        kept,
        choice.freed,
        whole,
        choice.eased,
        int((problem.one_way != 0).sum()),
    )


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class _Request:
    """What is asked, without the numbers."""

    table: Table
    given: tuple[Sensitivity, ...]
    objective: str
    how: str
    sizes: str
    q: float
    keep: str | None
    limit: Budget
    seed: Seed
    repair: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.value for each in self.given)

    @property
    def signs(self) -> str:
        """Large tables are adjusted block by block."""
        large = len(self.table) * len(self.given) > LARGE
        return "blocks" if self.how == "best" and large and self.keep is None else self.how

    def problem(
        self,
        capacity: float | Mapping[str, Array],
        fixed: Sequence[int],
        known: Mapping[str, tuple[Array, Array]],
        whole: bool,
    ) -> Problem:
        """Cox (2), one value after the other."""
        if not self.names or len(set(self.names)) < len(self.names):
            raise UsageError("An adjustment needs sensitive cells of at least one value, and each value once.")
        if not self.q >= (WIDE if self.sizes == "drawn" else 1.0):
            raise UsageError(f"q is at least {WIDE} where sizes are drawn, and 1 where they are the least.")
        stay = np.isin(np.arange(len(self.table)), np.asarray(fixed, dtype=np.int64)) | self.table.impossible
        parts = [self._part(each, capacity, stay, known.get(each.value), whole) for each in self.given]
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        T = sparse.csr_array(sparse.block_diag([self.table.relations] * len(self.given), format="csr"))
        none = sparse.csr_array((0, T.shape[1]))
        return Problem(self.table.grid, relations=T, kept=none, right=np.zeros(0), **joined)

    def _part(
        self,
        given: Sensitivity,
        capacity: float | Mapping[str, Array],
        stay: Flags,
        known: tuple[Array, Array] | None,
        whole: bool,
    ) -> dict[str, Array]:
        a, secret = self.table.values[given.value], given.sensitive & ~self.table.hidden
        _refuse_cells(self.table, given, a, secret, stay, whole)
        room = np.asarray(capacity[given.value] if isinstance(capacity, Mapping) else capacity * np.abs(a), dtype=float)
        if room.shape != a.shape or not (room >= 0).all():
            raise UsageError("Capacities are numbers from zero, one for each cell.")
        room = np.where((a == 0) | stay, 0.0, room)
        low, high = np.where(secret, -self.q * given.lower, -room), np.where(secret, self.q * given.upper, room)
        floor, ceiling = known or (np.full(len(a), -np.inf if (a < 0).any() else 0.0), np.full(len(a), np.inf))
        low, high = np.minimum(np.maximum(low, floor - a), 0.0), np.maximum(np.minimum(high, ceiling - a), 0.0)
        down, up = given.lower, given.upper
        if self.sizes == "drawn":
            drawn = self._draws().reshape(len(self.given), -1)[self.names.index(given.value)]
            down, up = (p + drawn * np.clip(most - p, 0.0, (WIDE - 1) * p) for p, most in ((down, -low), (up, high)))
        if whole:
            low, high, down, up = np.ceil(low), np.floor(high), np.ceil(down), np.ceil(up)
        down, up = np.where(secret, down, 0.0), np.where(secret, up, 0.0)
        weights = np.where(self.table.hidden, 0.0, 1.0)
        if self.objective == "relative":
            weights = weights / np.where(a == 0, 1.0, np.abs(a))
        elif len(self.given) > 1:  # values in units of their own
            weights = weights / (np.abs(a).mean() or 1.0)
        return {
            "original": a,
            "sensitive": secret,
            "down": down,
            "up": up,
            "low": low,
            "high": high,
            "weights": weights,
        }

    def family(self, sets: Mapping[str, Sequence[int]] | None) -> CellSets:
        """The sets of every value, as cells of the problem."""
        size, several = len(self.table), len(self.given) > 1
        inner = np.setdiff1d(np.flatnonzero(~self.table.hidden), self.table.totals)
        found = {}
        for number, name in enumerate(self.names):
            for word, cells in (sets or {"": inner.tolist()}).items():
                label = f"{name} of {word}" if several and word else word or name
                found[label] = np.asarray(cells, dtype=np.int64) + number * size
                if not len(cells) or not 0 <= min(cells) <= max(cells) < size or len(set(cells)) < len(cells):
                    raise UsageError(f"The set {word!r} is empty, or names a cell that is not there, or one twice.")
        return CellSets(found, np.concatenate([self.table.values[name] for name in self.names]))

    def chosen(self, problem: Problem, family: CellSets | None) -> tuple[Problem, Directions]:
        """Directions and changes; second moments are in the programme with their linear parts."""
        kept, right = family.rows(self.keep) if family is not None and self.keep else (problem.kept, problem.right)
        try:
            return problem, self._chosen(replace(problem, kept=kept, right=right))
        except Contradiction:
            if self.sizes != "drawn" or self.signs == "blocks":
                raise
        eased, count = self._eased(replace(problem, kept=kept, right=right))
        choice = self._chosen(eased)
        return replace(eased, kept=problem.kept, right=problem.right), replace(choice, eased=count)

    def _eased(self, problem: Problem) -> tuple[Problem, int]:
        """Sizes that were drawn and have no room are drawn anew between the level and what there is room for."""
        down, up = (np.concatenate([getattr(each, name) for each in self.given]) for name in LEVELS)
        secret = problem.sensitive
        wide = replace(problem, down=np.where(secret, down, 0), up=np.where(secret, up, 0))
        wide = replace(wide, weights=-np.where(secret, 1 / np.where(secret, up, 1), 0.0))
        narrow = replace(wide, low=np.maximum(wide.low, -problem.down), high=np.minimum(wide.high, problem.up))
        narrow = replace(
            narrow, low=np.where(secret, narrow.low, wide.low), high=np.where(secret, narrow.high, wide.high)
        )
        try:
            y, _ = narrow.solve(seconds=self.limit.seconds, gap=EASE)
        except Contradiction:
            y, _ = wide.solve(seconds=self.limit.seconds, gap=EASE)
        over, under = (y > 0) & (y < problem.up), (y < 0) & (-y < problem.down)
        share = self._draws()
        ups = np.where(secret & over, up + share * (np.abs(y) - up) * (1 - 1e-6), problem.up)
        downs = np.where(secret & under, down + share * (np.abs(y) - down) * (1 - 1e-6), problem.down)
        return replace(problem, up=ups, down=downs), int((secret & (over | under)).sum())

    def _draws(self) -> Array:
        draws = [self.seed.derive("adjust", name).generator("sizes").random(len(self.table)) for name in self.names]
        return np.concatenate(draws)

    def _chosen(self, problem: Problem) -> Directions:
        bound = np.nan
        if self.objective == "largest":
            _, answer = problem.solve(largest=True, seconds=self.limit.seconds, progress=self.limit.progress)
            most, bound = answer.cost * (1 + 1e-9), answer.bound
            problem = replace(problem, low=np.maximum(problem.low, -most), high=np.minimum(problem.high, most))
        if self.signs == "ordering":
            choice = ordering(problem, self.limit, self.repair)
        elif self.signs == "blocks":
            choice = blocks(problem, self.limit, self.seed.derive("adjust", *self.names).generator("blocks"))
        else:
            near = max(self.limit.gap, NEAR) if self.keep == "moments" else self.limit.gap  # there a start, no more
            limit = replace(self.limit, gap=near)
            coin = self.seed.derive("adjust", *self.names).generator("directions").random() < 0.5
            if coin:  # else who adjusts the adjusted table again gets the same directions
                choice = exact(problem.mirrored(), limit)
                choice = replace(choice, y=-choice.y)
            else:
                choice = exact(problem, limit)
        if self.objective == "l2":
            choice = replace(choice, y=descended(problem, problem.signs_of(choice.y), self.limit), bound=np.nan)
        return replace(choice, bound=bound) if self.objective == "largest" else choice

    def finished(self, problem: Problem, family: CellSets | None, y: Array) -> tuple[Array, list[Kernel]]:
        """The second moments' equations in turn linearised and met, and then all of them to the last digits."""
        kernels = [Kernel(self.table)] * len(self.given)
        signs = problem.signs_of(y)
        if family is None or self.keep is None:
            return rounded(kernels, y, problem.original, problem.digits), kernels
        for _ in range(3 if self.keep == "moments" else 0):
            rows, right = family.rows(self.keep, y)
            y = self._settled(replace(problem, kept=rows, right=right), signs, family)
        with one_blas_thread():
            return newton(problem, family, self.keep, kernels, y), kernels

    def _settled(self, problem: Problem, signs: Signs, family: CellSets) -> Array:
        try:
            return squares(problem, signs) if self.objective == "l2" else problem.solve(signs)[0]
        except Contradiction as error:
            raise self.why(problem, family) from error

    def costs(self, problem: Problem, y: Array, choice: Directions) -> tuple[float, float]:
        """What was reached by the objective, and the bound where it is one for what was asked."""
        if self.objective == "l2":
            return float(problem.weights @ y**2), np.nan
        cost = float(np.abs(y).max(initial=0.0)) if self.objective == "largest" else problem.cost(y)
        return cost, np.nan if self.keep == "moments" else choice.bound

    def why(self, problem: Problem, family: CellSets | None, signs: Signs | None = None) -> InfeasibleError:
        """Names what stands against it, and what would heal it."""
        said = family.promise(self.keep).said if family is not None and self.keep else []
        if family is not None and self.keep:
            rows, right = family.rows(self.keep)
            problem = replace(problem, kept=rows, right=right)
        wide, movable = float(np.abs(problem.original).sum()), problem.original != 0
        free = movable & ~problem.sensitive
        floor = -wide if (problem.original < 0).any() else -problem.original
        secret = problem.sensitive
        healed = {
            f"a larger q than {self.q:g}": replace(
                problem,
                low=np.where(secret, np.maximum(4 * problem.low, floor), problem.low),
                high=np.where(secret, 4 * problem.high, problem.high),
            ),
            "larger capacities, or fewer fixed cells": replace(
                problem, low=np.where(free, floor, problem.low), high=np.where(free, wide, problem.high)
            ),
        }
        if said:
            none = sparse.csr_array((0, len(problem.original)))
            healed["fewer statistics kept"] = replace(problem, kept=none, right=np.zeros(0))
        if signs is not None:
            healed = {"directions that are not those of the ordering": problem, **healed}
        return explain(self.table, self.names, problem, said, healed, signs)


def _refuse_words(**given: tuple[str, Sequence[str]]) -> None:
    for name, (word, known) in given.items():
        if word not in known:
            raise UsageError(f"{name} is one of {', '.join(known)}, not {word!r}.")


def _refuse_least(sizes: str, accept: Mapping[str, str]) -> None:
    if set(accept) - {"least-sizes"}:
        raise UsageError("Of an adjustment, 'least-sizes' is the one rule that can be accepted.")
    if sizes == "least" and not accept.get("least-sizes", "").strip():
        raise GuardError(
            "least-sizes: changes of exactly the protection level leave two candidates for each sensitive cell, and "
            "who adjusts the adjusted table again finds which.\n"
            "Let the sizes be drawn, or accept it with a reason: accept={'least-sizes': ...}."
        )


def _refuse_cells(table: Table, given: Sensitivity, a: Array, secret: Flags, stay: Flags, whole: bool) -> None:
    def first(flags: Flags) -> str:
        return f"{int(flags.sum()):,} cells; the first: {table.label(int(np.flatnonzero(flags)[0]))}"

    if np.isnan(a).any():
        raise InputError(f"An adjustment needs all cells of {given.value!r}, and some have no value.")
    bare = secret & ((given.upper <= 0) | (given.lower <= 0))
    if bare.any():
        raise InputError(
            f"Sensitive cells of {given.value!r} have no protection level, or are zero ({first(bare)}).\n"
            "Give them levels, or publish a coarser table."
        )
    if (secret & stay).any():
        raise InputError(f"Sensitive cells are fixed ({first(secret & stay)}).\nDo not fix them.")
    if whole and (a % 1 != 0).any():
        raise InputError(f"{given.value!r} has cells that are no whole numbers.\nLeave `whole` out.")
