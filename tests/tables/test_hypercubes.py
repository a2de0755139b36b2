"""Hypercubes with capacity: their cells carry the levels, and cost no more than any other of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from suffice.tables.audit import PROTECTED, audit
from suffice.tables.rules import PPercent
from suffice.tables.sensitivity import Prior, Sensitivity, find_sensitive
from suffice.tables.suppress.demand import PatternRequest
from suffice.tables.suppress.hypercubes import Hypercubes
from suffice.tables.table import Table
from tests.tables.test_suppress import counts, firms


def request_of(table: Table, given: Sensitivity) -> PatternRequest:
    every = ~table.impossible & ~table.hidden
    cost = np.log1p(np.abs(table.values[given.value]))
    return PatternRequest(table, (given,), given.sensitive, every & ~given.sensitive, cost)


@pytest.mark.parametrize("shape", [(5, 5), (3, 4, 3)])
def test_the_cheapest_hypercube_is_taken(shape: tuple[int, ...]):
    table = counts(shape, 4, low=5)
    place = ["1"] * len(shape)
    given = find_sensitive(table, [], "count", priors=[Prior(tuple(place), "unsafe", lower=4, upper=4)])
    request, x = request_of(table, given), table.values["count"]
    found = Hypercubes(request).pattern()

    def corners(others: tuple[int, ...]) -> list[int]:
        some = [(own, str(other)) for own, other in zip(place, others, strict=True)]
        return [table.find(*codes) for codes in product(*some)]

    ways = [each for each in product(*(range(size) for size in shape)) if all(k != 1 for k in each)]
    able = [corners(each) for each in ways if (x[corners(each)] >= 4).all()]
    assert found.sum() == 2 ** len(shape)
    assert sorted(np.flatnonzero(found)) in [sorted(each) for each in able]
    assert request.cost[found].sum() == pytest.approx(min(request.cost[each].sum() for each in able))
    assert [target.verdict for target in audit(table, found, given).targets] == [PROTECTED]


@pytest.mark.parametrize("hierarchy", [False, True])
def test_changes_of_hypercubes_keep_all_equations(hierarchy: bool):
    table = firms((4, 4), 6, hierarchy=hierarchy)
    given = find_sensitive(table, [PPercent(10)], "v")
    cubes = Hypercubes(request_of(table, given))
    found = cubes.pattern()
    change = cubes.changes["v"]
    assert change.any()
    assert np.abs(table.relations @ change).max() < 1e-9 * np.abs(change).max()
    assert found[change != 0].all()
    assert found[given.sensitive].all()
