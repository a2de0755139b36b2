"""Where a walk ended, and what must be said about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.rotation.likeness import Likeness
from suffice.errors import count_of
from suffice.method.records import Records

SAME = 1e-6
"""A cell within this share of a standard deviation of where it started has not moved."""
RIGID = 0.9
"""A direction that the release follows with a canonical correlation above this is rigid."""


@dataclass(frozen=True, repr=False)
class Walk:
    """A release by rotation with its facts.

    sweeps, before, repairs: sweeps walked; of these, those before the law alone; and sweeps to get inside the limits.
    canonical, null: largest canonical correlation with the original, and what unrelated records reach.
    course: the canonical correlation after every sweep, where their number was fixed.
    reason: why the walk ended; None: all sweeps were used.
    unmoved: rows that never moved, all-zero ones aside.
    rigid: for each direction that still follows the original, the positions of its columns.
    ratio: the error of the kept moments that is left, in units of what the digits hold.
    outside: whether records were drawn anew and did not come inside the limits.
    """

    Ystar: Array
    sweeps: int
    before: int
    repairs: int
    canonical: float
    null: float
    course: tuple[float, ...]
    reason: str | None
    unmoved: tuple[int, ...]
    rigid: tuple[tuple[int, ...], ...]
    ratio: float
    names: tuple[str, ...] = ()
    outside: bool = False

    @classmethod
    def of(
        cls,
        Ystar: Array,
        task: Records,
        likeness: Likeness,
        null: float,
        sweeps: tuple[int, int, int],
        course: tuple[float, ...],
        reason: str | None,
        ratio: float,
    ) -> Walk:
        """sweeps: all, those before the law alone, and those of the repair."""
        rigid = likeness.rigid(Ystar, max(RIGID, null))
        still = unmoved(task.original, Ystar)
        return cls(Ystar, *sweeps, likeness.canonical(Ystar), null, course, reason, still, rigid, ratio, task.names)

    def remarks(self) -> tuple[str, ...]:
        """In sentences: counts and names only."""
        ended = f": {self.reason}" if self.reason else ""
        said = [f"{self.sweeps} sweeps{ended}."]
        if self.outside:
            said.append("From the original: records drawn anew did not come inside the limits.")
        if self.before:
            said.append(f"{self.before} of them to leave the start.")
        if self.repairs:
            said.append(f"{self.repairs} sweeps before them to get inside the limits.")
        said.append(f"Canonical correlation with the original {self.canonical:.2f} (unrelated: below {self.null:.2f}).")
        if self.unmoved:
            said.append(f"{count_of(len(self.unmoved), 'record')} never moved.")
        said.extend(f"A combination of {self._columns(each)} stays as it was." for each in self.rigid)
        return tuple(said)

    def _columns(self, positions: tuple[int, ...]) -> str:
        return ", ".join(self.names[j] if self.names else f"column {j}" for j in positions)

    def __repr__(self) -> str:
        return f"Walk({self.sweeps} sweeps)"


def unmoved(Y: Array, Ystar: Array) -> tuple[int, ...]:
    """Rows released where they were; all-zero records and constant columns do not count."""
    sd = Y.std(axis=0)
    open_ = sd > 4 * np.finfo(np.float64).eps * np.abs(Y).max(axis=0, initial=0.0)
    still = (np.abs(Ystar - Y)[:, open_] <= SAME * sd[open_]).all(axis=1)
    return tuple(np.flatnonzero(still & (Y[:, open_] != 0).any(axis=1)).tolist())
