"""What is more than a network: an integer program, first around the records that break a rule, then of all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array, hstack, vstack

from suffice.algebra.array import Array, Flags
from suffice.algorithms.rounding.cells import Labels, RoundingCells

AROUND = 16
"""Records that break a rule and are mended together."""
HELP = (4, 16, 64)
"""Other records for each of these, in the first, second and third try."""


def mend(cells: RoundingCells, Z: Array, generator: np.random.Generator, until: float) -> Array:
    """Z with the records that break a rule rounded anew, together with some that do not; totals stay.

    Z: a rounding that keeps the totals
    until: when to stop, by time.monotonic()
    """
    Z = Z.copy()
    for helpers in HELP:
        for rows in _neighbourhoods(cells, Z, helpers, generator):
            if time.monotonic() > until:
                return Z
            program = Program.around(cells, Z, rows)
            found = program.solve(generator, until)
            if found is not None:
                Z[rows] = found
    return Z


def _neighbourhoods(cells: RoundingCells, Z: Array, helpers: int, generator: np.random.Generator) -> Iterator[Labels]:
    """Records that break a rule, a few of one group at a time, with others of that group."""
    broken = cells.broken(Z)
    free: Flags = np.asarray(cells.live.any(axis=1))
    order = np.argsort(cells.leaf, kind="stable")
    ends = np.flatnonzero(np.diff(cells.leaf[order])) + 1
    for members in np.split(order, ends):
        bad, good = members[broken[members]], members[~broken[members] & free[members]]
        for first in range(0, len(bad), AROUND):
            some = bad[first : first + AROUND]
            yield np.concatenate([some, generator.permutation(good)[: helpers * len(some)]])


@dataclass(frozen=True, repr=False)
class Program:
    """x in {0, 1} for each live cell of some records: low <= M x <= high."""

    base: Array
    live: Flags
    M: csr_array
    low: Array
    high: Array
    owners: tuple[str, ...]
    """For each row of M the rule or total that asks for it."""

    @classmethod
    def around(cls, cells: RoundingCells, Z: Array, rows: Labels) -> Program:
        """Some records; every column's total over those of one group is as in Z."""
        labels: Labels = np.unique(cells.leaf[rows], return_inverse=True)[1]
        x = Z[rows] - cells.base[rows]
        sums: Array = np.column_stack([np.bincount(labels, column) for column in x.T])
        return cls._of(cells, rows, [(labels, sums, sums)])

    @classmethod
    def whole(cls, cells: RoundingCells) -> Program:
        """All records, with the totals of the family."""
        totals = [(label, *cells.totals(level)) for level, label in enumerate(cells.family)]
        return cls._of(cells, np.arange(len(cells.base)), totals)

    @classmethod
    def _of(cls, cells: RoundingCells, rows: Labels, totals: list[tuple[Labels, Array, Array]]) -> Program:
        live = cells.live[rows]
        record, column = np.nonzero(live)
        number, ones = np.arange(len(record)), np.ones(len(record))
        blocks, low, high, owners = [], [], [], []
        for rule in cells.rules:
            room = rule.h[rows] - cells.base[rows] @ rule.C.T
            for c, name in enumerate(rule.names):
                blocks.append(coo_array((rule.C[c, column], (record, number)), (len(rows), len(record))))
                high.append(room[:, c] + rule.allowance[rows, c])
                low.append(room[:, c] - rule.allowance[rows, c] if rule.equality else np.full(len(rows), -np.inf))
                owners += [name] * len(rows)
        for labels, least, most in totals:
            q = least.shape[1]
            blocks.append(coo_array((ones, (labels[record] * q + column, number)), (least.size, len(record))))
            low.append(least.ravel())
            high.append(most.ravel())
            owners += [f"total of {name}" for name in cells.columns] * len(least)
        return cls(
            cells.base[rows], live, csr_array(vstack(blocks)), np.concatenate(low), np.concatenate(high), tuple(owners)
        )

    def solve(self, generator: np.random.Generator, until: float) -> Array | None:
        """The records in whole numbers, or None."""
        cost = generator.standard_normal(self.M.shape[1])
        x = self._solved(self.M, cost, len(cost), until, gap=1e9)  # any will do: the costs leave it to chance
        return None if x is None else self._filled(np.rint(x))

    def gave_way(self, until: float) -> dict[str, int]:
        """Which rules and totals, and how often, have to be left for the others to hold: as few as can be found."""
        rows, p = self.M.shape
        slack = eye_array(rows, format="csr")
        M = csr_array(hstack([self.M, slack, -slack]))
        totals = np.array([owner.startswith("total of ") for owner in self.owners])
        cost = np.concatenate([np.zeros(p), *[np.where(totals, 1.0, 10.0)] * 2])
        x = self._solved(M, cost, p, until, gap=0.0)
        if x is None:
            return {}
        left = np.flatnonzero(x[p : p + rows] + x[p + rows :] > 1e-5)
        names = [self.owners[row] for row in left]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def _filled(self, x: Array) -> Array:
        Z = self.base.copy()
        Z[self.live] += x
        return Z

    def _solved(self, M: csr_array, cost: Array, binary: int, until: float, gap: float) -> Array | None:
        """low <= M x <= high: the first entries of x are 0 or 1, the others 0 or more."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # slow to load

        seconds = until - time.monotonic()
        if not len(cost):
            return np.empty(0) if ((self.low <= 0) & (self.high >= 0)).all() else None
        if seconds <= 0:
            return None
        first = np.arange(len(cost)) < binary
        answer = milp(
            cost,
            integrality=first.astype(np.int64),
            bounds=Bounds(np.zeros(len(cost)), np.where(first, 1.0, np.inf)),
            constraints=LinearConstraint(M, self.low, self.high),
            options={"time_limit": seconds, "mip_rel_gap": gap},
        )
        return None if answer.x is None else np.asarray(answer.x, dtype=np.float64)
