"""Means, variances and covariances of sets of cells that an adjustment keeps (Cox, sections 3 and 4), exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import UsageError
from suffice.statistics.cell_moments import CellMoments
from suffice.statistics.statistic import BOUND
from suffice.tables.adjust.kernel import FINEST, TableKernel, drift, rounded, steps
from suffice.tables.adjust.problem import Problem, one_sided
from suffice.tables.grid import Places
from suffice.tables.table import Table

ROUNDS = 8
"""Newton steps, at most."""
HOLDS = 5
"""How often cells that left their bounds are held."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class CellSets:
    """Sets of cells, the k-th of each belonging together, like the columns of a file.

    sets: by name, cells of the problem; covariances are those between sets of one size
    original: a, all cells
    """

    sets: Mapping[str, Places]
    original: Array

    @classmethod
    def of(cls, table: Table, names: Sequence[str], sets: Mapping[str, Sequence[int]] | None) -> CellSets:
        """The sets of every value, cells of one value after the other; without sets: the inner cells."""
        size, several = len(table), len(names) > 1
        inner = np.setdiff1d(np.flatnonzero(~table.hidden), table.totals)
        found = {}
        for number, name in enumerate(names):
            for word, cells in (sets or {"": inner.tolist()}).items():
                label = f"{name} of {word}" if several and word else word or name
                found[label] = np.asarray(cells, dtype=np.int64) + number * size
                if not len(cells) or not 0 <= min(cells) <= max(cells) < size or len(set(cells)) < len(cells):
                    raise UsageError(f"The set {word!r} is empty, or names a cell that is not there, or one twice.")
        return cls(found, np.concatenate([table.values[name] for name in names]))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.sets)

    @cached_property
    def centred(self) -> dict[str, Array]:
        """(a - mean) / (sd sqrt t): of length one."""
        found = {}
        for name, cells in self.sets.items():
            a = self.original[cells] - self.original[cells].mean()
            found[name] = a / (np.linalg.norm(a) or 1.0)
        return found

    @cached_property
    def sizes(self) -> dict[str, float]:
        """sd sqrt t."""
        lengths = {name: self.original[cells] - self.original[cells].mean() for name, cells in self.sets.items()}
        return {name: float(np.linalg.norm(each)) or 1.0 for name, each in lengths.items()}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return self.promise("moments").pairs

    def promise(self, keep: str, promised: bool = True) -> CellMoments:
        """What the certificate recomputes."""
        return CellMoments(keep, self.sets, promised)

    def rows(self, keep: str, at: Array | None = None) -> tuple[sparse.csr_array, Array]:
        """Linear statistics of y: sums, L of Cox (3), and the covariances' equations (4) linearised at a y."""
        found = [(cells, np.full(len(cells), 1 / np.sqrt(len(cells)))) for cells in self.sets.values()]
        if keep == "slope":
            found += [(self.sets[name], self.centred[name]) for name in self.names]
        right = np.zeros(len(found) + len(self.pairs) * (keep == "moments"))
        if keep == "moments":
            for one, two in self.pairs:
                right[len(found)] = 0.0 if at is None else self._product(at, one, two)
                found.append(self._slope(one, two, at))
        matrix = [_row(cells, numbers, len(self.original)) for cells, numbers in found]
        return sparse.csr_array(sparse.vstack(matrix)), right

    def _slope(self, one: str, two: str, at: Array | None) -> tuple[Places, Array]:
        """(a + y0) of one set on y of the other, and the other way round."""
        parts = []
        for here, there in ((one, two), (two, one)):
            moved = 0.0 if at is None else at[self.sets[here]] / self.sizes[here]
            parts.append((self.centred[here] + moved) * np.sqrt(self.sizes[one] * self.sizes[two]) / self.sizes[there])
        return np.concatenate([self.sets[two], self.sets[one]]), np.concatenate(parts)

    def _product(self, y: Array, one: str, two: str) -> float:
        scale = np.sqrt(self.sizes[one] * self.sizes[two])
        return float(y[self.sets[one]] @ y[self.sets[two]] / scale)

    def off(self, keep: str, y: Array) -> Array:
        """What is left of the equations at y; zero where all is kept."""
        rows, _ = self.rows(keep)
        left = rows @ y
        if keep == "moments":
            left[len(self.names) :] += [self._product(y, one, two) for one, two in self.pairs]
        return np.asarray(left)


