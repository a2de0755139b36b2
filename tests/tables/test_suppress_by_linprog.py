"""Patterns against another solver: intervals of sensitive cells by scipy, for anybody and for contributors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from suffice.algebra.array import Array, Flags
from suffice.seed import Seed
from suffice.tables.rules import Dominance, FewContributors, MinimumFrequency, PPercent, PrimaryRule
from suffice.tables.sensitivity import Sensitivity, find_sensitive
from suffice.tables.suppress.suppression import suppress
from suffice.tables.table import Table
from tests.tables.test_suppress import counts, firms, linked

KEY = Seed.for_tests(2)


def ends(table: Table, low: Array, high: Array, x: Array, cell: int, whole: bool = False) -> list[float]:
    """Least and largest value of a cell that an attacker's bounds leave possible."""
    cells = np.flatnonzero(low < high)
    T, fixed = table.relations.toarray(), low == high
    right = -(T[:, fixed] @ x[fixed])
    cost, box = (cells == cell).astype(float), Bounds(low[cells], high[cells])
    if whole:
        both = LinearConstraint(T[:, cells], right, right)
        found = [milp(s * cost, constraints=both, integrality=cost * 0 + 1, bounds=box) for s in (1, -1)]
    else:
        both = list(zip(low[cells], high[cells], strict=True))
        found = [linprog(s * cost, A_eq=T[:, cells], b_eq=right, bounds=both, method="highs-ds") for s in (1, -1)]
    return [s * each.fun if each.status == 0 else s * -np.inf for s, each in zip((1, -1), found, strict=True)]


def attackers(table: Table, gaps: Flags, name: str) -> Iterator[tuple[Array, Array, Array]]:
    """Bounds of cells for anybody, and for the two largest contributors of each gap, with their parts, from records."""
    x, unknown = table.values[name], gaps | table.hidden & ~table.impossible
    low, high = np.where(unknown, 0.0, x), np.where(unknown, np.inf, x)
    yield low, high, np.zeros(len(x))
    people, holding = table.contributors, table.holding
    if people is None or holding is None or (people.names is None and name == "count"):
        return
    parts = np.zeros((people.unit.max() + 1, len(x)))
    inside = holding.toarray()
    for unit, inner, part in zip(people.unit, people.inner, people.values[name], strict=True):
        parts[unit] += part * inside[:, inner]
    for unit in np.unique(np.argsort(-parts, axis=0, kind="stable")[:2, gaps]):
        own = gaps & (parts[unit] > 0) & (np.count_nonzero(parts, axis=0) == 1)
        part = np.where(unknown & ~own, parts[unit], 0.0)
        if part.any() or own.any():
            yield np.where(own, x, np.maximum(low, part)), np.where(own, x, high), part


def safe(table: Table, gaps: Flags, given: Sensitivity) -> bool:
    """Whether every attacker finds every sensitive cell's interval as wide as its levels, counts by three numbers.

    How far a cell goes down is no secret beyond the attacker's own part of it.
    """
    x = table.values[given.value]
    room = 1e-6 * float(x.max())
    for number, (least, most, part) in enumerate(attackers(table, gaps, given.value)):
        for cell in np.flatnonzero(given.sensitive):
            if least[cell] == most[cell]:
                if not number:
                    return False
                continue  # its own
            low, high = ends(table, least, most, x, cell)
            down = min(given.lower[cell], x[cell] - part[cell])
            if x[cell] - low < down - room or high - x[cell] < given.upper[cell] - room:
                return False
            if high - low <= room:
                return False
            if given.value in table.counts and np.subtract(*ends(table, least, most, x, cell, True)[::-1]) < 1.5:
                return False
    return True


MADE = {
    "two": lambda: firms((3, 4), 11),
    "three": lambda: firms((2, 3, 3), 12),
    "four": lambda: firms((2, 2, 2, 2), 13),
    "hierarchy": lambda: firms((4, 3), 14, hierarchy=True),
    "linked": lambda: linked(15),
    "counts": lambda: counts((3, 4), 16),
}
CASES: list[tuple[str, PrimaryRule, str]] = [
    ("two", PPercent(20), "exact"),
    ("two", FewContributors(3), "fast"),
    ("three", Dominance(1, 85), "fast"),
    ("four", Dominance(2, 95), "fast"),
    ("hierarchy", PPercent(20), "exact"),
    ("linked", PPercent(10), "fast"),
    ("counts", MinimumFrequency(3), "exact"),
]


@pytest.mark.parametrize(("shape", "rule", "search"), CASES)
def test_another_solver_finds_no_cell_open_and_each_needed_cell_needed(shape: str, rule: PrimaryRule, search: str):
    table = MADE[shape]()
    given = find_sensitive(table, [rule], None if shape == "counts" else "v")
    assert given.sensitive.any()
    found = suppress(table, given, search=search, cost="value", seed=KEY)
    assert safe(table, found.suppressed, given)
    assert not safe(table, given.sensitive, given)  # the sensitive cells alone are not enough
    for cell in np.flatnonzero(found.needed & found.secondary)[:4]:
        assert not safe(table, found.suppressed & (np.arange(len(table)) != cell), given)
