"""What an attacker can compute of a table with gaps, against what was to be kept from him."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError, count_of
from suffice.progress import Progress
from suffice.rows.threads import cores
from suffice.tables.contributors import Makeup
from suffice.tables.sensitivity import BY_NUMBERS, Sensitivity, value_of
from suffice.tables.solver import NoAnswer, Polytope, Solver, some_point
from suffice.tables.table import Table

POSSIBLE = 3
"""Whole numbers that must be possible for a count."""
CHUNK = 32
CLOSE = 1e-6
"""Of the largest cell around: what two ends of an interval may lie apart and be one number."""
COARSE = 0.01
"""Of a protection level: what the last digits of cells around may make of an interval that just reaches it."""
EXPOSED, PROTECTED, UNJUDGED = "exposed", "protected", "not judged"


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Secret:
    """A cell, or a sum of suppressed cells, that was to be kept from an attacker.

    cells: which, with signs
    low, high: between these an attacker must look; they are `exact`, or he must look at least there
    numbers: possible whole numbers of a count, at most three; None for other values
    room: what the solver and the last digits may make of it
    insider: a lone contributor of another cell who knows that one: its number
    """

    cells: tuple[tuple[int, int], ...]
    value: float
    lower: float
    upper: float
    low: float = np.nan
    high: float = np.nan
    exact: bool = False
    numbers: int | None = None
    room: float = 0.0
    verdict: str = UNJUDGED
    insider: int | None = None
    why: str = ""

    @property
    def is_sum(self) -> bool:
        return len(self.cells) > 1


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Audit:
    """The verdict on every sensitive cell, every sum of suppressed cells, and again for each insider.

    unjudged: what could not be looked at, in sentences; it is never called safe
    """

    table: Table
    value: str
    suppressed: Flags
    targets: tuple[Secret, ...]
    unjudged: tuple[str, ...] = ()

    @property
    def exposed(self) -> tuple[Secret, ...]:
        return tuple(target for target in self.targets if target.verdict == EXPOSED)

    @property
    def holds(self) -> bool:
        """Whether all was judged and nothing is exposed."""
        return not self.unjudged and all(target.verdict == PROTECTED for target in self.targets)

    @property
    def verdict(self) -> str:
        return "HOLDS" if self.holds else "DOES NOT HOLD" if self.exposed else "NOT JUDGED IN FULL, so not called safe"

    def text(self) -> str:
        """The verdict in words: names of cells and numbers of them, no value."""
        lines = [f"{count_of(int(self.suppressed.sum()), 'suppressed cell')} of {len(self.table):,}"]
        for what, some in self._kinds():
            bad = sum(target.verdict == EXPOSED for target in some)
            open_ = sum(target.verdict == UNJUDGED for target in some)
            lines.append(f"{what}: {bad:,} exposed, {len(some) - bad - open_:,} protected, {open_:,} not judged")
        counted = [t for t in self.targets if t.numbers is not None and t.insider is None and not t.is_sum]
        if counted:
            few = [sum(t.numbers == k for t in counted) for k in (1, 2)]
            lines.append(f"of {len(counted):,} counts {few[0]:,} have one possible whole number, {few[1]:,} have two")
        lines += [f"  exposed: {self.label(target)}" for target in self.exposed[:20]]
        lines += [f"  and {len(self.exposed) - 20:,} more"] if len(self.exposed) > 20 else []
        lines += [f"  not judged: {sentence}" for sentence in self.unjudged]
        return "\n".join([*lines, f"audit: {self.verdict}"])

    def document(self) -> dict[str, Any]:
        """The verdict for JSON: how many, and which cells; no value."""
        return {
            "holds": self.holds,
            "value": self.value,
            "suppressed": int(self.suppressed.sum()),
            "kinds": {
                what: {verdict: sum(t.verdict == verdict for t in some) for verdict in (EXPOSED, PROTECTED, UNJUDGED)}
                for what, some in self._kinds()
            },
            "exposed": [self.label(target) for target in self.exposed],
            "unjudged": list(self.unjudged),
        }

    def frame(self) -> dict[str, list[Any]]:
        """Columns for the frame of the table: what was computed of single cells, by anybody."""
        size = len(self.table)
        found: dict[str, list[Any]] = {
            "suppressed": self.suppressed.tolist(),
            "low": [None] * size,
            "high": [None] * size,
        }
        found |= {"numbers": [None] * size, "verdict": [""] * size}
        for target in self.targets:
            if target.insider is None and not target.is_sum:
                (cell, _), ends = target.cells[0], {"low": target.low, "high": target.high}
                for name, each in {**ends, "numbers": target.numbers, "verdict": target.verdict}.items():
                    found[name][cell] = each
        return found

    def _kinds(self) -> Iterator[tuple[str, list[Secret]]]:
        outside = [target for target in self.targets if target.insider is None]
        yield "sensitive cells", [target for target in outside if not target.is_sum]
        yield "sums of suppressed cells", [target for target in outside if target.is_sum]
        yield "cells and sums before insiders", [target for target in self.targets if target.insider is not None]

    def label(self, target: Secret) -> str:
        """A target in words."""
        first = self.table.label(target.cells[0][0])
        name = f"the sum of {len(target.cells)} cells with {first}" if target.is_sum else first
        return name + (", for a lone contributor of another cell" if target.insider is not None else "")


def audit(
    table: Table,
    suppressed: Sequence[bool] | Flags,
    sensitivity: Sensitivity | None = None,
    value: str | None = None,
    *,
    beforehand: float | None = None,
    exact: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """What can be computed of the suppressed cells, by anybody and by each lone contributor.

    sensitivity: which cells, by which rules; without it all suppressed cells are looked at, none is called protected
    beforehand: the share of its value within which everybody knows each cell; else that none is negative, if so
    exact: all intervals to their ends, not only as far as the verdict needs

    >>> table = Table.of_records({"a": list("xxyy"), "b": list("uvuv"), "v": [1, 2, 3, 4]}, ["a", "b"], ["v"])
    >>> gaps = [cell == table.find("x", "u") for cell in range(len(table))]
    >>> target, = audit(table, gaps, value="v").targets
    >>> target.low, target.high, target.verdict
    (1.0, 1.0, 'exposed')
    """
    name = value_of(table, value if sensitivity is None else sensitivity.value)
    gaps = np.asarray(suppressed, dtype=bool) & ~table.impossible & ~table.hidden
    if gaps.shape != (len(table),):
        raise UsageError(f"The pattern has {len(gaps):,} marks and the table {len(table):,} cells.")
    _refuse_published_secrets(table, gaps, sensitivity, name)
    unknown = int((np.isnan(table.values[name]) & gaps).sum())
    if unknown and beforehand is not None:
        raise UsageError("What everybody knows beforehand is a share of values, and suppressed cells have none here.")
    look = _Look(table, name, sensitivity, beforehand, exact, threads or cores(), progress)
    targets, unjudged = look.targets(gaps)
    found = look.judged(targets, gaps)
    if sensitivity is None:
        unjudged = ["what must be protected, and how well: no rules and no levels were given"]
    elif unknown:
        unjudged.append(
            f"{count_of(unknown, 'suppressed cell')} without a value: rules cannot tell if they are sensitive"
        )
    if sensitivity is not None and not unknown:
        inside, more = replace(look, exact=False).insiders(gaps, found)
        found, unjudged = [*found, *inside], [*unjudged, *more]
    unjudged += sorted({target.why for target in found if target.why})
    bare = 0 if sensitivity is None else look.bare(found)
    if bare:
        unjudged.append(f"{count_of(bare, 'sensitive cell')} without a protection level: how well is not said")
    return Audit(table, name, gaps, tuple(found), tuple(unjudged))


def _refuse_published_secrets(table: Table, gaps: Flags, sensitivity: Sensitivity | None, name: str) -> None:
    unknown = np.isnan(table.values[name]) & ~gaps & ~table.hidden
    if unknown.any():
        label = table.label(int(np.flatnonzero(unknown)[0]))
        raise InputError(
            f"{unknown.sum():,} cells have no value and are not marked as suppressed (the first: {label})."
        )
    if sensitivity is not None and (sensitivity.forced & gaps).any():
        label = table.label(int(np.flatnonzero(sensitivity.forced & gaps)[0]))
        raise InputError(f"A cell is suppressed that must be published: {label}.")


@dataclass(frozen=True)
class _Look:
    """One request: the table, the value, and what is asked of it."""

    table: Table
    name: str
    sensitivity: Sensitivity | None
    beforehand: float | None
    exact: bool
    threads: int
    progress: Progress | None

    @property
    def whole(self) -> bool:
        return self.name in self.table.counts

    def targets(self, gaps: Flags) -> tuple[list[Secret], list[str]]:
        """Sensitive cells and sums of suppressed cells that are sensitive together."""
        x, given = self.table.values[self.name], self.sensitivity
        if given is None:
            return [Secret(((int(cell), 1),), float(x[cell]), 0.0, 0.0) for cell in np.flatnonzero(gaps)], []
        cells = [
            Secret(((int(cell), 1),), float(x[cell]), float(given.lower[cell]), float(given.upper[cell]))
            for cell in np.flatnonzero(given.sensitive)
        ]
        sums, unjudged = self._sums(gaps, self.table.relations, self.table.totals)
        return [*cells, *sums], unjudged

    def _sums(
        self, gaps: Flags, relations: sparse.csr_array, totals: NDArray[np.int64]
    ) -> tuple[list[Secret], list[str]]:
        """The suppressed parts of equations, where they are several and not all, judged with pooled contributors."""
        given, rows = self.sensitivity, relations.tocoo()
        assert given is not None
        part = (rows.col != totals[rows.row]) & (rows.data != 0) & ~self.table.impossible[rows.col]
        here = part & (gaps | self.table.hidden)[rows.col]
        parts = sparse.csr_array((rows.data[here], (rows.row[here], rows.col[here])), shape=relations.shape)
        count = np.diff(parts.indptr)
        some = (count > 1) & (count < np.bincount(rows.row[part], minlength=len(count)))
        parts = sparse.csr_array(parts[np.flatnonzero(some)])
        if not parts.shape[0]:
            return [], []
        if not given.rules:
            return [], ["sums of suppressed cells: no rules were given to judge them by"]
        try:
            pooled = self.table.makeup(self.name, given.weights, parts)
            flags = [rule.sensitive(pooled) for rule in given.rules]
        except UsageError:
            return [], ["sums of suppressed cells: who stands behind the cells is not known"]
        level = self._level(pooled, flags)
        unjudged = self._if_the_same(parts, np.any(flags, axis=0), level)
        value = parts @ np.nan_to_num(self.table.values[self.name])
        found: dict[tuple[tuple[int, int], ...], Secret] = {}
        for row in np.flatnonzero(np.any(flags, axis=0)):
            begin, end = parts.indptr[row : row + 2]
            cells = tuple(
                sorted(zip(parts.indices[begin:end].tolist(), parts.data[begin:end].astype(int).tolist(), strict=True))
            )
            lower = level[row] if self._signed else min(level[row], abs(value[row]))
            found[cells] = Secret(cells, float(value[row]), float(lower), float(level[row]))
        return list(found.values()), unjudged

    def _level(self, pooled: Makeup, flags: Sequence[Flags]) -> Array:
        assert self.sensitivity is not None
        level = np.zeros(len(pooled.value))
        for rule, flag in zip(self.sensitivity.rules, flags, strict=True):
            if not (self.whole and isinstance(rule, BY_NUMBERS)):
                level = np.where(flag, np.maximum(level, rule.level(pooled)), level)
        return level

    def _if_the_same(self, parts: sparse.csr_array, judged: Flags, level: Array) -> list[str]:
        """What summaries of cells leave open: the same contributors may stand behind several."""
        given = self.sensitivity
        if self.table.contributors is not None or given is None:
            return []
        worst = self.table.makeup(self.name, given.weights, parts, same=True)
        flags = [rule.sensitive(worst) for rule in given.rules]
        more = np.any(flags, axis=0) & (~judged | (self._level(worst, flags) > level * (1 + 1e-9)))
        return ["sums of suppressed cells: whether the same contributors stand behind them"] if more.any() else []

    @property
    def _signed(self) -> bool:
        people, values = self.table.contributors, self.table.values[self.name]
        records = people.values.get(self.name) if people is not None else None
        return bool((values < 0).any() or (records is not None and (records < 0).any()))

    def judged(self, targets: Sequence[Secret], gaps: Flags) -> list[Secret]:
        """Every target with its interval and its verdict."""
        unknown = self._unknown(gaps)
        parts = list(parts_of(self.table.relations, unknown))
        owner = np.full(len(self.table), -1)
        for number, (_, cells) in enumerate(parts):
            owner[cells] = number
        done, found = 0, list[Secret]()
        work: dict[tuple[int, ...], list[Secret]] = {}
        for target in targets:
            some = [cell for cell, _ in target.cells]
            if not unknown[some].all():  # sensitive, and published
                found.append(replace(target, low=target.value, high=target.value, exact=True, verdict=EXPOSED))
            else:
                work.setdefault(tuple(sorted({int(owner[cell]) for cell in some})), []).append(target)
        for numbers, those in work.items():
            space, cells = self._space(parts, numbers)
            found += _Chase(space, cells, self.whole, self.exact or self.sensitivity is None, self.threads).run(those)
            done += len(those)
            if self.progress is not None:
                self.progress("auditing", done, max(len(targets), 1))
        return [replace(each, verdict=self._verdict(each)) if each.verdict == UNJUDGED else each for each in found]

    def _space(
        self, parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], numbers: Sequence[int]
    ) -> tuple[Polytope, NDArray[np.int64]]:
        rows = np.concatenate([parts[number][0] for number in numbers])
        cells = np.concatenate([parts[number][1] for number in numbers])
        matrix = sparse.csr_array(self.table.relations[rows][:, cells])
        start = self.table.values[self.name][cells]
        low = np.full(len(cells), -np.inf if self._signed else 0.0)
        if np.isnan(start).any():
            shown = self.table.values[self.name].copy()
            shown[cells] = 0.0
            start = some_point(matrix, -(self.table.relations[rows] @ np.nan_to_num(shown)), low, self.whole)
        high = np.full(len(cells), np.inf)
        if self.beforehand is not None:
            low = np.maximum(low, start - self.beforehand * np.abs(start))
            high = start + self.beforehand * np.abs(start)
        return Polytope(matrix, start, low, high, self.whole), cells

    def _verdict(self, target: Secret) -> str:
        if np.isnan(target.low):
            return UNJUDGED
        if target.high - target.low <= 3 * target.room or (target.numbers is not None and target.numbers < POSSIBLE):
            return EXPOSED
        if self.sensitivity is None or np.isnan(target.value):
            return UNJUDGED
        if not self.whole and target.value and max(target.lower, target.upper) <= 0:
            return UNJUDGED  # nobody has said how far is far enough
        below, above = target.value - target.low, target.high - target.value
        short = max(target.lower - below, target.upper - above)
        if short <= 0:
            return PROTECTED
        if short > target.room:
            return EXPOSED
        return PROTECTED if self.whole or target.room <= COARSE * max(target.lower, target.upper) else UNJUDGED

    def bare(self, found: Sequence[Secret]) -> int:
        """Sensitive cells that nothing protects by a level, nor by whole numbers."""
        open_ = [t for t in found if t.verdict == UNJUDGED and not np.isnan(t.low) and not np.isnan(t.value)]
        return len({target.cells for target in open_ if max(target.lower, target.upper) <= 0})

    def insiders(self, gaps: Flags, outside: Sequence[Secret]) -> tuple[list[Secret], list[str]]:
        """Again, for everyone who stands alone behind suppressed cells and so knows them."""
        cells = np.flatnonzero(gaps)
        if not len(cells) or (self.whole and not self._named):  # who is counted knows of no one else
            return [], []
        alone = self._alone(cells)
        if alone is None:
            return [], ["knowledge of lone contributors: who stands behind the cells is not known"]
        known = {target.cells for target in outside if target.verdict == EXPOSED}
        base = [replace(t, low=np.nan, verdict=UNJUDGED, why="") for t in outside if t.cells not in known]
        home = np.full(len(self.table), -1)
        for number, (_, some) in enumerate(parts_of(self.table.relations, self._unknown(gaps))):
            home[some] = number
        unjudged = set[str]()

        def told(own: NDArray[np.int64], insider: int) -> list[Secret]:
            left = gaps.copy()
            left[own] = False
            away = ~np.isin(home, home[own]) | (gaps & ~left)
            rows = np.unique(self.table.relations.tocsc()[:, own].indices)  # equations that its own cells are in
            fresh, more = self._sums(left, sparse.csr_array(self.table.relations[rows]), self.table.totals[rows])
            unjudged.update(more)
            targets = [t for t in [*base, *fresh] if t.cells not in known and not away[[c for c, _ in t.cells]].any()]
            return replace(self, progress=None).judged([replace(t, insider=insider) for t in targets], left)

        found, everyone = list[Secret](), np.unique(alone[alone >= 0])
        for number, insider in enumerate(everyone):
            found += told(cells[alone == insider], int(insider))
            if self.progress is not None:
                self.progress("insiders", number + 1, len(everyone))
        if self.table.contributors is None and len(everyone) > 1:
            together = told(cells[alone >= 0], int(everyone[0]))
            if any(target.verdict != PROTECTED for target in together):
                unjudged.add("knowledge of lone contributors: whether one stands behind several cells is not known")
        return found, sorted(unjudged)

    @property
    def _named(self) -> bool:
        people, known = self.table.contributors, self.table.known
        if people is not None:
            return people.named
        return known is not None and not np.isnan(known.units).any()

    def _unknown(self, gaps: Flags) -> Flags:
        return (gaps | self.table.hidden) & ~self.table.impossible

    def _alone(self, cells: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """For every cell the one who stands behind it, or -1."""
        table = self.table
        if table.contributors is not None and table.holding is not None:
            return table.contributors.alone(sparse.csr_array(table.holding[cells]))
        if table.known is None or np.isnan(table.known.units).any():
            return None
        return np.where(table.known.units[cells] == 1, cells, -1)  # of different cells different ones


def parts_of(relations: sparse.csr_array, unknown: Flags) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Unknown cells that hang together, with the equations between them."""
    cells = np.flatnonzero(unknown)
    matrix = sparse.csr_array(relations[:, cells])
    matrix.eliminate_zeros()
    rows = np.flatnonzero(np.diff(matrix.indptr))
    matrix = sparse.csr_array(matrix[rows])
    pairs = matrix.tocoo()
    size = len(rows) + len(cells)
    graph = sparse.csr_array((np.ones(pairs.nnz), (pairs.row, len(rows) + pairs.col)), shape=(size, size))
    count, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    for here in np.split(order, np.searchsorted(label[order], np.arange(1, count))):
        yield rows[here[here < len(rows)]], cells[here[here >= len(rows)] - len(rows)]


