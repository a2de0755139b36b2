"""Why no adjustment fits: which equations cannot hold, and which kind of condition stands against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from suffice.errors import InfeasibleError
from suffice.tables.adjust.problem import Problem, Signs, one_sided
from suffice.tables.grid import Places
from suffice.tables.solver import Contradiction, NoAnswer, Programme
from suffice.tables.table import Table

PATIENCE = 15.0
"""Seconds for each question."""
MANY = 1000
"""Intervals that are told apart."""
NAMED = 3
"""Equations that are named, at most."""
DEARER = 100.0
"""Times: what a mean costs against slopes and second moments where it is let go, and sums against means."""


def explain(
    table: Table,
    values: Sequence[str],
    problem: Problem,
    statistics: Sequence[str],
    healed: Mapping[str, Problem],
    signs: Signs | None = None,
    means: int = 0,
    sure: bool = True,
) -> InfeasibleError:
    """What to say.

    statistics: names of the rows of `kept`
    healed: by what would be let go, the problem without it
    signs: directions that were given
    means: how many rows of `kept`, the first ones, are means
    sure: whether the problem is all that was asked, or its equations at the last changes
    """
    broken = _alone(problem, signs) or _broken(problem, signs, means)
    here = [_said(table, values, row) for row in broken if row < problem.relations.shape[0]]
    lost = [statistics[row - problem.relations.shape[0]] for row in broken if row >= problem.relations.shape[0]]
    more = f" and {len(here) - NAMED:,} more" if len(here) > NAMED else ""
    where = [f"the sums of {'; '.join(here[:NAMED])}{more} cannot hold"] if here else []
    where += [f"{', '.join(lost[:NAMED])} {'cannot' if sure else 'could not'} be kept"] if lost else []
    heals = [remedy for remedy, other in healed.items() if possible(other)]
    said = "; ".join(where) or "which sums stand against it was not found in time"
    could = "would" if sure else "may"
    todo = f"One of these {could} make it possible: {'; '.join(heals)}." if heals else "Publish a coarser table."
    return InfeasibleError(f"No adjustment {'fits' if sure else 'was found'}: {said}.\n{todo}")


def _alone(problem: Problem, signs: Signs | None) -> list[int]:
    """Equations that cannot hold even by themselves: no sum of possible changes of their cells is zero."""
    given = problem.one_way if signs is None else np.where(signs == 0, problem.one_way, signs)
    low, high = one_sided(problem, given.astype(np.int8), problem.low, problem.high)
    open_, T, found = problem.sensitive & (given == 0), problem.relations, []
    room = 1e-6 * problem.unit
    for row in range(T.shape[0]):
        sums = [(0.0, 0.0)]  # intervals, apart from each other
        for k in range(T.indptr[row], T.indptr[row + 1]):
            cell, sign = T.indices[k], T.data[k]
            ranges = [(low[cell], high[cell])]
            if open_[cell]:
                ranges = [(low[cell], -problem.down[cell]), (problem.up[cell], high[cell])]
            ends = [sorted((sign * a, sign * b)) for a, b in ranges if a <= b]
            sums = _joined(sorted((x + a, y + b) for x, y in sums for a, b in ends))
        if not any(a - room <= 0 <= b + room for a, b in sums):
            found.append(row)
    return found


def _joined(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for low, high in intervals:
        if found and (low <= found[-1][1] or len(found) >= MANY):
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


def _broken(problem: Problem, signs: Signs | None, means: int) -> list[int]:
    """Rows that are violated where all are violated as little as can be: never released, only looked at.

    Second moments and slopes are let go first, then means, and sums last.
    """
    given = problem.programme(signs)
    count, width = problem.relations.shape[0] + problem.kept.shape[0], given.rows.shape[1]
    dear = np.ones(count)
    dear[: problem.relations.shape[0] + means] *= DEARER
    dear[: problem.relations.shape[0]] *= DEARER
    slack = sparse.eye_array(given.rows.shape[0], count, format="csr")
    elastic = Programme(
        np.concatenate([np.zeros(width), dear, dear]),
        sparse.csr_array(sparse.hstack([given.rows, slack, -slack])),
        given.least,
        given.most,
        np.concatenate([given.low, np.zeros(2 * count)]),
        np.concatenate([given.high, np.full(2 * count, np.inf)]),
        np.concatenate([given.whole, np.zeros(2 * count, dtype=bool)]),
    )
    try:
        found = elastic.solve(PATIENCE).x[width:]
    except (Contradiction, NoAnswer):
        return []
    off = found[:count] + found[count:]
    rows = np.flatnonzero(off > 1e-6)
    return [int(row) for row in rows[np.argsort(-off[rows])]]


def possible(problem: Problem) -> bool:
    """Whether something fits, whatever it costs."""
    try:
        replace(problem, weights=np.zeros(len(problem.weights))).solve(seconds=PATIENCE)
    except (Contradiction, NoAnswer):
        return False
    return True


def _said(table: Table, values: Sequence[str], row: int) -> str:
    """An equation by the codes that all its cells share."""
    value, row = divmod(row, table.relations.shape[0])
    total, parts = table.equation(row)
    codes: Places = table.grid.codes[[total, *parts]]
    pairs = list(zip(table.grid.axes, codes.T, strict=True))
    shared = [f"{axis.name} {axis.codes[here[0]]}" for axis, here in pairs if len(set(here.tolist())) == 1]
    over = [axis.name for axis, here in pairs if len(set(here.tolist())) > 1]
    name = f"{values[value]}, " if len(values) > 1 else ""
    return f"{name}{', '.join(shared) or 'all'} (over {', '.join(over)})"
