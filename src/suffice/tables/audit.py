"""What an attacker can compute of a table with gaps, against what was to be kept from him."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError, count_of
from suffice.progress import Progress
from suffice.rows.threads import cores
from suffice.tables.chase import Chase
from suffice.tables.connected import parts_of
from suffice.tables.insiders import Insiders
from suffice.tables.pattern import known_ends
from suffice.tables.screen import Screen
from suffice.tables.secret import EXPOSED, POSSIBLE, PROTECTED, UNJUDGED, Secret
from suffice.tables.sensitivity import Sensitivity, value_of
from suffice.tables.solver import Polytope, some_point
from suffice.tables.table import Table
from suffice.tables.targets import Targets

COARSE = 0.01
"""Of a protection level: what the last digits of cells around may make of an interval that just reaches it."""


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
        lines = [f"{count_of(int(self.suppressed.sum()), 'suppressed cell')} of {int((~self.table.hidden).sum()):,}"]
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
        return name + (", for a contributor of suppressed cells" if target.insider is not None else "")


def audit(
    table: Table,
    suppressed: Sequence[bool] | Flags,
    sensitivity: Sensitivity | None = None,
    value: str | None = None,
    *,
    beforehand: float | tuple[Array, Array] | None = None,
    exact: bool = False,
    threads: int | None = None,
    points: Sequence[Array] = (),
    hasty: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """What can be computed of the suppressed cells, by anybody and by those who contribute to them.

    sensitivity: which cells, by which rules; without it all suppressed cells are looked at, none is called protected
    beforehand: the share of its value within which everybody knows each cell, or bounds below and above by cell; else
        that none is negative, if so
    exact: all intervals to their ends, not only as far as the verdict needs
    points: tables that somebody holds to be possible: those that are spare the solver work
    hasty: insiders are looked at until the first exposed target, if any

    >>> table = Table.of_records({"a": list("xxyy"), "b": list("uvuv"), "v": [1, 2, 3, 4]}, ["a", "b"], ["v"])
    >>> gaps = [cell == table.find("x", "u") for cell in range(len(table))]
    >>> target, = audit(table, gaps, value="v").targets
    >>> target.low, target.high, target.verdict
    (1.0, 1.0, 'exposed')
    """
    name = value_of(table, value if sensitivity is None else sensitivity.value)
    gaps = table.gaps(suppressed)
    if sensitivity is not None:
        sensitivity.check(table)
    _refuse_published_secrets(table, gaps, sensitivity, name)
    unknown = int((np.isnan(table.values[name]) & gaps).sum())
    if unknown and isinstance(beforehand, float):
        raise UsageError("What everybody knows beforehand is a share of values, and suppressed cells have none here.")
    if isinstance(beforehand, tuple):
        beforehand = known_ends(table, name, beforehand)
    look = _Look(table, name, sensitivity, beforehand, exact, threads or cores(), progress, tuple(points), hasty)
    targets, unjudged = look.wanted.of(gaps)
    found = look.judged(targets, gaps)
    if sensitivity is None:
        unjudged = ["what must be protected, and how well: no rules and no levels were given"]
    elif not sensitivity.rules and not sensitivity.sensitive.any():
        unjudged.append("what must be protected: there is no rule, and no cell is called sensitive")
    elif unknown:
        unjudged.append(
            f"{count_of(unknown, 'suppressed cell')} without a value: rules cannot tell if they are sensitive"
        )
    bad = hasty and any(target.verdict == EXPOSED for target in found)
    if sensitivity is not None and not unknown and not bad:
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


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class _Look:
    """One request: the table, the value, and what is asked of it."""

    table: Table
    name: str
    sensitivity: Sensitivity | None
    beforehand: float | tuple[Array, Array] | None
    exact: bool
    threads: int
    progress: Progress | None
    points: tuple[Array, ...] = ()
    hasty: bool = False

    @property
    def wanted(self) -> Targets:
        return Targets(self.table, self.name, self.sensitivity)

    @property
    def whole(self) -> bool:
        return self.wanted.whole

    def judged(self, targets: Sequence[Secret], gaps: Flags) -> list[Secret]:
        """Every target with its interval and its verdict, for anybody."""
        hidden, done, found = self._unknown(gaps).tolist(), 0, list[Secret]()
        for target in targets:
            if not all(hidden[cell] for cell, _ in target.cells):  # sensitive, and published
                found.append(replace(target, low=target.value, high=target.value, exact=True, verdict=EXPOSED))
        for space, cells, those in self._pieces(targets, gaps):
            found += self.chased(space, cells, those, [point[cells] for point in self.points])
            done += len(those)
            if self.progress is not None:
                self.progress("auditing", done, max(len(targets), 1))
        return found

    def chased(
        self, space: Polytope, cells: NDArray[np.int64], targets: Sequence[Secret], points: list[Array]
    ) -> list[Secret]:
        """Targets of one polytope with their intervals and verdicts; what is found possible goes to `points`."""
        chase = Chase(space, cells, self.whole, self.exact or self.sensitivity is None, self.threads)
        found = [replace(each, verdict=self._verdict(each)) for each in chase.run(targets, points)]
        points += chase.points
        return found

    def _pieces(
        self, targets: Sequence[Secret], gaps: Flags
    ) -> Iterator[tuple[Polytope, NDArray[np.int64], list[Secret]]]:
        """Targets by the suppressed cells that hang together."""
        unknown = self._unknown(gaps)
        hidden = unknown.tolist()
        parts = list(parts_of(self.table.relations, unknown))
        owner = np.full(len(self.table), -1)
        for number, (_, cells) in enumerate(parts):
            owner[cells] = number
        work: dict[tuple[int, ...], list[Secret]] = {}
        for target in targets:
            some = [cell for cell, _ in target.cells]
            if all(hidden[cell] for cell in some):
                work.setdefault(tuple(sorted({int(owner[cell]) for cell in some})), []).append(target)
        for numbers, those in work.items():
            yield *self._space(parts, numbers), those

    def _space(
        self, parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], numbers: Sequence[int]
    ) -> tuple[Polytope, NDArray[np.int64]]:
        rows = np.concatenate([parts[number][0] for number in numbers])
        cells = np.concatenate([parts[number][1] for number in numbers])
        matrix = sparse.csr_array(self.table.relations[rows][:, cells])
        start = self.table.values[self.name][cells]
        low = np.full(len(cells), -np.inf if self.wanted.signed else 0.0)
        if np.isnan(start).any():
            shown = self.table.values[self.name].copy()
            shown[cells] = 0.0
            start = some_point(matrix, -(self.table.relations[rows] @ np.nan_to_num(shown)), low, self.whole)
        high = np.full(len(cells), np.inf)
        if isinstance(self.beforehand, tuple):
            low, high = np.maximum(low, self.beforehand[0][cells]), self.beforehand[1][cells]
        elif self.beforehand is not None:
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
        """Again, for everyone who stands behind suppressed cells: alone, and so knows them, or with the largest part.

        A target that is protected from all of them is told once.
        """
        cells = np.flatnonzero(gaps)
        if not len(cells):
            return [], []
        unknown = np.flatnonzero(self._unknown(gaps))
        who = Insiders.of(self.table, self.name, unknown, gaps, self.wanted.signed)
        if who is None:
            return [], ["knowledge of lone contributors: who stands behind the cells is not known"]
        known = {target.cells for target in outside if target.verdict == EXPOSED}
        open_ = [target for target in outside if target.cells not in known]
        found, unjudged = self._asked(gaps, open_, known, who)
        if self.table.contributors is None and len(who.everyone) > 1 and not self._bad(found):
            one = replace(who, alone=np.where(who.alone >= 0, 0, -1))
            together, _ = self._asked(gaps, open_, known, one)
            if any(target.verdict != PROTECTED for target in together):
                unjudged.add("knowledge of lone contributors: whether one stands behind several cells is not known")
        return found, [] if self._bad(found) else sorted(unjudged)

    def _bad(self, found: Sequence[Secret]) -> bool:
        return self.hasty and any(target.verdict == EXPOSED for target in found)

    def _asked(
        self, gaps: Flags, targets: Sequence[Secret], known: set[tuple[tuple[int, int], ...]], who: Insiders
    ) -> tuple[list[Secret], set[str]]:
        """Targets before insiders; known: what anybody knows."""
        everyone, x = who.everyone, self.table.values[self.name]
        fresh, unjudged = self.wanted.sums(gaps, *who.equations(self.table), who.alone)
        sums: dict[int, list[Secret]] = {}
        for each in fresh:
            if each.cells not in known and each.insider is not None:
                sums.setdefault(each.insider, []).append(each)
        found, done = list[Secret](), 0
        for space, cells, those in self._pieces([*targets, *(each for some in sums.values() for each in some)], gaps):
            mine, here = [each for each in those if each.insider is None], set(cells.tolist())
            screen = Screen(space, cells, mine, [point[cells] for point in self.points])
            looked, worse = np.full(len(mine), -1), np.zeros(len(mine), dtype=bool)
            for unit in who.touching(cells):
                inside = who.inside(unit, space, cells)
                others = ~screen.touched(inside.fixed)
                open_, points = screen.open(inside.low, inside.high, screen.down(inside.shared, inside.part))
                left = [mine[number] for number in np.flatnonzero(open_ & others)]
                left += [each for each in sums.get(unit, []) if each.cells[0][0] in here]
                left = [
                    replace(each, low=np.nan, verdict=UNJUDGED, why="", insider=unit,
                            lower=min(each.lower, who.down(unit, x, each.cells)))
                    for each in left
                ]  # fmt: skip
                looked[others] = unit
                narrow = replace(space, low=inside.low, high=inside.high)
                old = len(points)
                told = self.chased(narrow, cells, left, points) if left else []
                screen.add(points[old:])
                for number, each in zip(np.flatnonzero(open_ & others), told, strict=False):
                    worse[number] |= each.verdict != PROTECTED
                found += [each for each in told if each.verdict != PROTECTED or each.cells not in screen.known]
                if self._bad(told):
                    return found, set()
                done += 1
                if self.progress is not None:
                    self.progress("insiders", min(done, len(everyone)), len(everyone))
            found += [
                replace(each, insider=int(unit))
                for each, unit, bad in zip(mine, looked, worse, strict=True)
                if unit >= 0 and not bad
            ]
        return found, set(unjudged)

    def _unknown(self, gaps: Flags) -> Flags:
        return (gaps | self.table.hidden) & ~self.table.impossible
