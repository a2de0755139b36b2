"""Concentration: what a kept total, or a kept mean and variance, says of the largest record of a group."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import add
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Roles
from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.files.source import open_rows
from suffice.risk.dominance import Concentration
from suffice.risk.group_summary import groups_of
from suffice.statistics.domain import Domain


def of(*groups: list[float]) -> Concentration:
    words = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return Concentration.of(words, np.concatenate(groups)[:, None])


def interval(values: Array) -> tuple[float, float]:
    """Where the largest of non-negative values lies, by their mean and variance."""
    n, mean, sd = len(values), values.mean(), values.std()
    total, squares = values.sum(), (values**2).sum()
    low = max(squares / total, mean + sd / np.sqrt(n - 1))
    if 2 * squares >= total**2:
        low = max(low, (total + np.sqrt(2 * squares - total**2)) / 2)
    return low, min(np.sqrt((values**2).sum()), mean + sd * np.sqrt(n - 1))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(1, 60), k=st.integers(1, 3), groups=st.integers(1, 8))
def test_it_is_what_a_loop_over_groups_finds(seed: int, n: int, k: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    words, Y = rng.integers(0, groups, n), rng.normal(size=(n, k)) * rng.integers(0, 2, (n, k))
    Y[rng.random((n, k)) < 0.1] = np.nan
    found = Concentration.of(words, Y)
    size = np.nan_to_num(np.abs(Y))
    assert found.groups.tolist() == sorted(set(words))
    for i, word in enumerate(found.groups):
        own = np.sort(np.vstack([size[words == word], np.zeros((1, k))]), axis=0)
        assert found.sizes[i] == (~np.isnan(Y[words == word]).all(axis=1)).sum()
        assert np.array_equal(found.first[i], own[-1])
        assert np.array_equal(found.second[i], own[-2])
        assert np.allclose(found.total[i], own.sum(axis=0), rtol=1e-14)
        assert np.allclose(found.squares[i], (own**2).sum(axis=0), rtol=1e-14)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), cuts=st.lists(st.integers(0, 50), max_size=4))
def test_parts_merge_to_the_whole_in_any_way(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    words, Y = rng.integers(0, 6, 50), rng.integers(-9, 9, (50, 2)).astype(float)
    whole = Concentration.of(words, Y)
    ends = [0, *sorted(cuts), 50]
    parts = [Concentration.of(words[a:b], Y[a:b]) for a, b in pairwise(ends) if b > a]
    backwards = reduce(lambda one, two: two + one, parts)
    for found in (reduce(add, parts), backwards):
        for field in ("groups", "sizes", "total", "squares", "first", "second"):
            assert np.array_equal(getattr(found, field), getattr(whole, field))


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(2, 40), tail=st.floats(0.05, 4.0))
def test_the_largest_lies_where_mean_and_variance_say(seed: int, n: int, tail: float) -> None:
    """The bounds that the rule uses are theorems."""
    values = np.exp(tail * np.random.default_rng(seed).normal(size=n))
    low, high = interval(values)
    assert low * (1 - 1e-9) <= values.max() <= high * (1 + 1e-9)
    narrow = high - low < 0.1 * (values.max() - values.mean())
    assert of(values.tolist()).narrow.item() == narrow


@pytest.mark.parametrize(
    ("values", "dominated"),
    [
        ([100.0, 80.0, 20.0], False),  # (2, 90 %): the two largest have 90 % of the total, and p % = 10 is weaker
        ([100.0, 80.0, 10.0, 10.0], False),
        ([100.0, 80.0, 19.999], True),
        ([100.0, 81.0, 20.0], True),
        ([100.0], True),
        ([100.0, 100.0], True),
        ([-100.0, 50.0, 9.0], True),  # on absolute values
        ([0.0, 0.0], False),  # nothing to give away
        ([5.0, 0.0, 0.0, 0.0, 0.0], True),  # the one that has any
        ([10.0] * 3, False),
    ],
)
def test_the_rules_on_totals_at_their_thresholds(values: list[float], dominated: bool) -> None:
    found = of([1.0] * 20, values)
    assert found.dominated.ravel().tolist() == [False, dominated]
    assert of([value * 1e-9 for value in values]).dominated.item() == dominated  # units do not matter


@pytest.mark.parametrize("n", [5, 50])
def test_one_giant_is_narrow_and_an_ordinary_group_is_not(n: int) -> None:
    rng = np.random.default_rng(1)
    small = rng.uniform(0.5, 1.5, n - 1)
    assert of([1000.0, *small]).narrow.item()
    assert not of([3.0, *small]).narrow.item()
    assert not of(rng.lognormal(0, 1, n).tolist()).narrow.item()


@pytest.mark.parametrize("n", [5, 20, 100, 1000])
def test_years_and_other_numbers_far_from_zero_are_not_narrow(n: int) -> None:
    """Any mean tells a year of birth to 1 %, and nothing of the person."""
    years = np.random.default_rng(n).integers(1930, 2010, n).astype(float)
    assert not of(years.tolist()).narrow.any()
    assert not of(years.tolist()).dominated.any()
    assert not of([7.0] * n).narrow.any()  # said by another rule


def test_records_without_a_value_are_not_counted() -> None:
    found = Concentration.of(np.array([0, 0, 0, 1]), np.array([[1.0, np.nan], [2.0, 3.0], [np.nan] * 2, [np.nan] * 2]))
    assert found.sizes.tolist() == [2, 0]
    assert not found.narrow[1].any()
    assert not found.dominated[1].any()


@pytest.mark.parametrize("holes", [False, True])
def test_a_file_is_read_run_by_run(holes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    n = 20_000
    data = pd.DataFrame({"g": rng.integers(0, 40, n), "y": rng.lognormal(0, 2, n), "z": rng.normal(size=n)})
    data.loc[rng.random(n) < 0.3, "z"] = np.nan if holes else 0.0
    pq.write_table(pa.Table.from_pandas(data), tmp_path / "in.parquet")
    roles = Roles(confidential=["y", "z"], groups=["g"], missing="patterns")
    level = Domain("g", ("g",), holes=holes)
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    rows = [open_rows(source, 2, None) for source in (data, tmp_path / "in.parquet")]
    (one, *_), (two, *_) = (groups_of(each, Design.learn(each, roles), (level,))[0] for each in rows)
    assert len(one.groups) == (80 if holes else 40)
    assert np.array_equal(one.groups, two.groups)
    assert np.array_equal(one.first, two.first)
    assert np.allclose(one.total, two.total, rtol=1e-12)
    both = groups_of(rows[0], Design.learn(rows[0], roles), (level, replace(level, by=())))  # in one pass
    plain = both[1][0]
    assert np.array_equal(both[0][0].total, one.total)
    assert len(plain.groups) == (2 if holes else 1)
