"""Lone contributors of cells: what they know, and what must be kept from them."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.tables.audit import audit
from suffice.tables.insiders import Insiders, known_to
from suffice.tables.rules import Dominance, FewContributors, PPercent, PrimaryRule
from suffice.tables.sensitivity import find_sensitive
from suffice.tables.suppress.suppression import suppress
from suffice.tables.table import Table


def shop_table(second: float) -> Table:
    """A giant alone in the large cells of x and u, with one small firm beside it there; all other cells have many."""
    rows = [("x", "u", "large", "giant", 1000.0), ("x", "u", "small", "other", second)]
    rows += [
        (a, b, size, f"{a}{b}{size}{k}", 40.0)
        for a in "xyz" for b in "uvw" for size in ("small", "large") for k in range(6) if (a, b) != ("x", "u")
    ]  # fmt: skip
    a, b, size, firm, v = zip(*rows, strict=True)
    return Table.of_records({"a": a, "b": b, "size": size, "firm": firm, "v": v}, ["a", "b", "size"], ["v"],
                            contributor="firm")  # fmt: skip


@pytest.mark.parametrize("rules", [[PPercent(15)], [FewContributors(3)], [Dominance(2, 85), PPercent(15)]])
def test_the_largest_contributor_of_a_cell_is_not_protected_from_itself(rules: list[PrimaryRule]):
    """It knows 1000 of 1010, so that nothing could leave it 150 below; what it must not know is the other's 10."""
    table = shop_table(10.0)
    secret = find_sensitive(table, rules, "v")
    cell = table.find("x", "u", "Total")
    assert secret.lower[cell] > 10
    every = ~np.isin(np.arange(len(table)), [table.find("Total", "Total", "Total")])
    found = audit(table, every, secret)
    assert found.holds
    assert table.contributors is not None
    giant = table.contributors.names.tolist().index("giant")
    (seen,) = [t for t in found.targets if t.insider == giant and t.cells == ((cell, 1),)]
    assert 1 <= seen.lower <= 10
    assert seen.value - seen.low >= seen.lower * (1 - 1e-9)
    assert seen.lower < secret.lower[cell]
    opened = every.copy()
    opened[cell] = False
    assert not audit(table, opened, secret).holds


def test_whoever_is_alone_in_a_total_of_a_summary_is_alone_in_its_parts():
    cells = {"a": ["Total", "x", "y", "z"], "v": [30, 30, 0, 0], "k": [1, 1, 0, 0]}
    table = Table.of_cells(cells, ["a"], ["v"], units="k")
    every = np.ones(len(table), dtype=bool)
    who = Insiders.of(table, "v", every, every, signed=False)
    assert who is not None
    assert who.alone[table.find("x")] == who.alone[table.find("Total")] >= 0
    assert who.alone[table.find("y")] == -1
    only = Insiders.of(table, "v", every, np.arange(len(table)) == table.find("x"), signed=False)
    assert only is not None
    assert only.parts.toarray()[only.everyone[0], table.find("Total")] == 30


def test_what_one_knows_of_the_whole_table_is_what_is_known_of_all_cells():
    table = shop_table(10.0)
    every = np.ones(len(table), dtype=bool)
    who = Insiders.of(table, "v", every, every, signed=False)
    assert who is not None
    for unit in who.everyone[:5].tolist():
        for one, other in zip(known_to(table, "v", unit, signed=False), who.of_unit(unit), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("search", ["fast", "exact"])
def test_a_table_with_a_giant_alone_in_a_size_class_has_a_pattern(search: str):
    table = shop_table(10.0)
    secret = find_sensitive(table, [PPercent(15), FewContributors(3)], "v")
    found = suppress(table, secret, search=search, cost="count")
    assert found.holds
    assert not found.suppressed.all()