def _row(matrix: sparse.csr_array, number: int) -> Array:
    begin, end = matrix.indptr[number : number + 2]
    found = np.zeros(matrix.shape[1])
    found[matrix.indices[begin:end]] = matrix.data[begin:end]
    return found


class _Chase:
    """Targets in one polytope: many at once first, then one by one what is still open."""

    def __init__(self, space: Polytope, cells: NDArray[np.int64], whole: bool, exact: bool, threads: int) -> None:
        self.space, self.whole, self.exact = space, whole, exact
        self.threads = threads
        self.place = {int(cell): number for number, cell in enumerate(cells)}

    def run(self, targets: Sequence[Secret]) -> list[Secret]:
        costs = sparse.csr_array(self._costs(targets))
        seen = _Seen(costs, targets, self.space, self.whole)
        try:
            if not self.exact:
                self._together(costs, seen)
            self._alone(costs, seen)
        except NoAnswer as problem:
            return [replace(each, why=str(problem)) for each in targets]
        return [self._told(number, target, costs, seen) for number, target in enumerate(targets)]

    def _costs(self, targets: Sequence[Secret]) -> sparse.coo_array:
        triples = [(n, self.place[cell], sign) for n, target in enumerate(targets) for cell, sign in target.cells]
        row, column, sign = np.array(triples, dtype=np.int64).T
        return sparse.coo_array((sign.astype(float), (row, column)), shape=(len(targets), len(self.place)))

    def _together(self, costs: sparse.csr_array, seen: _Seen) -> None:
        """Random objectives, all open targets up and all down, for as long as that closes some."""
        rng, solver = np.random.default_rng(1), Solver(self.space)
        while True:
            before = seen.open.sum()
            for sign, side in ((1.0, seen.open_low), (-1.0, seen.open_high)):
                mix = np.where(side, rng.uniform(0.5, 1.5, len(side)), 0.0)
                if side.any():
                    seen.add(solver.least(sign * np.asarray(costs.T @ mix)))
            if not seen.open.any() or before - seen.open.sum() <= 0.02 * before:
                return

    def _alone(self, costs: sparse.csr_array, seen: _Seen) -> None:
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
                        seen.add(point)
                    seen.end(number, low, high)

    def _told(self, number: int, target: Secret, costs: sparse.csr_array, seen: _Seen) -> Secret:
        low, high = (self._far(each, seen.start[number]) for each in (seen.low[number], seen.high[number]))
        told = replace(target, low=low, high=high, exact=bool(seen.ended[number]), room=float(seen.room[number]))
        if not self.whole:
            return told
        try:
            return replace(told, numbers=self._numbers(number, costs, seen))
        except NoAnswer as problem:
            return replace(told, low=np.nan, why=str(problem))

    def _far(self, end: float, start: float) -> float:
        """An end at the border of the solver's world is no end."""
        return float(end if abs(end - start) < self.space.far * (1 - 1e-6) else np.copysign(np.inf, end - start))

    def _numbers(self, number: int, costs: sparse.csr_array, seen: _Seen) -> int:
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


class _Seen:
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
