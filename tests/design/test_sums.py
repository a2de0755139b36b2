"""Sums that hold in every record are found, and none that only chance has made."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.design.sums import holding, sums


def told(columns: dict[str, np.ndarray]) -> set[str]:
    return {str(each) for each in sums(columns)}


def money(seed: int, *names: str, n: int = 200) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: np.round(rng.lognormal(5, 1, n)) for name in names}


def test_a_total_a_subtotal_and_a_difference() -> None:
    y = money(1, "wages", "taxes", "rents", "sales")
    y["costs"] = y["wages"] + y["taxes"]
    y["all"] = y["costs"] + y["rents"]
    y["profit"] = y["sales"] - y["all"]
    found = list(sums(y))
    assert len(found) == 3
    assert all(holding(found, y))
    spanned = {frozenset(each.columns) for each in found}
    assert {"costs", "all", "profit"} <= frozenset().union(*spanned)
    assert "costs == wages + taxes" in told({name: y[name] for name in ("wages", "taxes", "rents", "costs")})


def test_decimals_that_do_not_add_to_the_last_bit() -> None:
    y = money(2, "a", "b")
    y = {name: values / 10 for name, values in y.items()}
    assert told({**y, "c": y["a"] + 2 * y["b"]}) == {"c == a + 2*b"}


@pytest.mark.parametrize("by", [1, 1000.0, 1e-6])
def test_one_record_that_is_otherwise_is_enough(by: float) -> None:
    y = money(3, "a", "b")
    y["c"] = y["a"] + y["b"]
    y["c"][7] += by
    assert not told(y)


def test_other_coefficients_are_no_sums() -> None:
    y = money(4, "a", "b")
    assert not told({**y, "c": 0.37 * y["a"] + y["b"]})
    assert not told({**y, "c": 7 * y["a"] + y["b"]})


def test_no_false_sum_in_a_thousand_random_files() -> None:
    rng = np.random.default_rng(5)
    for number in range(1000):
        n, p = int(rng.integers(20, 60)), int(rng.integers(2, 9))
        few, share = int(rng.integers(2, 5)), float(rng.choice([1.0, 0.1]))
        kinds = [
            rng.standard_normal((p, n)),
            rng.integers(0, few, (p, n)) * (rng.random((p, n)) < share),
            np.round(rng.lognormal(5, 2, (p, n))),
        ]
        columns = {f"x{j}": values for j, values in enumerate(np.asarray(kinds[number % 3], dtype=float))}
        assert not told(columns)


def test_missing_cells_are_no_witnesses_against_it() -> None:
    y = money(6, "a", "b")
    y["c"] = y["a"] + y["b"]
    found = list(sums(y))
    y["a"] = np.where(np.arange(200) == 3, np.nan, y["a"])
    assert holding(found, y) == [True]
