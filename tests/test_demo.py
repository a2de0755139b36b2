"""The firms of the demonstration are what the documentation says they are."""

from __future__ import annotations

import numpy as np

from suffice.demo import INDUSTRIES, REGIONS, SIZE_FROM, SIZES, firms


def column(table, name):
    return table[name].to_numpy(zero_copy_only=False)


def test_the_total_is_the_sum_of_its_parts():
    table = firms()
    parts = column(table, "wages") + column(table, "taxes") + column(table, "other_costs")
    assert np.array_equal(column(table, "total_costs"), parts)


def test_the_seed_decides():
    assert firms(100, seed=1).equals(firms(100, seed=1))
    assert not firms(100, seed=1).equals(firms(100, seed=2))


def test_every_region_industry_and_size_is_there_unequally():
    table = firms()
    for name, levels in (("region", REGIONS), ("industry", INDUSTRIES), ("size", SIZES)):
        found, counts = np.unique(column(table, name), return_counts=True)
        assert sorted(levels) == list(found)
        assert counts.max() > 2 * counts.min() >= 40


def test_size_class_follows_from_employees():
    table = firms()
    place = np.searchsorted(SIZE_FROM, column(table, "employees"), side="right") - 1
    assert np.array_equal(np.asarray(SIZES)[place], column(table, "size"))


def test_money_is_positive_skewed_and_correlated():
    table = firms()
    money = np.array([column(table, name) for name in ("turnover", "wages", "taxes", "other_costs")])
    assert money.min() > 0
    centred = (money - money.mean(1, keepdims=True)) / money.std(1, keepdims=True)
    assert ((centred**3).mean(1) > 2).all()
    assert np.corrcoef(np.log(money)).min() > 0.5


def test_identifiers_are_unique_and_weights_positive():
    table = firms()
    assert len(set(column(table, "firm_id"))) == table.num_rows
    assert column(table, "weight").min() > 0.8
