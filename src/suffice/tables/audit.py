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
from suffice.tables.insiders import alone, contributed
from suffice.tables.pattern import known_ends
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
        return name + (", for a lone contributor of another cell" if target.insider is not None else "")


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
    """What can be computed of the suppressed cells, by anybody and by each lone contributor.

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

    def judged(self, targets: Sequence[Secret], gaps: Flags, insider: int | None = None) -> list[Secret]:
        """Every target with its interval and its verdict, for anybody or for an insider."""
        unknown = self._unknown(gaps)
        hidden = unknown.tolist()
        parts = list(parts_of(self.table.relations, unknown))
        owner = np.full(len(self.table), -1)
        for number, (_, cells) in enumerate(parts):
            owner[cells] = number
        done, found = 0, list[Secret]()
        work: dict[tuple[int, ...], list[Secret]] = {}
        for target in targets:
            some = [cell for cell, _ in target.cells]
            if not all(hidden[cell] for cell in some):  # sensitive, and published
                found.append(
                    replace(target, low=target.value, high=target.value, exact=True, verdict=EXPOSED, insider=insider)
                )
            else:
                work.setdefault(tuple(sorted({int(owner[cell]) for cell in some})), []).append(target)
        for numbers, those in work.items():
            space, cells = self._space(parts, numbers)
            chase = Chase(space, cells, self.whole, self.exact or self.sensitivity is None, self.threads)
            found += chase.run(those, [point[cells] for point in self.points])
            done += len(those)
            if self.progress is not None:
                self.progress("auditing", done, max(len(targets), 1))
        return [
            replace(each, verdict=self._verdict(each), insider=insider) if each.verdict == UNJUDGED else each
            for each in found
        ]

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
        """Again, for everyone who stands alone behind suppressed cells and so knows them."""
        cells = np.flatnonzero(gaps)
        if not len(cells) or (self.whole and not self._named):  # who is counted knows of no one else
            return [], []
        everywhere = alone(self.table, self.name)
        if everywhere is None:
            return [], ["knowledge of lone contributors: who stands behind the cells is not known"]
        lone = everywhere[cells]
        known = {target.cells for target in outside if target.verdict == EXPOSED}
        base = [replace(t, low=np.nan, verdict=UNJUDGED, why="") for t in outside if t.cells not in known]
        home = np.full(len(self.table), -1)
        for number, (_, some) in enumerate(parts_of(self.table.relations, self._unknown(gaps))):
            home[some] = number
        unjudged = set[str]()

        def told(own: NDArray[np.int64], insider: int) -> list[Secret]:
            left = gaps.copy()
            left[own] = False
            away = (~np.isin(home, home[own]) | (gaps & ~left)).tolist()
            rows = np.unique(self.table.relations.tocsc()[:, own].indices)  # equations that its own cells are in
            fresh, more = self.wanted.sums(left, sparse.csr_array(self.table.relations[rows]), self.table.totals[rows])
            unjudged.update(more)
            targets = [t for t in [*base, *fresh] if t.cells not in known and not any(away[c] for c, _ in t.cells)]
            targets = self.wanted.against(targets, contributed(self.table, self.name, insider, own))
            return replace(self, progress=None).judged(targets, left, insider)

        found, everyone = list[Secret](), np.unique(lone[lone >= 0])
        for number, insider in enumerate(everyone):
            here = told(cells[lone == insider], int(insider))
            found += here
            if self.progress is not None:
                self.progress("insiders", number + 1, len(everyone))
            if self.hasty and any(target.verdict == EXPOSED for target in here):
                return found, []
        if self.table.contributors is None and len(everyone) > 1:
            together = told(cells[lone >= 0], int(everyone[0]))
            if any(target.verdict != PROTECTED for target in together):
                unjudged.add("knowledge of lone contributors: whether one stands behind several cells is not known")
        return found, sorted(unjudged)

    @property
    def _named(self) -> bool:
        people, known = self.table.contributors, self.table.known
        if people is not None:
            return people.names is not None
        return known is not None and not np.isnan(known.units).any()

    def _unknown(self, gaps: Flags) -> Flags:
        return (gaps | self.table.hidden) & ~self.table.impossible
