"""Patterns and audits against another solver: intervals by scipy, for anybody and for each contributor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from suffice.algebra.array import Array, Flags
from suffice.seed import Seed
from suffice.tables.audit import audit
from suffice.tables.auditor import Auditor
from suffice.tables.rules import Dominance, FewContributors, MinimumFrequency, PPercent, PrimaryRule
from suffice.tables.sensitivity import Sensitivity, find_sensitive
from suffice.tables.suppress.suppression import suppress
from suffice.tables.table import Table
from tests.tables.test_suppress import counts, firms, linked

KEY = Seed.for_tests(2)


@dataclass(frozen=True)
class Attacker:
    """Bounds of all cells, equal where the attacker knows them, and its own part of each; unit: None for anybody."""

    unit: int | None
    low: Array
    high: Array
    part: Array

    def ends(self, table: Table, x: Array, cell: int, whole: bool = False) -> list[float]:
        """Least and largest value of a cell that is possible."""
        cells, T = np.flatnonzero(self.low < self.high), table.relations.toarray()
        fixed = self.low == self.high
        right = -(T[:, fixed] @ x[fixed])
        cost, box = (cells == cell).astype(float), Bounds(self.low[cells], self.high[cells])
        if whole:
            both = LinearConstraint(T[:, cells], right, right)
            found = [milp(s * cost, constraints=both, integrality=cost * 0 + 1, bounds=box) for s in (1, -1)]
        else:
            limits = list(zip(self.low[cells], self.high[cells], strict=True))
            found = [linprog(s * cost, A_eq=T[:, cells], b_eq=right, bounds=limits, method="highs-ds") for s in (1, -1)]
        return [s * each.fun if each.status == 0 else s * -np.inf for s, each in zip((1, -1), found, strict=True)]

    def exposes(self, table: Table, given: Sensitivity, cell: int) -> bool:
        """Whether the interval is narrower than the levels, or a count has not three numbers."""
        x = table.values[given.value]
        room = 1e-6 * float(x.max())
        levels = kept(table, given, self, cell)
        if levels is None:
            return False
        low, high = self.ends(table, x, cell)
        narrow = x[cell] - low < levels[0] - room or high - x[cell] < levels[1] - room or high - low <= room
        few = given.value in table.counts and np.subtract(*self.ends(table, x, cell, True)[::-1]) < 1.5
        return bool(narrow or few)


def kept(table: Table, given: Sensitivity, who: Attacker, cell: int) -> tuple[float, float] | None:
    """What is to be kept: of the cell whose largest contributor asks, what the rules say of the others."""
    part, x, people = who.part[cell], table.values[given.value], table.contributors
    lower, upper = min(given.lower[cell], x[cell] - part), given.upper[cell]
    if not part or people is None or part < table.makeup(given.value).largest[cell, 0] or given.value in table.counts:
        return lower, upper
    left = np.where(people.unit == who.unit, 0.0, people.values["v"])
    sums = table.holding @ np.bincount(people.inner, left, table.holding.shape[1])
    less = replace(table, values={**table.values, "v": sums}, contributors=replace(people, values={"v": left}))
    others = find_sensitive(less, given.rules, "v")
    if not others.sensitive[cell]:
        return None
    return min(lower, float(others.lower[cell])), min(upper, float(others.upper[cell]))


def attackers(table: Table, gaps: Flags, name: str) -> Iterator[Attacker]:
    """Anybody, and the two largest contributors of each gap, with their parts, from records."""
    x, unknown = table.values[name], gaps | table.hidden & ~table.impossible
    low, high = np.where(unknown, 0.0, x), np.where(unknown, np.inf, x)
    yield Attacker(None, low, high, np.zeros(len(x)))
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
            yield Attacker(unit, np.where(own, x, np.maximum(low, part)), np.where(own, x, high), part)


def exposed(table: Table, gaps: Flags, given: Sensitivity, first: bool = False) -> set[tuple[int | None, int]]:
    """Whom which sensitive cell is not kept from; what anybody knows is told once."""
    found, known = set[tuple[int | None, int]](), set[int]()
    for who in attackers(table, gaps, given.value):
        for cell in np.flatnonzero(given.sensitive).tolist():
            mine = who.low[cell] == who.high[cell]
            if cell in known or (mine and who.unit is not None):
                continue
            if mine or who.exposes(table, given, cell):
                found.add((who.unit, cell))
                known |= {cell} if who.unit is None else set()
                if first:
                    return found
    return found


def safe(table: Table, gaps: Flags, given: Sensitivity) -> bool:
    """Whether every sensitive cell is kept from every attacker."""
    return not exposed(table, gaps, given, first=True)


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


@pytest.mark.parametrize("shape", ["two", "three", "hierarchy", "linked"])
def test_the_audit_finds_whom_another_solver_finds(shape: str):
    """In patterns drawn at will, so that some cells are exposed to anybody, some to a few, some to nobody."""
    table = MADE[shape]()
    rng, told = np.random.default_rng(5), 0
    for rule in (PPercent(20), FewContributors(3), Dominance(2, 90)):
        given = find_sensitive(table, [rule], "v")
        for share in (0.0, 0.2, 0.4):
            gaps = (given.sensitive | (rng.random(len(table)) < share)) & ~table.hidden & ~table.impossible
            found = audit(table, gaps, given)
            ours = {(t.insider, t.cells[0][0]) for t in found.exposed if not t.is_sum}
            assert ours == exposed(table, gaps, given)
            told += len(ours)
    assert told


@pytest.mark.parametrize("shape", ["two", "three", "linked"])
def test_an_auditor_that_has_seen_other_patterns_says_what_a_new_one_says(shape: str):
    table = {"two": lambda: firms((5, 6), 21), "three": lambda: firms((3, 3, 3), 22), "linked": lambda: linked(23)}[
        shape
    ]()
    given = find_sensitive(table, [PPercent(10)], "v")
    rng, auditor = np.random.default_rng(6), Auditor(table, given, "v")
    gaps = given.sensitive.copy()
    for number in range(12):
        told = [{(t.cells, t.insider) for t in each.exposed} for each in (auditor.of(gaps), audit(table, gaps, given))]
        assert told[0] == told[1]
        some = rng.choice(np.flatnonzero(~table.hidden & ~table.impossible), 3)
        gaps = (gaps | np.isin(np.arange(len(table)), some)) if number % 3 else given.sensitive.copy()
