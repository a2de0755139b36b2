"""Whole numbers: each change goes to one of its two neighbours, and totals are recomputed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array
from suffice.algorithms.rounding.circulation import NEAR, settle
from suffice.errors import InfeasibleError
from suffice.tables.adjust.kernel import FINE, TableKernel, rounded, steps
from suffice.tables.adjust.problem import Problem, one_sided
from suffice.tables.grid import Places
from suffice.tables.solver import Contradiction, NoAnswer, Programme


def whole_changes(
    problem: Problem, kernels: Sequence[TableKernel], y: Array, seconds: float, generator: np.random.Generator
) -> Array:
    """Whole changes near y in the same directions: where equations are a network, neighbours, which always exist."""
    ends = network(problem.relations)
    if ends is None:
        return _by_programme(problem, kernels, y, seconds)
    y = rounded(kernels, y, steps(np.split(problem.original, len(kernels)), FINE))
    base = np.where(np.abs(y - np.rint(y)) <= NEAR, np.rint(y), np.floor(y))
    live = np.flatnonzero(y - base > NEAR)
    tail, head = (end[live].tolist() for end in ends)
    base[live] += settle((y - base)[live].tolist(), tail, head, generator)
    return base


def network(relations: sparse.csr_array) -> tuple[Places, Places] | None:
    """Cells as edges between equations, or to a ground: tails and heads; None where a cell is in three of them.

    Each cell must leave one of its equations and enter the other: equations get signs, like two colours of a graph.

    >>> network(sparse.csr_array(np.array([[-1.0, 1, 1, 0], [0, -1, 0, 1]])))
    (array([2, 0, 0, 1]), array([0, 1, 2, 2]))
    """
    columns, ground = relations.tocsc(), relations.shape[0]
    columns.eliminate_zeros()
    count = np.diff(columns.indptr)
    if count.max(initial=0) > 2 or (np.abs(columns.data) != 1).any():
        return None
    first, pair = columns.indptr[:-1], np.flatnonzero(count == 2)
    one, two = columns.indices[first[pair]], columns.indices[first[pair] + 1]
    turned = -columns.data[first[pair]] * columns.data[first[pair] + 1]
    shape = (ground, ground)
    joined = sparse.csr_array((np.r_[turned, turned], (np.r_[one, two], np.r_[two, one])), shape=shape)
    signs = np.zeros(ground)
    for root in range(ground):
        if signs[root]:
            continue
        signs[root], waiting = 1.0, [root]
        while waiting:
            row = waiting.pop()
            here = slice(joined.indptr[row], joined.indptr[row + 1])
            for other, times in zip(joined.indices[here].tolist(), np.sign(joined.data[here]).tolist(), strict=True):
                if not signs[other]:
                    signs[other] = signs[row] * times
                    waiting.append(other)
    if (signs[one] * turned != signs[two]).any():
        return None
    tail, head = np.full(len(count), ground), np.full(len(count), ground)
    cells, out = np.repeat(np.arange(len(count)), count), columns.data * signs[columns.indices] > 0
    tail[cells[out]], head[cells[~out]] = columns.indices[out], columns.indices[~out]
    return tail, head


def _by_programme(problem: Problem, kernels: Sequence[TableKernel], y: Array, seconds: float) -> Array:
    """Whole changes whose totals differ from those of y as little as can be."""
    low, high = one_sided(problem, problem.signs_of(y), problem.low, problem.high)
    sums = sparse.csr_array(sparse.block_diag([each.sums for each in kernels], format="csr"))
    size = len(y) // len(kernels)
    free = np.concatenate([number * size + each.free for number, each in enumerate(kernels)])
    for more in (0, 1, 2):  # neighbours, and where these do not fit, the next ones
        least, most = np.floor(y[free] + 1e-7) - more, np.ceil(y[free] - 1e-7) + more
        apart = sparse.eye_array(len(y), format="csr")
        rows = sparse.csr_array(
            sparse.vstack([sparse.hstack([sums, -apart, apart]), sparse.hstack([sums, 0 * apart, 0 * apart])])
        )
        width = len(free)
        programme = Programme(
            np.concatenate([np.zeros(width), np.ones(2 * len(y))]),
            rows,
            np.concatenate([y, low]),
            np.concatenate([y, high]),
            np.concatenate([np.maximum(least, np.ceil(low[free])), np.zeros(2 * len(y))]),
            np.concatenate([np.minimum(most, np.floor(high[free])), np.full(2 * len(y), np.inf)]),
            np.arange(width + 2 * len(y)) < width,
        )
        if (programme.low > programme.high).any():
            continue
        try:
            return np.asarray(sums @ np.rint(programme.solve(seconds, 0.05).x[:width]))
        except (Contradiction, NoAnswer):
            continue
    raise InfeasibleError("No whole numbers near the adjustment fit its bounds.\nRaise q or the capacities.")
