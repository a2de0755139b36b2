"""Leverage of units: what the kept statistics say of some records together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from suffice.algebra.array import Array
from suffice.algebra.group_moments import Grouping
from suffice.design.units import unit_words
from suffice.protection.fold import labels_of
from suffice.protection.solution import Regression
from suffice.risk.group_summary import GroupTables
from suffice.risk.leverage import HIGH, LOW, MIDDLE, ROUNDING, Leverage
from suffice.rows.multiset import Words
from suffice.rows.rows import Block, Rows, Run

ROOM = 2**24
"""Numbers of records of units that are held at a time, or those of one unit."""


@dataclass(frozen=True, repr=False)
class HatRows:
    """Rows of Q, where H = Q Q' is the hat matrix: what an absorbed factor adds is apart, by its levels.

    The records S of a unit have a block H_SS of H. Its largest eigenvalue is the leverage of the unit: the squared
    cosine between what is kept and the nearest combination of its records, which is often their total. At 1 that
    combination is kept; in a cell of two units it is 1/2, and each has the other's. A unit of one record has the
    leverage of that record.
    """

    known: Regression
    unit: str

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.known.matrices.columns, self.unit]))

    def of(self, block: Block) -> tuple[Array, Array, NDArray[np.intp]]:
        """Q, the root of what the level of an absorbed factor adds, and that level."""
        known, basis = self.known, self.known.isometry.basis
        A = known.matrices.matrix(block, centre=basis.centre)
        labels = labels_of(known.design, basis, block)
        basis.divide(A, labels)
        found = known.aligned(block, A, A[:, :0], A[:, :0], A[:, :0])
        assert found.U is not None
        root = np.ones(len(A)) if found.w is None else np.sqrt(found.w)
        Q = solve_triangular(known.hat, found.U.T, trans=1).T * root[:, None] if found.U.shape[1] else found.U
        own = np.zeros(len(A)) if found.own is None else np.sqrt(found.own)
        return Q, own, np.zeros(len(A), dtype=np.intp) if labels is None else np.asarray(labels, dtype=np.intp)


@dataclass(frozen=True, repr=False)
class UnitSums:
    """Records and leverages of every unit, added up: no unit has a larger leverage than the sum of its records'."""

    groups: Words
    sizes: Array
    total: Array

    @classmethod
    def of(cls, words: Words, sizes: Array, total: Array) -> Self:
        found = Grouping.of(words)
        return cls(found.labels, found.total(sizes), found.total(total))

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        words, sizes, total = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("groups", "sizes", "total")
        )
        return cls.of(words, sizes, total)


def unit_leverage(rows: Rows, known: Regression, unit: str) -> Leverage:
    """The highest leverage of a unit, and how many have one above .2, from .5 on and from .999 on."""
    hat = HatRows(known, unit)

    def sums(run: Run) -> Iterator[UnitSums]:
        words, total = [], []
        for block in run:
            Q, own, _ = hat.of(block)
            words.append(unit_words(block, unit))
            total.append(np.einsum("ij,ij->i", Q, Q) + own**2)
        together = np.concatenate(words)
        yield UnitSums.of(together, np.ones(len(together)), np.concatenate(total))

    (found,) = GroupTables.whole(rows, sums, hat.columns)
    large = found.total > min(LOW, 0.999 * float(found.total.max()))  # the others' leverages are below that for sure
    words, sizes = found.groups[large], found.sizes[large]
    width = known.hat.shape[1] + 1
    part = (np.cumsum(sizes) * width // ROOM).astype(int)
    seen = np.array([each for number in np.unique(part) for each in _exact(rows, hat, words[part == number])])
    counts = int((seen > LOW + ROUNDING).sum()), int((seen > MIDDLE - ROUNDING).sum()), int((seen >= HIGH).sum())
    return Leverage(float(seen.max()), counts, "", len(found.sizes))


def _exact(rows: Rows, hat: HatRows, units: Words) -> Iterator[float]:
    """The largest eigenvalue of the block of each of these units; `units` are sorted."""

    def of(run: Run) -> list[tuple[Words, Array, Array, NDArray[np.intp]]]:
        return [_some(hat, block, units) for block in run]

    parts = [part for run in rows.map(of, hat.columns, "looking at units") for part in run]
    words, Q, own, levels = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(words, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(words[order])) + 1):
        found = Q[members]
        if own.any():
            level, place = np.unique(levels[members], return_inverse=True)
            found = np.hstack([found, np.eye(len(level))[place] * own[members, None]])
        yield float(np.linalg.norm(found, 2)) ** 2 if found.size else 0.0


def _some(hat: HatRows, block: Block, units: Words) -> tuple[Words, Array, Array, NDArray[np.intp]]:
    words = unit_words(block, hat.unit)
    place = np.searchsorted(units, words).clip(max=len(units) - 1)
    here = np.flatnonzero(units[place] == words)
    Q, own, levels = hat.of(block)
    return words[here], Q[here], own[here], levels[here]
