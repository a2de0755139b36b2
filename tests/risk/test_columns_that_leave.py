"""Measures of what leaves unchanged: made by hand, and the same in memory, over files and in groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Roles, Seed, protect
from suffice.risk.assessment import Assessment
from suffice.risk.products import saying_most
from suffice.risk.told import Told


def assessed(data: Any, **roles: Any) -> Assessment:
    return protect(data, Roles(**roles), Ipso(), seed=Seed.for_tests(1)).assessment


def test_a_guess_is_compared_with_others_and_with_one_for_all() -> None:
    y = np.exp(np.random.default_rng(1).normal(size=4000))
    told = Told.of("y", y, np.where(np.arange(4000) % 2, y, 0.0))
    assert told is not None
    assert told.near == 0.5
    assert told.chance < 0.05
    years = 2000.0 + np.arange(100) % 20
    told = Told.of("year", years, np.where(np.arange(100) % 2, years, 2040.0))
    assert told is not None
    assert told.near == 0.5  # 5 % of a year is a century: a tenth of the standard deviation counts
    assert 0 < told.chance <= 0.1
    assert Told.of("year", years, np.random.default_rng(1).permutation(years)) is None  # no more than by chance
    assert Told.of("y", y[:29], y[:29]) is None  # too few to judge by
    assert Told.of("y", np.zeros(99), np.zeros(99)) is None


@pytest.mark.parametrize("equal", [0, 4, 6])
def test_equal_cells_are_counted(equal: int) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.permutation(10_000)[:100] + 1.0, rng.permutation(10_000)[:100] + 20_000.0
    y[:equal] = x[:equal]
    x[90:] = y[90:] = 0.0  # zeros are not values that stand beside themselves
    found = assessed(pd.DataFrame({"x": x, "y": y}), confidential=["y"], keep=["x"]).equal
    assert [each.records for each in found] == ([6] if equal == 6 else [])


def test_scores_that_are_often_equal_are_not() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(1, 6, 500).astype(float)
    x = np.where(rng.random(500) < 0.6, y, rng.integers(1, 6, 500))
    assert not assessed(pd.DataFrame({"x": x, "y": y}), confidential=["y"], keep=["x"]).equal


def test_another_unit_is_found() -> None:
    rng = np.random.default_rng(1)
    y = rng.lognormal(8, 1, 300)
    x = np.where(np.arange(300) < 60, y / 13.7603, rng.lognormal(8, 1, 300))
    (found,) = assessed(pd.DataFrame({"x": x, "y": y}), confidential=["y"], keep=["x"]).equal
    assert found.scaled
    assert found.records == 60


@pytest.mark.parametrize("groups", [2, 30, 1500])
def test_a_file_is_judged_as_memory_is(groups: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some records, whole groups where these are many: the verdict is that of all records."""
    rng = np.random.default_rng(1)
    n = 20_000
    g = rng.integers(0, groups, n)
    data = pd.DataFrame({"g": g, "a": rng.integers(0, 90, n), "x": rng.lognormal(size=n), "y": rng.lognormal(size=n)})
    data["z"] = 1000 + 100 * rng.normal(size=groups)[g] + 0.5 * rng.normal(size=n)
    data.to_parquet(tmp_path / "in.parquet")
    request: dict[str, Any] = {"confidential": ["y", "z"], "groups": ["g"], "keep": ["x", "a"]}
    one, two = (assessed(source, **request) for source in (data, tmp_path / "in.parquet"))
    assert one.told == two.told
    assert one.unique == two.unique
    assert [told.column for told in one.told] == ["z"]
    monkeypatch.setattr("suffice.risk.leaving.SAMPLE", n)
    (all_of_it,) = assessed(data, **request).told
    assert abs(all_of_it.r2 - one.told[0].r2) < 0.002
    together = data.groupby(["g", "a"]).size()
    assert one.unique.columns == ("g", "a")
    assert one.unique.share == (together == 1).sum() / n


def test_levels_of_a_large_factor_tell(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    g = rng.integers(0, 300, 12_000)
    data = pd.DataFrame({"g": g, "x": rng.normal(size=12_000)})
    data["y"] = 1000 * np.exp(rng.normal(size=300))[g] * (1 + 0.004 * rng.normal(size=12_000)) + data["x"]
    (told,) = assessed(data, confidential=["y"], given="C(g) + x").told
    assert told.given_away
    assert told.near > 0.99


def test_products_are_chosen_for_every_column_as_for_it_alone() -> None:
    rng = np.random.default_rng(5)
    a, b, c, d = rng.uniform(1, 9, size=(4, 3000))
    here = rng.random(3000) < 0.5
    zeroed = np.where(here, c, 0.0)  # half of the quotients by it are no numbers
    Y = np.column_stack([a * b, a / b, np.where(here, b / c - a, d), rng.permutation(a * b)])
    plain, columns = np.column_stack([np.ones(3000), a]), [a, b, zeroed]
    found = list(saying_most(plain, columns, Y, 8))
    alone = [next(saying_most(plain, columns, y[:, None], 8)) for y in Y.T]
    assert [each is None for each in found] == [each is None for each in alone] == [False, False, False, True]
    for one, two, right in zip(found, alone, (a * b, a / b, None), strict=False):
        assert one is not None
        assert two is not None
        assert np.array_equal(one, two, equal_nan=True)
        assert right is None or any(np.array_equal(x, right) for x in one.T)
