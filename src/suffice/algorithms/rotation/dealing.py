"""How records are dealt into groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import gqr
from suffice.algorithms.rotation.compass import Compass
from suffice.algorithms.rotation.densities import MANY_ZEROS
from suffice.algorithms.rotation.telling import telling
from suffice.errors import InfeasibleError
from suffice.method.records import Records

Rows = NDArray[np.int64]
Strata = NDArray[np.unsignedinteger]

FREE = 10
"""Degrees of freedom, at least, of records that turn only among themselves: their sums and squares are kept."""
WITHIN = 1e-12
"""A given column that varies by less inside its cells, as a share of the largest value, is constant there."""


def deal(order: Rows, size: int, strata: Strata | None = None) -> Rows:
    """Groups of `size` neighbours in an order, each inside one stratum; who is left over sits out.

    >>> deal(np.arange(7), 3)
    array([[0, 1, 2],
           [3, 4, 5]])
    >>> deal(np.arange(6), 2, np.array([0, 1, 0, 1, 1, 1]))
    array([[0, 2],
           [1, 3],
           [4, 5]])
    """
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
        count = np.bincount(strata)
        place = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        order = order[place < np.repeat(count // size * size, count)]
    return order[: len(order) // size * size].reshape(-1, size)


def random_order(n: int, generator: np.random.Generator) -> Rows:
    """Every order is as likely."""
    return generator.permutation(n)


def given_order(compass: Compass, sweep: int, generator: np.random.Generator) -> Rows:
    """Random, and by turns alike in the given columns: no value of the state is looked at."""
    return compass.given_order(generator) if sweep // 4 % 2 else random_order(len(compass.X), generator)


def in_classes(y: Array, cuts: Array, size: int, strata: Strata | None, generator: np.random.Generator) -> Rows:
    """Groups of records between the same cuts of a column.

    Where every record is held between its cuts, the classes are the same after the turn, and the reverse turn would
    have met the same groups: giants meet giants, and the law is kept.
    """
    classes = np.searchsorted(cuts, y, side="right")
    if strata is not None:
        classes = classes * (int(strata.max(initial=0)) + 1) + strata
    return deal(random_order(len(y), generator), size, _short(classes))


def near_order(Y: Array, compass: Compass, generator: np.random.Generator) -> Rows:
    """Records alike along a random direction of log y and x are neighbours; where the groups begin is random too."""
    return np.roll(compass.order(Y, generator), int(generator.integers(len(Y))))


def far_order(Y: Array, compass: Compass, size: int, generator: np.random.Generator) -> Rows:
    """A group takes one record from each of `size` parts along a random direction of log y."""
    order = near_order(Y, compass, generator)
    parts = order[: len(order) // size * size].reshape(size, -1)
    mixed = generator.permuted(parts, axis=1)
    return np.concatenate([mixed.T.ravel(), order[parts.size :]])


@dataclass(frozen=True, repr=False)
class Pool:
    """Records that may meet: groups of `size`, each inside one stratum."""

    size: int
    strata: Strata | None


@dataclass(frozen=True, repr=False)
class Dealer:
    """Who meets whom in each sweep.

    kind: "given": by the given columns; "random"; "near": alike along a random direction of log y; "far": apart.
    pools: taken in turn; with factors, groups inside one cell alternate with mixed ones.
    compass: tells which records are alike.
    start: the columns, each in order.
    """

    kind: str
    pools: tuple[Pool, ...]
    compass: Compass
    start: Array

    @classmethod
    def of(cls, task: Records, kind: str, zeros: str) -> Dealer:
        apart = _numbered(*_kept_apart(task, zeros))
        pools = [Pool(task.X.shape[1] + 2, apart)]
        if task.cells is not None:
            inside = _numbered(task.cells, *(() if apart is None else (apart,)))
            pools.append(Pool(_rank_inside(task.X, task.cells) + 2, inside))
        smallest = min(pool.size for pool in pools)
        if smallest > task.n:
            raise InfeasibleError(
                f"Rotate turns groups of {smallest} records and the file has {task.n}.\n"
                f"  rows {task.n} . independent columns of X {task.X.shape[1]}\n"
                "Use fewer given terms, or merge small groups."
            )
        return cls(kind, tuple(pools), Compass.of(task.Y, task.X), np.sort(task.Y, axis=0))

    def classes(self, Y: Array, sweep: int, generator: np.random.Generator) -> tuple[Rows, int, Array]:
        """Groups of records that are about as far out in some column, the column, and where it is cut.

        The cuts are values of the start: some groups' worth of records are beyond the first, three times as many beyond
        the next, and so on.
        """
        pool, n = self.pools[sweep % len(self.pools)], len(Y)
        column, first = int(generator.integers(Y.shape[1])), pool.size * generator.uniform(2, 6)
        beyond = np.unique((first * 3.0 ** np.arange(np.log(n) / np.log(3))).astype(np.int64))
        beyond = n - beyond[beyond < n][::-1]
        if self.start[0, column] < 0 and generator.random() < 0.5:
            beyond = n - beyond[::-1]  # from the other end
        cuts = np.unique(self.start[beyond, column])
        return in_classes(Y[:, column], cuts, pool.size, pool.strata, generator), column, cuts

    def groups(self, Y: Array, sweep: int, generator: np.random.Generator) -> Rows:
        """The groups of one sweep (counted from 1)."""
        pool = self.pools[sweep % len(self.pools)]
        if self.kind == "given":
            order = given_order(self.compass, sweep, generator)
        elif self.kind == "random":
            order = random_order(len(Y), generator)
        elif self.kind == "near":
            order = near_order(Y, self.compass, generator)
        else:
            order = far_order(Y, self.compass, pool.size, generator)
        return deal(order, pool.size, pool.strata)


def _kept_apart(task: Records, zeros: str) -> tuple[Rows, ...]:
    """Per reason to keep records apart, a number per record: weight 0, and which cells are exactly zero."""
    reasons = []
    if task.w is not None and (task.w == 0).any():
        reasons.append((task.w == 0).astype(np.int64))
    zero = task.Y == 0
    share = zero.mean(axis=0)
    many = (share >= MANY_ZEROS) & (share < 1)
    if zeros == "kept" and many.any():
        pattern = np.unique(zero[:, many], axis=0, return_inverse=True)[1].ravel()
        root = np.ones(task.n) if task.w is None else np.sqrt(task.w)

        def told(rows: Flags) -> bool:
            cells = None if task.cells is None else task.cells[rows]
            return telling(root[rows, None] * task.X[rows], root[rows], task.Y[rows], cells)

        reasons.append(large_patterns(pattern, task.X.shape[1] + FREE, told))
    return tuple(reasons)


def large_patterns(pattern: Rows, fewest: int, told: Callable[[Flags], bool] = lambda rows: False) -> Rows:
    """Patterns of fewer records, or whose sums tell one, joined into one of that many whose sums do not: their zeros
    turn, and what is kept tells none of them.

    >>> large_patterns(np.array([0, 0, 0, 1, 2, 2, 2, 2]), 2)
    array([0, 0, 0, 0, 2, 2, 2, 2])
    >>> large_patterns(np.array([0, 0, 1, 1, 1, 2, 2, 2, 2]), 2, lambda rows: bool(rows[2] and not rows[0]))
    array([1, 1, 1, 1, 1, 2, 2, 2, 2])
    """
    count = np.bincount(pattern)
    order = np.argsort(count, kind="stable")
    apart = np.array([number >= fewest and not told(pattern == each) for each, number in enumerate(count.tolist())])
    for each in order[apart[order]].tolist():
        joined = ~apart[pattern]
        if not joined.any() or (joined.sum() >= fewest and not told(joined)):
            break
        apart[each] = False
    return pattern if apart.all() else np.where(apart[pattern], pattern, order[~apart[order]][-1])


def _numbered(*reasons: NDArray[Any]) -> Strata | None:
    """One number for each combination that occurs."""
    if not reasons:
        return None
    return _short(np.unique(np.column_stack(reasons), axis=0, return_inverse=True)[1].ravel())


def _short(number: NDArray[Any]) -> Strata:
    """In as few bytes as can be: short ones are sorted fast."""
    return number.astype(np.min_scalar_type(int(number.max(initial=0))))


def _rank_inside(X: Array, cells: Rows) -> int:
    """The largest rank that X can have inside one cell: what is constant there counts once."""
    _, cell, count = np.unique(cells, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(cell, x) / count for x in X.T], axis=1)
    return 1 + gqr(np.where(np.abs(inside := X - means[cell]) > WITHIN * np.abs(X).max(), inside, 0.0)).rank