def _row(cells: Places, numbers: Array, width: int) -> sparse.csr_array:
    return sparse.csr_array((numbers, (np.zeros(len(cells), dtype=np.int64), cells)), shape=(1, width))


def newton(
    problem: Problem,
    family: CellSets,
    keep: str,
    kernels: Sequence[TableKernel],
    y: Array,
    more: tuple[Array, Flags] | None = None,
) -> Array:
    """Least-norm steps in the kernel of T, on the cells off their bounds, until nothing is left but the last digits.

    more: what cells change by beside, so that unchanged ones do not stay so; and those that stay as they are
    """
    low, high = one_sided(problem, problem.signs_of(y), problem.low, problem.high)
    found = y
    for zeros in (True, False) if more is None else (False,):  # unchanged cells stay so, where the others suffice
        start, left = y, np.zeros(len(y), dtype=bool)
        for _ in range(HOLDS):
            found = _stepped(problem, family, keep, kernels, start, zeros, more)
            if exactly(problem, family, keep, kernels, found):
                return found
            beyond = (found < low) | (found > high)
            if more is not None or not (beyond & ~left).any():
                break
            start, left = np.where(beyond, np.clip(found, low, high), start), left | beyond  # held at their bounds
    return found


def exactly(problem: Problem, family: CellSets, keep: str, kernels: Sequence[TableKernel], y: Array) -> bool:
    """Whether all statistics are kept to the last digits, by changes within their bounds."""
    a = problem.original
    kept = family.promise(keep).ratios(a, a + y).values()
    return all(ratio <= BOUND for _, ratio in kept) and problem.fits(y, drift(kernels, _finest(problem, kernels)))


def _finest(problem: Problem, kernels: Sequence[TableKernel]) -> list[float]:
    return steps(np.split(problem.original, len(kernels)), FINEST)


def _stepped(
    problem: Problem,
    family: CellSets,
    keep: str,
    kernels: Sequence[TableKernel],
    y: Array,
    zeros: bool,
    more: tuple[Array, Flags] | None,
) -> Array:
    by = _finest(problem, kernels)
    sums = sparse.csr_array(sparse.block_diag([each.sums for each in kernels], format="csr"))
    bound, held = _at_bounds(problem, y, zeros)
    if more is not None:
        bound, held = np.where(more[1] & ~held, y, bound), held | more[1]
    fixed = sums[np.flatnonzero(held)].toarray()
    best = y = rounded(kernels, np.where(held, bound, y) + (0.0 if more is None else more[0]), by)
    least = np.inf
    for _ in range(ROUNDS):
        off = family.off(keep, y)
        if not np.abs(off).max() < least:
            break
        best, least = y, float(np.abs(off).max())
        matrix = np.vstack([fixed, (family.rows(keep, y)[0] @ sums).toarray()])
        step = np.linalg.lstsq(matrix, np.concatenate([(bound - y)[held], -off]), rcond=1e-11)[0]
        y = rounded(kernels, y + sums @ step, by)
    return best


def _at_bounds(problem: Problem, y: Array, zeros: bool) -> tuple[Array, Flags]:
    """The bound that each change lies at, and whether it does."""
    held, bound = ~problem.movable, np.where(problem.movable, y, problem.low)
    limits = [problem.low, problem.high]
    limits += [np.where(problem.sensitive, each, np.nan) for each in (problem.up, -problem.down)]
    limits += [np.where(problem.sensitive, np.nan, 0.0)] * zeros
    for limit in limits:
        here = np.abs(y - limit) <= 1e-3 * problem.unit
        bound, held = np.where(here, limit, bound), held | here
    return bound, held
