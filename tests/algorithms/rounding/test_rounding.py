"""Whole numbers that add up: what controlled rounding keeps, in every case where it can be kept."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algorithms.rounding.cells import RoundingCells, nested
from suffice.algorithms.rounding.circulation import settle
from suffice.algorithms.rounding.equations import RoundingEquations
from suffice.algorithms.rounding.network import flow
from suffice.algorithms.rounding.pairing import pair_off
from suffice.algorithms.rounding.rounding import rounded, rules_of
from suffice.design.edits import parse
from suffice.design.limits import Limits
from suffice.errors import InfeasibleError, UsageError
from tests.tolerances import CHANCE, EXACT

NAMES = ("a", "b", "c", "t")


def limits(n: int, edits, names=NAMES) -> Limits:
    """Every column is 0 or more, and these edits."""
    k = len(names)
    found = Limits.of(names, np.zeros(k), np.full(k, np.inf), [parse(edit) for edit in edits])
    constants = [[float(edit.constant) for edit in kind] for kind in (found.edits, found.equalities)]
    rhs, b = (np.tile(np.array(row, dtype=float), (n, 1)) for row in constants)
    return replace(found, rhs=rhs, b=b)


def between(seed: int, n: int, leaf, largest: int = 9):
    """Tables between a whole one, t = a + b + c, and its rows moved about within groups: whole totals, not cells."""
    generator = np.random.default_rng(seed)
    table = generator.integers(0, largest, (n, 4)).astype(float)
    table[:, 3] = table[:, :3].sum(axis=1)
    moved = table.copy()
    for group in np.unique(leaf):
        rows = np.flatnonzero(leaf == group)
        moved[rows] = table[generator.permutation(rows)]
    share = generator.choice([0.25, 0.5, generator.random()])
    return share * table + (1 - share) * moved


def check(Y, Z, columns, groups) -> None:
    """Every promise that does not depend on edits."""
    y, z = Y[:, columns], Z[:, columns]
    assert np.array_equal(z, np.rint(z))
    assert (np.abs(z - y) < 1).all()
    assert np.array_equal(z[y == np.rint(y)], y[y == np.rint(y)])
    others = [j for j in range(Y.shape[1]) if j not in columns]
    assert np.array_equal(Z[:, others], Y[:, others])
    for labels in [np.zeros(len(Y)), *groups]:
        for group in np.unique(labels):
            before, after = y[labels == group].sum(axis=0), z[labels == group].sum(axis=0)
            whole = np.abs(before - np.rint(before)) < 1e-6
            assert (np.abs(after - np.rint(before))[whole] <= EXACT).all()
            assert (np.abs(after - before) < 1).all()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), count=st.integers(1, 6), inexact=st.booleans())
def test_totals_of_nested_groups_and_an_equality_are_kept(seed, n, count, inexact):
    generator = np.random.default_rng(seed)
    leaf = generator.integers(count, size=n)
    Y = between(seed, n, leaf)
    if inexact:  # totals of the columns that are no whole numbers
        Y[:, 0] += generator.random(n)
        Y[:, 3] = Y[:, :3].sum(axis=1)
    groups = [leaf // 2, leaf]
    Z = rounded(Y, [0, 1, 2, 3], NAMES, generator, limits=limits(n, ["t == a + b + c"]), groups=groups)
    check(Y, Z, [0, 1, 2, 3], groups)
    assert np.array_equal(Z[:, 3], Z[:, :3].sum(axis=1))
    assert (Z >= 0).all()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), edit=st.sampled_from(["a + b <= t", "a >= b - 2", "c <= 8.5"]))
def test_an_inequality_in_which_each_column_occurs_once_needs_no_program(seed, n, edit):
    leaf = np.random.default_rng(seed).integers(3, size=n)
    held = limits(n, [edit])
    Y = between(seed, n, leaf)
    Y[:, 0] += np.maximum(0, Y[:, 1] - 2 - Y[:, 0])  # so that a >= b - 2 holds
    Y[:, 3] = Y[:, :3].sum(axis=1)
    assert not any(held.violations(Y).values())
    rules_seen = rounded(Y, [0, 1, 2, 3], NAMES, np.random.default_rng(seed), limits=held, groups=[leaf], seconds=0)
    check(Y, rules_seen, [0, 1, 2, 3], [leaf])
    assert not any(held.violations(rules_seen).values())


TREES = [  # each edit with the column that makes it true
    {"c == a + b": "c", "t == c + d": "t"},
    {"a + b == c": "c", "d == t - c": "d"},
    {"a == d + e": "a", "b == t + f": "b", "c == a + b": "c"},
    {"c == a + b": "c", "c <= t + 3": "t"},
    {"c == a + b": "c", "c >= t - 9": "t", "d <= e": "e"},
    {"t == a + b + c": "t", "f == t + d": "f", "f <= e + 20": "e"},
]


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), edits=st.sampled_from(TREES))
def test_subtotals_are_a_network_too(seed, n, edits):
    """Whole tables with these equalities, and others made of the same rows: their middle is rounded."""
    names = tuple("abcdeft")
    generator = np.random.default_rng(seed)
    leaf = generator.integers(3, size=n)
    table = _with(edits, generator.integers(0, 9, (n, 7)).astype(float), names)
    moved = table.copy()
    for group in np.unique(leaf):
        rows = np.flatnonzero(leaf == group)
        moved[rows] = table[generator.permutation(rows)]
    Y, held = 0.3 * table + 0.7 * moved, limits(n, edits, names)
    Z = rounded(Y, list(range(7)), names, generator, limits=held, groups=[leaf], seconds=0)
    check(Y, Z, list(range(7)), [leaf])
    assert not held.broken(Z)[:, : len(held.C)].any()
    assert not held.gaps(Z, held.b).any()


def _with(edits, table, names):
    for text, column in edits.items():
        edit, j = parse(text), names.index(column)
        c = np.array(edit.of(names))
        over = table @ c - float(edit.constant)
        table[:, j] -= (over if edit.equality else np.maximum(over, 0)) / c[j]
    return table


def test_subtotals_where_no_total_is_whole():
    generator = np.random.default_rng(8)
    leaf = generator.integers(5, size=300)
    Y = 9 * generator.random((300, 4))
    Y[:, 2] = Y[:, :2].sum(axis=1)
    Y[:, 3] = Y[:, 2] + 3
    held = limits(300, ["c == a + b", "t == c + 3"])
    Z = rounded(Y, [0, 1, 2, 3], NAMES, generator, limits=held, groups=[leaf], seconds=0)
    assert not held.gaps(Z, held.b).any()
    assert (np.abs(Z - Y) < 1).all()
    for j in (0, 1, 3):
        assert (np.abs(np.bincount(leaf, Z[:, j] - Y[:, j])) < 1).all()


@pytest.mark.parametrize(
    ("edits", "taken"),
    [
        (["t == a + b", "c <= t"], 2),
        (["t == a + b", "a + b <= c"], 1),  # totals of a and b would be lost
        (["t == a + b", "a <= c", "b <= c"], 2),  # two inequalities: the total of a or of b would be lost
        (["a <= b", "b <= c"], 1),
        (["t == 2*a"], 0),
        (["t == a + b", "c == t + a"], 1),
    ],
)
def test_which_conditions_are_taken_into_the_network(edits, taken):
    rules = rules_of(np.zeros((1, 4)), [0, 1, 2, 3], limits(1, edits))
    equations = RoundingEquations.of(RoundingCells.of(NAMES, np.zeros((1, 4)), [], rules))
    assert len(equations.K) == taken
    assert ((equations.K == 1).sum(axis=0) <= 1).all()
    assert ((equations.K == -1).sum(axis=0) <= 1).all()
    for columns, steps in equations.circuits():
        assert not (equations.K[:, columns] @ steps).any()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 3))
def test_the_program_finds_a_rounding_wherever_there_is_one(seed, n):
    """Two equalities share a column and an inequality cuts across: tried against every rounding there is."""
    generator = np.random.default_rng(seed)
    Y = generator.integers(0, 8, (n, 4)) / 4
    edits = ["a + b >= c", "2*a <= t + 1", "a <= b + 1"]
    held = limits(n, edits)
    Y = Y[(~held.broken(Y, held.rhs)).all(axis=1)]
    held = limits(len(Y), edits)
    cells = RoundingCells.of(NAMES, Y, [], ())
    low, high = cells.totals(0)
    spots = np.argwhere(np.rint(Y) != Y)
    exists = False
    for ups in product([0, 1], repeat=len(spots)):
        Z = np.floor(Y)
        Z[tuple(spots.T)] += ups
        sums = (Z - np.floor(Y)).sum(axis=0)
        exists |= bool(((sums >= low) & (sums <= high)).all() and not held.broken(Z, held.rhs).any())
    try:
        Z = rounded(Y, [0, 1, 2, 3], NAMES, generator, limits=held)
    except InfeasibleError:
        assert not exists
    else:
        assert exists
        check(Y, Z, [0, 1, 2, 3], [])
        assert not held.broken(Z, held.rhs).any()


def test_edits_that_overlap_are_mended_around_the_records_that_break_them():
    n = 600
    leaf = np.repeat(np.arange(3), n // 3)
    Y = between(5, n, leaf, largest=30)
    held = limits(n, ["t == a + b + c", "a + b <= t", "2*a <= 3*t + 1", "a + c <= t"])
    assert not any(held.violations(Y).values())
    Z = rounded(Y, [0, 1, 2, 3], NAMES, np.random.default_rng(1), limits=held, groups=[leaf])
    check(Y, Z, [0, 1, 2, 3], [leaf])
    assert not any(held.violations(Z).values())
    assert np.array_equal(Z[:, 3], Z[:, :3].sum(axis=1))


def test_edits_that_are_no_network_are_a_program():
    n = 60
    generator = np.random.default_rng(2)
    one = generator.integers(0, 9, (n, 4)).astype(float)
    one[:, 2] = one[:, 0] + one[:, 1]
    one[:, 3] = 2 * one[:, 2]
    Y = (one + one[generator.permutation(n)]) / 2
    held = limits(n, ["c == a + b", "c <= t", "b <= c"])
    Z = rounded(Y, [0, 1, 2, 3], NAMES, generator, limits=held)
    check(Y, Z, [0, 1, 2, 3], [])
    assert not any(held.violations(Z).values())
    with pytest.raises(InfeasibleError) as caught:  # half of an odd number
        rounded(Y, [0, 1, 2, 3], NAMES, generator, limits=limits(n, ["c == a + b", "double: t == 2*c"]))
    assert caught.value.exit_code == 5
    assert "double: gave way" in str(caught.value)


def test_a_total_that_gives_way_is_named():
    """Both records must go down by an edit each, and the total must not."""
    Y = np.array([[0.5, 1.0], [0.5, 1.0]])
    held = limits(2, ["2*a <= 1.5*b"], names=("a", "b"))
    with pytest.raises(InfeasibleError, match="total of a: gave way 1 times"):
        rounded(Y, [0, 1], ("a", "b"), np.random.default_rng(1), limits=held)


def test_an_equality_with_columns_that_are_not_whole_gives_way():
    Y = np.array([[0.5, 0.75, 1.25]] * 4)
    held = limits(4, ["sum: c == a + b"], names=("a", "b", "c"))
    with pytest.raises(InfeasibleError, match="sum: gave way 4 times"):
        rounded(Y, [2], ("a", "b", "c"), np.random.default_rng(1), limits=held)


def test_without_time_the_program_says_so():
    Y = np.array([[0.5, 1.0], [0.5, 1.0]])
    with pytest.raises(InfeasibleError, match="was found in 0 seconds"):
        rounded(
            Y, [0, 1], ("a", "b"), np.random.default_rng(1), limits=limits(2, ["2*a <= 1.5*b"], ("a", "b")), seconds=0
        )


def test_each_cell_is_right_on_average():
    Y = between(3, 12, np.repeat([0, 1, 2], 4))
    Y[:, 0] += 0.3
    Y[:, 3] += 0.3
    held, generator, times = limits(12, ["t == a + b + c"]), np.random.default_rng(4), 600
    draws = np.array(
        [
            rounded(Y, [0, 1, 2, 3], NAMES, generator, limits=held, groups=[np.repeat([0, 1, 2], 4)])
            for _ in range(times)
        ]
    )
    part = Y - np.floor(Y)
    sd = np.sqrt(part * (1 - part) / times)
    assert (np.abs(draws.mean(axis=0) - Y) <= CHANCE * sd + 1e-9).all()
    assert (draws.std(axis=0) > 0).sum() >= (sd > 1e-3).sum() > 20


def test_the_generator_decides():
    Y = between(1, 200, np.zeros(200))
    one, same, other = (rounded(Y, [0, 1], NAMES, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_large_numbers_and_sums_that_drifted():
    n = 5000
    generator = np.random.default_rng(6)
    whole = generator.integers(0, 10**9, n).astype(float)
    Y = ((whole + generator.permutation(whole)) / 2 + generator.standard_normal(n) * 1e-7)[:, None]
    Z = rounded(Y, [0], ["a"], generator)
    assert Z.sum() == whole.sum()
    assert (np.abs(Z - Y) < 1 + 1e-6).all()


def test_a_sum_that_drifted_is_whole_and_another_is_not():
    Y = np.repeat([[2e8 + 0.5 + 1e-6, 2e8 + 0.5 + 1e-4]], 1000, axis=0)
    low, high = RoundingCells.of(("a", "b"), Y, [], ()).totals(0)
    assert (low.tolist(), high.tolist()) == ([[500, 500]], [[500, 501]])


def test_whole_numbers_stay_and_no_zero_is_negative():
    Y = np.array([[3.0, -0.0], [-2.0, -0.4], [7.0, 0.4]])
    Z = rounded(Y, [0, 1], ("a", "b"), np.random.default_rng(1))
    assert np.array_equal(Z[:, 0], Y[:, 0])
    assert Z[:, 1].sum() == EXACT
    assert not np.signbit(Z[Z == 0]).any()


def test_nothing_to_round():
    assert rounded(np.empty((0, 1)), [0], ["a"], np.random.default_rng(1)).shape == (0, 1)
    Y = np.array([[0.5]])
    assert np.array_equal(rounded(Y, [], ["a"], np.random.default_rng(1)), Y)
    assert rounded(Y, [0], ["a"], np.random.default_rng(1)) in (0.0, 1.0)


def test_groups_that_are_not_nested_are_refused():
    groups = [np.array([0, 0, 1]), np.array([5, 7, 7])]
    with pytest.raises(UsageError, match="level 2 are not nested: 1 of them"):
        rounded(np.ones((3, 1)), [0], ["a"], np.random.default_rng(1), groups=groups)


def test_labels_are_numbered_from_the_whole_file_to_the_finest_group():
    family = nested([np.array(["n", "n", "s"]), np.array([30, 20, 10])], 3)
    assert [level.tolist() for level in family] == [[0, 0, 0], [0, 0, 1], [2, 1, 0]]


def test_the_network_alone_rounds_a_large_file_in_seconds():
    n = 100_000
    leaf = np.random.default_rng(1).integers(500, size=n)
    Y = between(1, n, leaf, largest=1000)
    begin = time.monotonic()
    held = limits(n, ["t == a + b + c"])
    Z = rounded(Y, [0, 1, 2, 3], NAMES, np.random.default_rng(1), limits=held, groups=[leaf // 10, leaf], seconds=0)
    assert time.monotonic() - begin < 30
    sums = [np.column_stack([np.bincount(leaf, column) for column in table.T]) for table in (Y, Z)]
    assert np.abs(sums[0] - sums[1]).max() < 1e-6
    assert np.array_equal(Z[:, 3], Z[:, :3].sum(axis=1))


def test_pairs_leave_at_most_one_record_of_a_group_and_no_total_moves():
    generator = np.random.default_rng(1)
    part, leaf = generator.random((1000, 2)), generator.integers(7, size=1000)
    before = [np.bincount(leaf, column) for column in part.T]
    pair_off(part, leaf, [(np.array([j]), np.array([1.0])) for j in (0, 1)], generator)
    for column, sums in zip(part.T, before, strict=True):
        assert np.bincount(leaf, (column > 0) & (column < 1)).max() <= 1
        assert np.allclose(np.bincount(leaf, column), sums, atol=1e-7)


def test_a_dead_end_is_whole_but_for_rounding():
    assert settle([1 - 1e-7, 1e-7], [0, 1], [1, 2], np.random.default_rng(1)) == [1, 0]


def test_the_network_without_rules_ignores_none_of_the_totals():
    Y = np.full((8, 1), 0.5)
    leaf = np.repeat(np.arange(4), 2)
    Z = flow(RoundingCells.of(("a",), Y, [leaf], ()), np.random.default_rng(3))
    assert np.bincount(leaf, Z[:, 0]).tolist() == [1, 1, 1, 1]
