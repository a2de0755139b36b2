"""When a walk has gone far enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.rotation.likeness import Likeness

DRAWN, DRAWN_GIVEN = 200, 600
"""Sweeps of records that were drawn: nothing is to be forgotten, and shapes are the law's from the start. Where columns
are given and groups are large, how residuals bend with them is the law's later: until records are TURNED, at most so
many."""
TURNED = 3.5
"""How far: squares of all steps, over twice those of the residuals; in half of the columns so much. As many steps that
do not follow each other leave exp(-3.5) of where they began."""
INSIDE = 1000
"""Sweeps in which drawn records must come inside the limits; else the walk starts from the original."""
FIRST, LARGE_FIRST = 600, 300
"""Sweeps under the law, at least, then twice as many each time that the walk still follows itself; of a large
file, so many."""
AGAIN = 50
"""Sweeps of the records of a large file that were walked in super-blocks and then dealt anew: walks mix, and none of
them has anything to forget."""
LARGE = 100_000
"""Records of a large file."""
LONG = 3000
"""Sweeps where columns are given, since giants come back slowly; of a large file, FIRST after those that left the
start."""
FEW_CELLS = 12
"""Groups of so few cells leave any start under the law itself, where columns are given too."""
LEAVING, RISING = 300, 300
"""Sweeps that leave the start, under a law that counts LITTLE, and sweeps in which it comes to count fully."""
LITTLE = 0.3
SHORT_LEAVING, SHORT_RISING, SHORT_LITTLE = 0.6, 0.2, 0.1
"""The same as shares of a number of sweeps that is fixed, since short walks leave more of their start."""


@dataclass(frozen=True)
class Schedule:
    """How much the law counts in each sweep, and who meets whom: the same whatever the walk does.

    leaving, rising: sweeps before the first that has the law alone.
    little: how much it counts in the first of them.
    """

    leaving: int = 0
    rising: int = 0
    little: float = LITTLE

    @classmethod
    def of(cls, leaves: bool, sweeps: int | None) -> Schedule:
        """leaves: whether the walk needs help to leave its start. sweeps: of the whole walk, if that is fixed."""
        if not leaves:
            return cls()
        if sweeps is None:
            return cls(LEAVING, RISING)
        return cls(round(SHORT_LEAVING * sweeps), round(SHORT_RISING * sweeps), SHORT_LITTLE)

    @property
    def before(self) -> int:
        return self.leaving + self.rising

    def weight(self, sweep: int) -> float:
        """Of the law in a sweep (counted from 1).

        >>> [round(Schedule(1, 2).weight(sweep), 2) for sweep in (1, 2, 3, 4)]
        [0.3, 0.65, 1.0, 1.0]
        """
        if sweep > self.before:
            return 1.0
        return self.little + (1 - self.little) * max(0, sweep - self.leaving) / max(1, self.rising)


def turned(root: Array, before: Array, after: Array) -> Array:
    """Per column: half the squares of the steps that records took, in sqrt(w) scale."""
    step = root[:, None] * (after - before)
    return np.asarray((step * step).sum(axis=0) / 2)


def follows(likeness: Likeness, Y: Array, generator: np.random.Generator) -> bool:
    """Whether records still follow where they were: a canonical correlation or linked records beyond chance.

    likeness: with the walk's own state some sweeps ago, not with the original.
    """
    if likeness.canonical(Y) > likeness.null(generator):
        return True
    linked = likeness.linked(Y)
    return linked > 2 and linked > likeness.chance(generator) + 1


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

    def reached(self, likeness: Likeness, chance: int, Y: Array) -> bool:
        """chance: how many records unrelated residuals link."""
        return self._unlike(likeness, Y) and self._unlinked(likeness, chance, Y)

    def _unlike(self, likeness: Likeness, Y: Array) -> bool:
        largest = float(np.abs(likeness.correlations(Y)).max(initial=0.0))
        return self.correlation is None or largest <= self.correlation

    def _unlinked(self, likeness: Likeness, chance: int, Y: Array) -> bool:
        if self.linkage is None:
            return True
        return likeness.linked(Y) <= max(chance + 1, self.linkage * len(likeness.sample))
