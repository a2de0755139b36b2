"""Audits of one value of a table, one pattern after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError, count_of
from suffice.progress import Progress
from suffice.rows.threads import cores
from suffice.tables.audit import Audit
from suffice.tables.chase import Chase
from suffice.tables.connected import parts_of, untold
from suffice.tables.insiders import Insiders
from suffice.tables.interview import Interview, Piece
from suffice.tables.pattern import known_ends
from suffice.tables.secret import EXPOSED, POSSIBLE, PROTECTED, UNJUDGED, Secret
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.solver import Polytope, some_point
from suffice.tables.table import Table
from suffice.tables.targets import Targets

FEWEST, MOST, ROOM = 4, 32, 1_500_000
"""Changes that are remembered, and numbers that they take."""
PLENTY = 3
"""Times as many numbers where an audit is not one of many, and what it found hard will be hard in the next one."""
ROW = 4
"""Exposed targets, beyond which a rough audit looks for no others that are harder to find; insiders in a row to whom
something is exposed, after which it calls exposed to the others what is left open."""
KNOWN = 2_000
"""Pieces whose verdicts are remembered."""
COARSE = 0.01
"""Of a protection level: what the last digits of cells around may make of an interval that just reaches it."""
NOBODY = "knowledge of lone contributors: who stands behind the cells is not known"
PERHAPS_ONE = "knowledge of lone contributors: whether one stands behind several cells is not known"


class Auditor:
    """What was found possible in one pattern is tried in the next one."""

    def __init__(
        self,
        table: Table,
        sensitivity: Sensitivity | None,
        name: str,
        beforehand: float | tuple[Array, Array] | None = None,
        exact: bool = False,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Its parameters are those of `audit`."""
        self.table, self.name, self.sensitivity, self.progress = table, name, sensitivity, progress
        if sensitivity is not None:
            sensitivity.check(table)
        if isinstance(beforehand, tuple):
            beforehand = known_ends(table, name, beforehand)
        self.beforehand, self.exact, self.threads = beforehand, exact, threads or cores()
        self.wanted = Targets(table, name, sensitivity)
        self.moves = np.zeros((0, len(table)))
        """Changes that keep all equations, which were found possible."""
        self.lean: Array | None = None
        self.done = dict[tuple[object, ...], tuple[list[Secret], list[Secret]]]()
        """What was found of pieces, which may be those of another pattern, too."""

    def of(
        self, suppressed: Sequence[bool] | Flags, points: Sequence[Array] = (), hasty: bool = False, rough: bool = False
    ) -> Audit:
        """The audit of a pattern; points, hasty: as `audit` takes them.

        rough: for a pattern that grows: what is exposed to anybody, or follows from what an insider knows, is told
            before the rest is looked for, and what is likely exposed to insiders is called so. Only where nothing is
            called exposed has all been looked at
        """
        table, given, x = self.table, self.sensitivity, self.table.values[self.name]
        tell = None if hasty else self.progress  # one of many audits: whoever asks for them says how far they are
        gaps = table.gaps(suppressed)
        _refuse_published_secrets(table, gaps, given, self.name)
        empty = int((np.isnan(x) & gaps).sum())
        if empty and isinstance(self.beforehand, float):
            raise UsageError("What everybody knows beforehand is a share of values; suppressed cells have none here.")
        unknown = (gaps | table.hidden) & ~table.impossible
        if len(points) and not empty:
            self._keep([point - x for point in points], hasty)
            self.lean = points[0] - x
        hidden = unknown if given is None else untold(table.relations, unknown, self._moved(unknown))
        targets, unjudged = self.wanted.of(gaps, hidden)
        told = ~unknown if empty else ~hidden
        found = [self._told(target) for target in targets if told[target.cells[0][0]]]  # published, or it follows
        enough = 0 if hasty else ROW if rough else np.inf
        if _exposed(found) > enough:
            return Audit(table, self.name, gaps, tuple(found), ())
        if len(self.done) > KNOWN:
            self.done.clear()
        pieces = self._pieces([target for target in targets if not told[target.cells[0][0]]], unknown)
        fresh, more = [list[Secret]() for _ in pieces], list[str]()
        who = Insiders.of(table, self.name, unknown, gaps, self.wanted.signed) if self._asks(empty, gaps) else None
        if who is not None:
            fresh, more = self._fresh(gaps, hidden, pieces, who)
        elif self._asks(empty, gaps):
            more = [NOBODY]
        keys = [piece.key(gaps, some, who) for piece, some in zip(pieces, fresh, strict=True)]
        asked = [
            None if key in self.done or who is None else Interview.of(self.wanted, piece, some, who)
            for piece, some, key in zip(pieces, fresh, keys, strict=True)
        ]
        for interview in asked:
            if interview is not None:
                interview.together()
        for piece, key in zip(pieces, keys, strict=True):
            before = self.done.get(key)
            piece.targets[:] = self._chased(piece.space, piece, piece.targets) if before is None else before[0]
            found += piece.targets
            if tell is not None:
                tell("auditing", len(found), max(len(targets), 1))
        unjudged += self._not_asked(empty) if given is not None else []
        if rough and who is not None and _exposed(found) <= enough:
            known = self.wanted.known(gaps, hidden, who)
            found += [each for interview in asked if interview is not None for each in interview.told(*known)]
        if _exposed(found) <= enough:
            bad = False
            for number, (piece, key, interview) in enumerate(zip(pieces, keys, asked, strict=True)):
                inside = self.done[key][1] if key in self.done else self._insiders(interview, hasty, rough)
                found += inside
                bad = hasty and _exposed(inside) > 0
                if bad:
                    break
                if not (empty or (rough and _exposed(inside))):
                    self.done[key] = list(piece.targets), inside
                if tell is not None:
                    tell("insiders", number + 1, len(pieces))
            if who is not None and not bad and self._perhaps_one(gaps, hidden, pieces, who):
                more.append(PERHAPS_ONE)
            unjudged += [] if bad else sorted(set(more))
        if not empty:
            first = next((piece.change(piece.points[0], len(table)) for piece in pieces if piece.points), None)
            self.lean = first if self.lean is None else self.lean
            moves = [(piece, point) for piece in pieces for point in piece.points[piece.old :]]
            self._keep([piece.change(point, len(table)) for piece, point in moves[: self._most(hasty)]], hasty)
        if given is None:
            unjudged = ["what must be protected, and how well: no rules and no levels were given"]
        unjudged += sorted({target.why for target in found if target.why})
        bare = 0 if given is None else _bare(found)
        if bare:
            unjudged.append(f"{count_of(bare, 'sensitive cell')} without a protection level: how well is not said")
        return Audit(table, self.name, gaps, tuple(found), tuple(unjudged))

    def _told(self, target: Secret) -> Secret:
        numbers = 1 if self.wanted.whole else None
        return replace(target, low=target.value, high=target.value, exact=True, numbers=numbers, verdict=EXPOSED)

    def _not_asked(self, empty: int) -> list[str]:
        given = self.sensitivity
        if given is not None and not given.rules and not given.sensitive.any():
            return ["what must be protected: there is no rule, and no cell is called sensitive"]
        some = f"{count_of(empty, 'suppressed cell')} without a value: rules cannot tell if they are sensitive"
        return [some] if empty else []

    def _most(self, hasty: bool) -> int:
        """How many changes are remembered: one of many audits has no more than were there before it."""
        room = ROOM // len(self.table)
        return max(FEWEST, min(MOST, room), len(self.moves)) if hasty else max(FEWEST, PLENTY * room)

    def _keep(self, moves: Sequence[Array], hasty: bool) -> None:
        """Remembers changes, as many as there is room for, the last ones first."""
        if len(moves):
            most = self._most(hasty)
            self.moves = np.concatenate([np.array(moves[:most]), self.moves])[:most]

    def _moved(self, unknown: Flags) -> Flags:
        """Cells that changes move which need no published cell."""
        moves = self.moves != 0
        return np.asarray(moves[~moves[:, ~unknown].any(axis=1)].any(axis=0))

    def _pieces(self, targets: Sequence[Secret], unknown: Flags) -> list[Piece]:
        """Unknown cells that hang together, as those of an equation do, where there are targets."""
        parts = list(parts_of(self.table.relations, unknown))
        owner = np.full(len(self.table), -1)
        for number, (_, cells) in enumerate(parts):
            owner[cells] = number
        work: dict[int, list[Secret]] = {}
        for target in targets:
            number = int(owner[target.cells[0][0]])
            if number >= 0:
                work.setdefault(number, []).append(target)
        return [self._piece(*parts[number], those) for number, those in work.items()]

    def _piece(self, rows: NDArray[np.int64], cells: NDArray[np.int64], targets: list[Secret]) -> Piece:
        matrix = sparse.csr_array(self.table.relations[rows][:, cells])
        start = self.table.values[self.name][cells]
        low, high = np.full(len(cells), -np.inf if self.wanted.signed else 0.0), np.full(len(cells), np.inf)
        if np.isnan(start).any():
            shown = self.table.values[self.name].copy()
            shown[cells] = 0.0
            start = some_point(matrix, -(self.table.relations[rows] @ np.nan_to_num(shown)), low, self.wanted.whole)
        if isinstance(self.beforehand, tuple):
            low, high = np.maximum(low, self.beforehand[0][cells]), self.beforehand[1][cells]
        elif self.beforehand is not None:
            low = np.maximum(low, start - self.beforehand * np.abs(start))
            high = start + self.beforehand * np.abs(start)
        space = Polytope(matrix, start, low, high, self.wanted.whole)
        known = self.moves[:, cells]
        known = start + known[(known != 0).any(axis=1)]
        points = list(known[space.holds(known)])
        return Piece(space, cells, targets, points, len(points), None if self.lean is None else self.lean[cells])

    def _chased(self, space: Polytope, piece: Piece, targets: Sequence[Secret]) -> list[Secret]:
        """Targets with their intervals and verdicts; what was found possible is kept."""
        exact = self.sensitivity is None or (self.exact and space is piece.space)
        chase = Chase(space, piece.cells, self.wanted.whole, exact, self.threads)
        found = [replace(each, verdict=self._verdict(each)) for each in chase.run(targets, piece.points)]
        piece.points.extend(chase.points)
        return found

    def _verdict(self, target: Secret) -> str:
        if np.isnan(target.low):
            return UNJUDGED
        if target.high - target.low <= 3 * target.room or (target.numbers is not None and target.numbers < POSSIBLE):
            return EXPOSED
        if self.sensitivity is None or np.isnan(target.value):
            return UNJUDGED
        if not self.wanted.whole and target.value and max(target.lower, target.upper) <= 0:
            return UNJUDGED  # nobody has said how far is far enough
        below, above = target.value - target.low, target.high - target.value
        short = max(target.lower - below, target.upper - above)
        if short <= 0:
            return PROTECTED
        if short > target.room:
            return EXPOSED
        return PROTECTED if self.wanted.whole or target.room <= COARSE * max(target.lower, target.upper) else UNJUDGED

    def _asks(self, empty: int, gaps: Flags) -> bool:
        return self.sensitivity is not None and not empty and bool(gaps.any())

    def _fresh(
        self, gaps: Flags, hidden: Flags, pieces: Sequence[Piece], who: Insiders
    ) -> tuple[list[list[Secret]], list[str]]:
        """Sums that are left for those who know cells, by piece."""
        some, unjudged = self.wanted.before(gaps, hidden, who)
        owner, found = np.full(len(self.table), -1), list[list[Secret]]([] for _ in pieces)
        for number, piece in enumerate(pieces):
            owner[piece.cells] = number
        for target in some:
            if owner[target.cells[0][0]] >= 0:
                found[owner[target.cells[0][0]]].append(target)
        return found, unjudged

    def _perhaps_one(self, gaps: Flags, hidden: Flags, pieces: Sequence[Piece], who: Insiders) -> bool:
        """Whether it matters who is alone in which cells, where a summary does not say it."""
        if self.table.contributors is not None or len(who.everyone) < 2:
            return False
        one = who.together()
        fresh, _ = self._fresh(gaps, hidden, pieces, one)
        for piece, some in zip(pieces, fresh, strict=True):
            told = self._insiders(Interview.of(self.wanted, piece, some, one), True)
            if any(target.verdict != PROTECTED for target in told):
                return True
        return False

    def _insiders(self, interview: Interview | None, hasty: bool, rough: bool = False) -> list[Secret]:
        """What is exposed to insiders, and once each what is protected from all of them."""
        found, row = list[Secret](), 0
        if interview is None:
            return found
        for space, targets in interview.run():
            if row < ROW:
                told = self._chased(space, interview.piece, targets)
                row = row + 1 if rough and _exposed(told) else 0
                interview.screen.each = row < ROW
            else:
                told = [replace(target, verdict=EXPOSED) for target in targets]
            found += interview.noted(told)
            if hasty and _exposed(told):
                return found
        return [*found, *interview.protected()]


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


def _exposed(found: Sequence[Secret]) -> int:
    return sum(target.verdict == EXPOSED for target in found)


def _bare(found: Sequence[Secret]) -> int:
    """Sensitive cells that nothing protects by a level, nor by whole numbers."""
    open_ = [t for t in found if t.verdict == UNJUDGED and not np.isnan(t.low) and not np.isnan(t.value)]
    return len({target.cells for target in open_ if max(target.lower, target.upper) <= 0})
