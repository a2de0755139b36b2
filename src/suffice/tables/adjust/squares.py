"""Least squares of changes: a quadratic programme for given directions, and a search among these."""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np
from scipy import sparse

from suffice.algebra.array import Array
from suffice.tables.adjust.problem import Problem, Signs, one_sided
from suffice.tables.adjust.signs import Budget, tied_groups
from suffice.tables.solver import Contradiction, NoAnswer


def squares(problem: Problem, signs: Signs) -> Array:
    """The changes in these directions with the least weighted sum of squares."""
    import clarabel

    library: Any = clarabel
    low, high = one_sided(problem, signs, problem.low, problem.high)
    live = np.flatnonzero((low != 0) | (high != 0))
    if (low > high).any():
        raise Contradiction("No values fit all that is asked.")
    unit = problem.unit
    low, high = low[live] / unit, high[live] / unit
    rows = sparse.csc_array(sparse.vstack([problem.relations, problem.kept])[:, live])
    right = np.concatenate([np.zeros(problem.relations.shape[0]), problem.right / unit])
    one = sparse.eye_array(len(live), format="csr")
    above, below = np.isfinite(high), np.isfinite(low)
    A = sparse.csc_array(sparse.vstack([rows, one[np.flatnonzero(above)], -one[np.flatnonzero(below)]]))
    b = np.concatenate([right, high[above], -low[below]])
    cones = [library.ZeroConeT(len(right)), library.NonnegativeConeT(int(above.sum() + below.sum()))]
    settings = library.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    P = sparse.csc_array(sparse.diags_array(2 * problem.weights[live]))
    found = library.DefaultSolver(_matrix(P), np.zeros(len(live)), _matrix(A), b, cones, settings).solve()
    status = library.SolverStatus
    if found.status in (status.PrimalInfeasible, status.AlmostPrimalInfeasible):
        raise Contradiction("No values fit all that is asked.")
    if found.status not in (status.Solved, status.AlmostSolved):
        raise NoAnswer("No answer was found in the time that was given.")
    y = np.zeros(len(problem.original))
    y[live] = unit * np.clip(np.asarray(found.x), low, high)
    return y


def _matrix(given: sparse.csc_array) -> Any:
    return sparse.csc_matrix(given)


def descended(problem: Problem, signs: Signs, limit: Budget) -> Array:
    """The best found when directions are turned one after the other, cells that are tied together, until none helps."""
    until, y = monotonic() + limit.seconds, squares(problem, signs)
    groups = tied_groups(problem)
    best, waiting = float(problem.weights @ y**2), list(range(len(groups)))
    while waiting and monotonic() < until:
        cells = [cell for cell, _ in groups[waiting.pop(0)]]
        turned = signs.copy()
        turned[cells] *= -1
        try:
            tried = squares(problem, turned)
        except (Contradiction, NoAnswer):
            continue
        cost = float(problem.weights @ tried**2)
        if cost < best * (1 - 1e-9):
            signs, y, best = turned, tried, cost
            waiting = list(range(len(groups)))
        if limit.progress is not None:
            limit.progress("adjusting", len(groups) - len(waiting), len(groups) + 1)
    return y
