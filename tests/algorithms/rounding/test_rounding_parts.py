"""A file rounded part by part keeps what it keeps in one piece."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algorithms.rounding.cells import RoundingCells
from suffice.algorithms.rounding.parts import mostly_rounded
from suffice.algorithms.rounding.rounding import rounded
from suffice.design.limits import Limits
from suffice.errors import InfeasibleError
from tests.algorithms.rounding.test_rounding import NAMES, TREES, _with, between, check, limits
from tests.tolerances import CHANCE, EXACT


def of_rows(held: Limits | None, rows: np.ndarray) -> Limits | None:
    return None if held is None else replace(held, rhs=held.rhs[rows], b=held.b[rows])


def in_parts(Y, columns, names, generator, *, parts, limits=None, groups=(), seconds=60.0, helpers=0):
    """What a release of a large file does; with no helpers each part rounds all that it can."""
    Z, waiting = Y.copy(), []
    for rows in np.array_split(np.arange(len(Y)), parts):
        kept = {"limits": of_rows(limits, rows), "groups": [label[rows] for label in groups], "seconds": seconds}
        with patch("suffice.algorithms.rounding.parts.HELPERS", helpers):
            Z[rows], left = mostly_rounded(Y[rows], columns, names, generator, **kept)
        waiting.append(rows[left])
    rows = np.concatenate(waiting)
    kept = {"limits": of_rows(limits, rows), "groups": [label[rows] for label in groups], "seconds": seconds}
    Z[rows] = rounded(Z[rows], columns, names, generator, **kept, behind=len(Y) / max(len(rows), 1))
    return Z, rows


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), count=st.integers(1, 6), parts=st.integers(1, 5))
def test_totals_of_nested_groups_and_an_equality_are_kept(seed, n, count, parts):
    generator = np.random.default_rng(seed)
    leaf = generator.integers(count, size=n)
    Y, groups = between(seed, n, leaf), [leaf // 2, leaf]
    for edits in ([], ["t == a + b + c"]):
        held = limits(n, edits)
        Z, _ = in_parts(Y, [0, 1, 2, 3], NAMES, generator, parts=parts, limits=held, groups=groups, seconds=0)
        check(Y, Z, [0, 1, 2, 3], groups)
        assert (Z >= 0).all()
        assert not edits or np.array_equal(Z[:, 3], Z[:, :3].sum(axis=1))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), edits=st.sampled_from(TREES), parts=st.integers(1, 5))
def test_subtotals_and_inequalities_of_a_network_are_kept(seed, n, edits, parts):
    names, generator = tuple("abcdeft"), np.random.default_rng(seed)
    leaf = generator.integers(3, size=n)
    table = _with(edits, generator.integers(0, 9, (n, 7)).astype(float), names)
    moved = table.copy()
    for group in np.unique(leaf):
        rows = np.flatnonzero(leaf == group)
        moved[rows] = table[generator.permutation(rows)]
    Y, held = 0.3 * table + 0.7 * moved, limits(n, edits, names)
    Z, _ = in_parts(Y, list(range(7)), names, generator, parts=parts, limits=held, groups=[leaf], seconds=0)
    check(Y, Z, list(range(7)), [leaf])
    assert not held.broken(Z)[:, : len(held.C)].any()
    assert not held.gaps(Z, held.b).any()


def test_without_edits_one_record_of_each_group_column_and_part_waits():
    generator = np.random.default_rng(1)
    Y, leaf = generator.random((3000, 2)), generator.integers(7, size=3000)
    _, waiting = in_parts(Y, [0, 1], ("a", "b"), generator, parts=4, groups=[leaf])
    assert 4 * 7 <= len(waiting) <= 2 * 4 * 7


def test_edits_that_overlap_are_mended_in_each_part():
    n = 900
    leaf = np.arange(n) % 3
    Y = between(5, n, leaf, largest=30)
    held = limits(n, ["t == a + b + c", "a + b <= t", "2*a <= 3*t + 1", "a + c <= t"])
    kept = {"parts": 3, "limits": held, "groups": [leaf], "helpers": 8}
    Z, waiting = in_parts(Y, [0, 1, 2, 3], NAMES, np.random.default_rng(1), **kept)
    assert 3 * 3 * 8 <= len(waiting) < 300
    check(Y, Z, [0, 1, 2, 3], [leaf])
    assert not any(held.violations(Z).values())


def test_an_edit_that_no_rounding_keeps_is_named_with_its_count():
    n = 400
    Y = np.tile([0.5, 1.0], (n, 1))
    held = limits(n, ["twice: b == 2*a"], names=("a", "b"))
    with pytest.raises(InfeasibleError, match=r"twice: gave way \d+ times"):
        in_parts(Y, [0, 1], ("a", "b"), np.random.default_rng(1), parts=2, limits=held, seconds=1)


def test_each_cell_is_right_on_average():
    Y, leaf = between(3, 16, np.tile([0, 1], 8)), np.tile([0, 1], 8)
    Y[:, 0] += 0.3
    Y[:, 3] += 0.3
    held, generator, times = limits(16, ["t == a + b + c"]), np.random.default_rng(4), 200
    kept = {"parts": 3, "limits": held, "groups": [leaf]}
    draws = np.array([in_parts(Y, [0, 1, 2, 3], NAMES, generator, **kept)[0] for _ in range(times)])
    part = Y - np.floor(Y)
    sd = np.sqrt(part * (1 - part) / times)
    assert (np.abs(draws.mean(axis=0) - Y) <= CHANCE * sd + 1e-9).all()


def test_a_sum_may_have_drifted_with_all_the_records_behind_it():
    Y = np.array([[2e8 + 0.5], [2e8 + 0.5 - 1e-4]])
    few = RoundingCells.of(("a",), Y, [], ())
    low, high = few.totals(0)
    assert low != high
    low, high = replace(few, behind=1e6).totals(0)
    assert low == high == 1 + EXACT
