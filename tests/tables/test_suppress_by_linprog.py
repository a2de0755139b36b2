"""Patterns against another solver: intervals of sensitive cells by scipy, for anybody and for each lone contributor."""

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


def ends(table: Table, unknown: Flags, x: Array, cell: int, whole: bool = False) -> list[float]:
    """Least and largest value of a cell that the published ones leave possible, none being negative."""
    cells = np.flatnonzero(unknown)
    T = table.relations.toarray()
    right = -(T[:, ~unknown] @ x[~unknown])
    cost = (cells == cell).astype(float)
    if whole:
        both = LinearConstraint(T[:, cells], right, right)
        found = [milp(s * cost, constraints=both, integrality=cost * 0 + 1, bounds=Bounds(0, np.inf)) for s in (1, -1)]
    else:
        found = [linprog(s * cost, A_eq=T[:, cells], b_eq=right, bounds=(0, None), method="highs-ds") for s in (1, -1)]
    return [s * each.fun if each.status == 0 else s * -np.inf for s, each in zip((1, -1), found, strict=True)]


def attackers(table: Table, gaps: Flags, name: str) -> Iterator[Flags]:
    """What is unknown to anybody, and to each who stands alone behind suppressed cells: told from the records."""
    gaps = gaps | table.hidden & ~table.impossible
    yield gaps
    people, holding = table.contributors, table.holding
    if people is None or holding is None or (people.names is None and name == "count"):
        return
    inside = holding.toarray()
    alone = dict[int, list[int]]()
    for cell in np.flatnonzero(gaps):
        units = {int(u) for u, i in zip(people.unit, people.inner, strict=True) if inside[cell, i]}
        if len(units) == 1:
            alone.setdefault(units.pop(), []).append(int(cell))
    for own in alone.values():
        rest = gaps.copy()
        rest[own] = False
        yield rest


def safe(table: Table, gaps: Flags, given: Sensitivity) -> bool:
    """Whether every attacker finds every sensitive cell's interval as wide as its levels, counts by three numbers."""
    x = table.values[given.value]
    room = 1e-6 * float(x.max())
    for number, unknown in enumerate(attackers(table, gaps, given.value)):
        for cell in np.flatnonzero(given.sensitive):
            if not unknown[cell]:
                if not number:
                    return False
                continue  # its own
            low, high = ends(table, unknown, x, cell)
            if x[cell] - low < given.lower[cell] - room or high - x[cell] < given.upper[cell] - room:
                return False
            if high - low <= room:
                return False
            if given.value in table.counts and np.subtract(*ends(table, unknown, x, cell, True)[::-1]) < 1.5:
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
