"""Controlled rounding of the columns that hold whole numbers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.rounding.cells import Labels, RecordRule, RoundingCells
from suffice.algorithms.rounding.network import flow
from suffice.algorithms.rounding.program import Program, mend
from suffice.design.limits import CLOSE, Limits
from suffice.errors import InfeasibleError

SECONDS = 60.0
"""How long the integer program may take where edits are more than a network."""


def rounded(
    Y: Array,
    columns: Sequence[int],
    names: Sequence[str],
    generator: np.random.Generator,
    *,
    limits: Limits | None = None,
    groups: Sequence[Labels] = (),
    seconds: float = SECONDS,
    behind: float = 1.0,
) -> Array:
    """Y with some columns in whole numbers that add up as before.

    Each cell becomes the whole number below or above it, each with the chance that leaves its expectation as it was
    (unless an inequality has a say), such that the total of each column over the file and over each group is the
    same where it is a whole number, and is rounded up or down where it is not.

    **Promises** that each cell moves by less than one, that whole numbers stay, that totals of nested groups,
    equalities, bounds and edits hold; where that cannot be found, InfeasibleError says which gave way.

    columns: positions of the columns that hold whole numbers
    names: of all columns
    generator: decides up or down
    limits: with their right-hand sides filled in
    groups: labels of nested groups, the coarse ones first
    seconds: time limit where edits make it an integer program
    behind: records of the file for each of these, where the others are whole numbers already

    References: Cox (1987), unbiased controlled rounding; Bacharach (1966), matrices with totals as networks.

    >>> Y = np.array([[0.5], [1.25], [2.25]])
    >>> float(rounded(Y, [0], ["employees"], np.random.default_rng(1)).sum())
    4.0
    """
    if not len(columns):
        return Y.copy()
    until = time.monotonic() + seconds
    cells = replace(cells_of(Y, list(columns), names, limits, groups), behind=behind)
    Z = flow(cells, generator)
    if cells.broken(Z).any():
        Z = mend(cells, Z, generator, until)
    if cells.broken(Z).any() or cells.unkept(Z):
        Z = _of_all(cells, generator, until, seconds)
    out = Y.copy()
    out[:, columns] = Z + 0.0  # no -0
    return out


def cells_of(
    Y: Array, columns: list[int], names: Sequence[str], limits: Limits | None, groups: Sequence[Labels]
) -> RoundingCells:
    """The cells of these columns, with the conditions that name one of them."""
    rules = () if limits is None else rules_of(Y, columns, limits)
    return RoundingCells.of(tuple(names[j] for j in columns), Y[:, columns], groups, rules)


def _of_all(cells: RoundingCells, generator: np.random.Generator, until: float, seconds: float) -> Array:
    program = Program.whole(cells)
    Z = program.solve(generator, until)
    if Z is None or cells.broken(Z).any() or cells.unkept(Z):
        late = time.monotonic() >= until
        raise not_found(program.gave_way(time.monotonic() + seconds), seconds if late else None)
    return Z


def rules_of(Y: Array, columns: list[int], limits: Limits) -> tuple[RecordRule, ...]:
    """Edits and equalities that name one of the columns."""
    names = tuple(edit.name for edit in limits.equalities)
    edits = (limits.names[: len(limits.C)], limits.C, limits.rhs, False)
    equalities = (names, limits.A, limits.b, True)
    return tuple(_rule(Y, columns, *kind) for kind in (edits, equalities) if kind[1][:, columns].any())


def _rule(Y: Array, columns: list[int], names: Sequence[str], C: Array, right: Array, equality: bool) -> RecordRule:
    """C z <= h: what the other columns take already is taken off the right-hand side."""
    rows = [c for c, row in enumerate(C[:, columns]) if row.any()]
    others = [j for j in range(Y.shape[1]) if j not in columns]
    C, right = C[rows], right[:, rows]
    taken: Array = Y[:, others] @ C[:, others].T
    size: Array = np.abs(Y) @ np.abs(C).T + np.abs(right)
    allowance = CLOSE * size + (1e-9 if equality else 0.0)
    return RecordRule(tuple(names[c] for c in rows), C[:, columns], right - taken, equality, allowance)


def not_found(gave_way: dict[str, int], seconds: float | None) -> InfeasibleError:
    """gave_way: how often each total or edit had to be left."""
    what = "was found" if seconds is None else f"was found in {seconds:g} seconds"
    lines = [f"  {name}: gave way {count} times" for name, count in gave_way.items()]
    return InfeasibleError(
        "\n".join(
            [
                f"No rounding to whole numbers that keeps every total, equality and edit {what}.",
                *(lines or ["  it is not known which of them gave way"]),
                "Drop one of these, declare fewer columns integer, or give more seconds.",
            ]
        )
    )
