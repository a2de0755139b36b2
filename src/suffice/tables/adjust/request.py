"""What is asked of an adjustment, as numbers: levels, bounds and sizes of all cells, and sets whose statistics stay."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError
from suffice.seed import Seed, Stream
from suffice.tables.adjust.kernel import Grain
from suffice.tables.adjust.problem import Problem
from suffice.tables.pattern import known_ends
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table

WIDE = 1.5
"""Times its level: up to where the size of a sensitive cell is drawn."""
END = 0.2
"""Of the room above its size: where the largest change of a sensitive cell is drawn."""
TILT = 1e-6
"""By how much the key makes one direction of a cell cheaper: it decides between those that cost the same."""


Limits = tuple[float | Mapping[str, Array], Sequence[int], Mapping[str, tuple[Array, Array]]]
"""Capacities, fixed cells, and between which everybody knows the cells to be, by value."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class AdjustmentRequest:
    """What is asked of the cells of a table.

    reach: of the sizes that are drawn between a level and half as much again, the part, from the level up, to draw from
    largest: the largest of these sizes in place of those that the key draws
    """

    table: Table
    given: tuple[Sensitivity, ...]
    objective: str
    sizes: str
    q: float
    keep: str | None
    whole: bool
    stream: Stream
    tilt: float
    reach: float = 1.0
    largest: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.value for each in self.given)

    def draws(self, word: str) -> Array:
        """Numbers of the key, one for each cell of every value."""
        return self.stream.generator(word).random(len(self.table) * len(self.given))

    def grain(self, number: int) -> Grain | None:
        """What all changes of a value are multiples of, where that is known beforehand."""
        given = self.given[number]
        if self.whole:
            return Grain(1.0)
        if self.keep is not None or self.sizes == "least":  # statistics need the last digits, and sizes are given
            return None
        secret = given.sensitive & ~self.table.hidden
        least = np.min(np.minimum(given.lower, given.upper)[secret], initial=np.inf)
        return Grain.of(self.table.values[given.value], float(least))

    def problem(
        self,
        capacity: float | Mapping[str, Array],
        fixed: Sequence[int],
        known: Mapping[str, tuple[Array, Array]],
        ends: bool = True,
    ) -> Problem:
        """Cox (2), one value after the other; ends: the most that a sensitive cell changes by is drawn, too."""
        if not self.names or len(set(self.names)) < len(self.names):
            raise UsageError("An adjustment needs sensitive cells of at least one value, and each value once.")
        if not self.q >= (WIDE if self.sizes == "drawn" else 1.0):
            raise UsageError(f"q is at least {WIDE} where sizes are drawn, and 1 where they are the least.")
        stay = np.isin(np.arange(len(self.table)), np.asarray(fixed, dtype=np.int64)) | self.table.impossible
        parts = [self._part(number, capacity, stay, known, END * ends) for number in range(len(self.given))]
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        T = sparse.csr_array(sparse.block_diag([self.table.relations] * len(self.given), format="csr"))
        none = sparse.csr_array((0, T.shape[1]))
        return Problem(self.table.grid, relations=T, kept=none, right=np.zeros(0), **joined)

    def _part(
        self,
        number: int,
        capacity: float | Mapping[str, Array],
        stay: Flags,
        known: Mapping[str, tuple[Array, Array]],
        end: float,
    ) -> dict[str, Array]:
        given = self.given[number]
        a, secret, stay = self.table.values[given.value], given.sensitive & ~self.table.hidden, stay | given.forced
        _refuse_cells(self.table, given, a, secret, stay, self.whole)
        room = np.asarray(capacity[given.value] if isinstance(capacity, Mapping) else capacity * np.abs(a), dtype=float)
        if room.shape != a.shape or not (room >= 0).all():
            raise UsageError("Capacities are numbers from zero, one for each cell.")
        if given.capacity is not None:
            room = np.where(np.isnan(given.capacity), room, given.capacity)
        room = np.where((a == 0) | stay, 0.0, room)
        floor, ceiling = known_ends(self.table, given.value, known.get(given.value) or given.known)
        widest = [np.where(secret, self.q * level, room) for level in (given.lower, given.upper)]
        most = [np.minimum(widest[0], a - floor), np.minimum(widest[1], ceiling - a)]  # down, up
        least = [np.where(secret, given.lower, 0.0), np.where(secret, given.upper, 0.0)]
        own = slice(number * len(a), (number + 1) * len(a))
        if self.sizes == "drawn":  # neither the least nor the largest change is one that levels tell
            bare = [secret & (far <= p) for p, far in zip(least, (a - floor, ceiling - a), strict=True)]
            only = bare[0] & ~bare[1], bare[1] & ~bare[0]  # there it would be at its bound, always the same
            most = [np.where(none, 0.0, far) for none, far in zip(only, most, strict=True)]
            first, last = self.draws("sizes")[own], self.draws("ends")[own]
            first = self.reach * (np.ones(len(first)) if self.largest else first)
            least = [p + first * np.clip(far - p, 0.0, (WIDE - 1) * p) for p, far in zip(least, most, strict=True)]
            pairs = zip(least, most, strict=True)
            most = [np.where(secret, far - end * last * np.maximum(far - low, 0.0), far) for low, far in pairs]
        grain = self.grain(number)
        if grain is not None:
            least = [grain.above(each) for each in least]
            most = [grain.below(each) for each in most]
        weights = np.where(self.table.hidden, 0.0, 1.0)
        if self.objective == "relative":
            weights = weights / np.where(a == 0, 1.0, np.abs(a))
        elif len(self.given) > 1:  # values in units of their own
            weights = weights / (np.abs(a).mean() or 1.0)
        tilt = (2 * self.draws("directions")[own] - 1) * self.tilt
        return {
            "original": a,
            "sensitive": secret,
            "down": least[0],
            "up": least[1],
            "low": -most[0],
            "high": most[1],
            "weights": weights,
            "tilt": np.where(secret, tilt, 0.0),
        }


def stream_of(seed: Seed, table: Table, given: Sequence[Sensitivity], use: str = "adjust") -> Stream:
    """The random numbers of a release: another table, or other levels, have others of the same key."""
    found = hashlib.sha256(table.grid.codes.tobytes())
    for each in given:
        for numbers in (table.values[each.value], each.sensitive, each.lower, each.upper):
            found.update(np.ascontiguousarray(numbers).tobytes())
    words = [word for axis in table.grid.axes for word in (axis.name, *axis.codes)]
    return seed.derive(use, found.hexdigest(), *(each.value for each in given), *words)


def _first(table: Table, flags: Flags) -> str:
    return f"{int(flags.sum()):,} cells; the first: {table.label(int(np.flatnonzero(flags)[0]))}"


def _refuse_cells(table: Table, given: Sensitivity, a: Array, secret: Flags, stay: Flags, whole: bool) -> None:
    if np.isnan(a).any():
        raise InputError(f"An adjustment needs all cells of {given.value!r}, and some have no value.")
    bare = secret & ((given.upper <= 0) | (given.lower <= 0))
    if bare.any():
        raise InputError(
            f"Sensitive cells of {given.value!r} have no protection level, or are zero ({_first(table, bare)}).\n"
            "Give them levels (a column of them: --protection; rules of counts give none), or publish a coarser table."
        )
    if (secret & stay).any():
        raise InputError(f"Sensitive cells are fixed ({_first(table, secret & stay)}).\nDo not fix them.")
    if whole and (a % 1 != 0).any():
        raise InputError(f"{given.value!r} has cells that are no whole numbers.\nLeave `whole` out.")
