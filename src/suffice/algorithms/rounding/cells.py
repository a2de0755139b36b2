"""The cells to be rounded, and what a rounding has to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import EPS, Array, Flags
from suffice.algorithms.rounding.circulation import NEAR
from suffice.errors import UsageError

Labels = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class RecordRule:
    """Conditions on the whole numbers z_i of each record: C z_i <= h_i, or = h_i."""

    names: tuple[str, ...]
    C: Array
    h: Array
    equality: bool
    allowance: Array
    """What the rounding of the terms may cost, for each record and condition."""

    def broken(self, Z: Array) -> Flags:
        over: Array = Z @ self.C.T - self.h
        return np.greater(np.abs(over) if self.equality else over, self.allowance)

    def counts(self, Z: Array) -> dict[str, int]:
        """In how many records each condition is broken, where it is."""
        broken = self.broken(Z).sum(axis=0).tolist()
        return {name: count for name, count in zip(self.names, broken, strict=True) if count}

    def some(self, rows: Labels) -> RecordRule:
        return replace(self, h=self.h[rows], allowance=self.allowance[rows])


@dataclass(frozen=True, repr=False)
class RoundingCells:
    """Cells z = base + 0 or 1; those with part 0 are whole already and stay.

    columns: names of the q columns
    base: whole numbers below, n x q
    part: what is left, in [0, 1)
    size: the largest absolute value of each column
    family: the group of each record, from the whole file to the finest; each level refines the one before
    rules: edits and equalities
    behind: records of the file for each of these: sums that were kept drift with their number
    """

    columns: tuple[str, ...]
    base: Array
    part: Array
    size: Array
    family: tuple[Labels, ...]
    rules: tuple[RecordRule, ...]
    behind: float = 1.0

    @classmethod
    def of(
        cls, columns: tuple[str, ...], Y: Array, groups: Sequence[Labels], rules: tuple[RecordRule, ...]
    ) -> RoundingCells:
        whole = np.rint(Y)
        near = np.abs(Y - whole) <= np.maximum(NEAR, 8 * EPS * np.abs(Y))
        base = np.where(near, whole, np.floor(Y))
        size = np.abs(Y).max(axis=0, initial=0.0)
        return cls(columns, base, np.where(near, 0.0, Y - base), size, nested(groups, len(Y)), rules)

    def some(self, rows: Labels) -> RoundingCells:
        """These records alone."""
        family = tuple(label[rows] for label in self.family)
        rules = tuple(rule.some(rows) for rule in self.rules)
        return replace(self, base=self.base[rows], part=self.part[rows], family=family, rules=rules)

    @cached_property
    def live(self) -> Flags:
        """Cells that have two whole numbers to choose from."""
        return np.greater(self.part, 0)

    @property
    def leaf(self) -> Labels:
        return self.family[-1]

    def totals(self, level: int) -> tuple[Array, Array]:
        """For each group of a level and each column the lowest and highest sum of z - base: equal if it is whole."""
        label = self.family[level]
        groups = int(label.max(initial=-1)) + 1
        sums = np.column_stack([np.bincount(label, part, groups) for part in self.part.T])
        records = self.behind * np.bincount(label, minlength=groups)[:, None]
        drift = np.minimum(0.25, 1e-6 + 30 * EPS * records * self.size)  # of a sum that was kept
        whole = np.abs(sums - np.rint(sums)) <= drift
        return np.where(whole, np.rint(sums), np.floor(sums)), np.where(whole, np.rint(sums), np.ceil(sums))

    def broken(self, Z: Array) -> Flags:
        """Records that break a rule."""
        broken: Flags = np.zeros(len(Z), dtype=np.bool_)
        for rule in self.rules:
            broken |= rule.broken(Z).any(axis=1)
        return broken

    def unkept(self, Z: Array) -> dict[str, int]:
        """Totals that are whole and that a rounding does not keep: column -> number of groups."""
        found = dict.fromkeys(self.columns, 0)
        for level, label in enumerate(self.family):
            low, high = self.totals(level)
            for j, name in enumerate(self.columns):
                sums = np.bincount(label, Z[:, j] - self.base[:, j], len(low))
                found[name] += int(((sums != low[:, j]) & (low[:, j] == high[:, j])).sum())
        return {name: count for name, count in found.items() if count}


def nested(groups: Sequence[Labels], n: int) -> tuple[Labels, ...]:
    """The levels numbered from 0, the whole file first; refuses groups that are cut by others."""
    family = [np.zeros(n, dtype=np.int64)]
    for level, labels in enumerate(groups, 1):
        dense: Labels = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
        pairs = np.unique(np.column_stack([dense, family[-1]]), axis=0)
        if len(pairs) > len(np.unique(dense)):
            raise UsageError(
                f"The groups of level {level} are not nested: {len(pairs) - len(np.unique(dense))} of them lie in more "
                "than one group of the level above.\nName the coarse labels first, or combine both labels."
            )
        family.append(dense)
    return tuple(family)
