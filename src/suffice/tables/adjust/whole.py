"""Whole numbers: each change goes to one of its two neighbours, and totals are recomputed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array
from suffice.errors import InfeasibleError
from suffice.tables.adjust.kernel import Kernel
from suffice.tables.adjust.problem import Problem, one_sided
from suffice.tables.solver import Contradiction, NoAnswer, Programme


def whole_changes(problem: Problem, kernels: Sequence[Kernel], y: Array, seconds: float) -> Array:
    """Whole changes near y in the same directions, whose totals differ from those of y as little as can be."""
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
