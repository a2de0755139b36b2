"""When a walk has gone far enough."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.rotation.likeness import Likeness

WINDOW, PATIENCE, FALL = 20, 600, 0.05
"""A correlation, averaged over WINDOW sweeps, that fell by less than FALL in PATIENCE sweeps has stopped."""
LOW = 0.1
"""A walk that rests ends at a point that is among this share of the lowest of its last PATIENCE sweeps."""


@dataclass
class Course:
    """The canonical correlation after every sweep, and whether the walk has arrived.

    It has arrived when nothing but chance is followed: the correlation is inside its null, after twice the sweeps that
    brought it there, and no more records are linked than by chance, and one. Or when the correlation has stopped
    falling: the walk then moves about a level, and ends at a low point of it that links no more than chance either;
    or, after as many sweeps again, at the next low point.

    null: what the canonical correlation of unrelated residuals stays below.
    chance: how many records unrelated residuals link.
    rest: the sweep after which the correlation had stopped falling.
    """

    null: float
    chance: int
    canonical: list[float] = field(default_factory=list)
    rest: int | None = None

    def note(self, canonical: float) -> None:
        """After one more sweep."""
        self.canonical.append(canonical)
        if self.rest is None and self._stalled():
            self.rest = self.sweeps

    @property
    def sweeps(self) -> int:
        return len(self.canonical)

    @property
    def inside(self) -> int | None:
        """The first sweep after which the correlation was inside its null."""
        return next((i for i, each in enumerate(self.canonical, 1) if each <= self.null), None)

    def unlinked(self, likeness: Likeness, Y: Array) -> bool:
        """Whether no more records are linked than by chance, and one."""
        return likeness.linked(Y) <= self.chance + 1

    def reason(self, likeness: Likeness, Y: Array) -> str | None:
        """Why to stop at Y, or None."""
        if self._inside_for_long() and self.unlinked(likeness, Y):
            return "the original is followed by chance only"
        if self._low() and (self._rested() or self.unlinked(likeness, Y)):
            return "the canonical correlation has stopped falling"
        return None

    def _inside_for_long(self) -> bool:
        inside = self.inside
        return inside is not None and self.sweeps >= 2 * inside and self.canonical[-1] <= self.null

    def _stalled(self) -> bool:
        if self.sweeps < WINDOW + PATIENCE:
            return False
        before = self.canonical[-WINDOW - PATIENCE : -PATIENCE]
        return sum(self.canonical[-WINDOW:]) > (1 - FALL) * sum(before)

    def _low(self) -> bool:
        """At rest, and at a low point."""
        return self.rest is not None and self.canonical[-1] <= float(np.quantile(self.canonical[-PATIENCE:], LOW))

    def _rested(self) -> bool:
        return self.rest is not None and self.sweeps >= 2 * self.rest


@dataclass(frozen=True)
class Target:
    """What a walk may be asked to reach; it ends at the first sweep that has all of it.

    correlation: no residual correlation with the original is above this.
    linkage: no larger share of the records is linked, or no more than by chance, and one.
    """

    correlation: float | None
    linkage: float | None

    @property
    def asked(self) -> bool:
        return self.correlation is not None or self.linkage is not None

    def reached(self, likeness: Likeness, course: Course, Y: Array) -> bool:
        return self._unlike(likeness, Y) and self._unlinked(likeness, course, Y)

    def _unlike(self, likeness: Likeness, Y: Array) -> bool:
        largest = float(np.abs(likeness.correlations(Y)).max(initial=0.0))
        return self.correlation is None or largest <= self.correlation

    def _unlinked(self, likeness: Likeness, course: Course, Y: Array) -> bool:
        if self.linkage is None:
            return True
        return course.unlinked(likeness, Y) or likeness.linked(Y) <= self.linkage * len(likeness.sample)
