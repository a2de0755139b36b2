"""Cells that hang together, and what is to be kept there from each of those who contribute to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.tables.chase import costs_of
from suffice.tables.insiders import Insiders
from suffice.tables.screen import Attackers, Distances, Screen
from suffice.tables.secret import EXPOSED, POSSIBLE, PROTECTED, Secret
from suffice.tables.solver import Polytope
from suffice.tables.targets import Relief, Targets


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Piece:
    """Unknown cells that hang together, the targets in them, and what is known to be possible.

    old: how many of the points were known before
    lean: a change in which many targets are at their levels, or were in another pattern
    """

    space: Polytope
    cells: NDArray[np.int64]
    targets: list[Secret]
    points: list[Array]
    old: int
    lean: Array | None = None

    def key(self, gaps: Flags, more: Sequence[Secret], who: Insiders | None) -> tuple[object, ...]:
        """What its verdicts depend on, in one table; more: sums that are left for insiders."""
        targets = tuple((target.cells, target.insider) for target in (*self.targets, *more))
        asked = b"" if who is None else who.touching(self.cells).tobytes()  # some for cells of other pieces
        return self.cells.tobytes(), gaps[self.cells].tobytes(), targets, asked

    def change(self, point: Array, size: int) -> Array:
        """A point as a change of the whole table."""
        moved = np.zeros(size)
        moved[self.cells] = point - self.space.start
        return moved


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Interview:
    """Targets of one piece before insiders.

    targets: those of the piece, and sums that are left for insiders who know cells of them
    units: the insiders
    worse: which targets are not protected from somebody
    seen: points that the screen has seen
    """

    piece: Piece
    targets: list[Secret]
    units: NDArray[np.int64]
    attackers: Attackers
    relief: Relief
    none: Flags
    screen: Screen
    whole: bool
    worse: set[tuple[tuple[int, int], ...]] = field(default_factory=set)
    seen: list[Array] = field(default_factory=list)

    @classmethod
    def of(cls, wanted: Targets, piece: Piece, more: Sequence[Secret], who: Insiders) -> Interview | None:
        """None where nobody is to be asked."""
        units, targets, cells = who.touching(piece.cells), [*piece.targets, *more], piece.cells
        if not (len(units) and targets):
            return None
        place = np.full(len(who.place), -1)
        place[units] = np.arange(len(units))
        lone = np.flatnonzero(who.alone[cells] >= 0)
        size = (len(units), len(cells))
        own = sparse.csr_array((np.ones(len(lone)), (place[who.alone[cells[lone]]], lone)), shape=size)
        parts, costs = sparse.csr_array(who.parts[units][:, cells]), costs_of(targets, cells)
        over = sparse.csr_array((costs.data, cells[costs.indices], costs.indptr), shape=(len(targets), len(who.alone)))
        relief = wanted.against(targets, over, sparse.csr_array(parts @ costs.T))
        none = np.asarray((own @ abs(costs).T).todense()) > 0
        for number, target in enumerate(targets):
            if target.insider is not None:
                none[:, number] |= np.arange(len(units)) != place[target.insider]
        none[relief.who[~relief.secret], relief.which[~relief.secret]] = True
        attackers = Attackers(own, sparse.csr_array(parts - parts * own))
        down, up = (np.array([getattr(target, side) for target in targets]) for side in ("lower", "upper"))
        screen = Screen(piece.space, attackers, Distances(costs, down, up, *relief.pairs, none), piece.lean)
        return cls(piece, targets, units, attackers, relief, none, screen, wanted.whole)

    def together(self) -> None:
        """Tries what is known to be possible, and all insiders as one."""
        self._show()
        self.screen.together()
        self._take()

    def told(self, units: NDArray[np.int64], cells: NDArray[np.int64]) -> list[Secret]:
        """Targets that are exposed because insiders know their cells; units, cells: who knows which."""
        levels, found = self._levels, list[Secret]()
        place = {unit: number for number, unit in enumerate(self.units.tolist())}
        which = {target.cells[0][0]: number for number, target in enumerate(self.targets) if not target.is_sum}
        for unit, cell in sorted(set(zip(units.tolist(), cells.tolist(), strict=True))):
            if unit in place and cell in which and not self.none[place[unit], which[cell]]:
                found.append(replace(self._target(place[unit], which[cell], levels), verdict=EXPOSED))
        return found

    def run(self) -> Iterator[tuple[Polytope, list[Secret]]]:
        """What nothing shows safe, an insider at a time."""
        known = {target.cells for target in self.piece.targets if target.verdict == EXPOSED}
        if known:
            self.screen.leave(np.array([target.cells in known for target in self.targets]))
        self._show()
        levels = self._levels
        for one in self.screen.run():
            low, high, _ = self.attackers.bounds(self.piece.space, np.array([one]))
            open_ = np.flatnonzero(self.screen.open[one]).tolist()
            self._take()
            yield (
                replace(self.piece.space, low=low, high=high),
                [self._target(one, number, levels) for number in open_],
            )
        self._take()
        self.none[:, [target.cells in known for target in self.targets]] = True

    def noted(self, told: Sequence[Secret]) -> list[Secret]:
        """Those that are not protected."""
        found = [each for each in told if each.verdict != PROTECTED]
        self.worse.update(each.cells for each in found)
        return found

    def protected(self) -> list[Secret]:
        """Each target once, for one of those whom it is protected from, and for its largest contributor."""
        first = zip(np.argmin(self.none, axis=0).tolist(), range(len(self.targets)), strict=True)
        relief, levels = self.relief, self._levels
        largest = zip(relief.who[relief.first].tolist(), relief.which[relief.first].tolist(), strict=True)
        found = list[Secret]()
        for one, number in sorted({*first, *largest}):
            each = self._target(one, number, levels)
            if each.cells not in self.worse and not self.none[one, number]:
                ends = {"low": each.value - each.lower, "high": each.value + each.upper}
                numbers = POSSIBLE if self.whole else None
                found.append(replace(each, **ends, numbers=numbers, verdict=PROTECTED))  # type: ignore[arg-type]
        return found

    @property
    def _levels(self) -> dict[tuple[int, int], tuple[float, float]]:
        relief = self.relief
        pairs = zip(relief.who.tolist(), relief.which.tolist(), strict=True)
        return dict(zip(pairs, zip(relief.down.tolist(), relief.up.tolist(), strict=True), strict=True))

    def _target(self, one: int, number: int, levels: dict[tuple[int, int], tuple[float, float]]) -> Secret:
        each = self.targets[number]
        lower, upper = levels.get((one, number), (each.lower, each.upper))
        return Secret(each.cells, each.value, lower, upper, insider=int(self.units[one]))

    def _show(self) -> None:
        points = self.piece.points[len(self.seen) :]
        self.screen.show(np.array(points).reshape(len(points), len(self.piece.cells)))
        self.seen.extend(points)

    def _take(self) -> None:
        self.piece.points.extend(self.screen.taken())
        self.seen.extend(self.piece.points[len(self.seen) :])
