"""One giant in a file, the largest of a cell, cells in which everyone stands at an end of the range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Mixture, Resize, Roles, Seed, protect
from suffice.release.release import Release


def levels(release: Release) -> dict[str, str]:
    return {finding.rule: finding.level for finding in release.findings}


def released(data: pd.DataFrame, **roles: Any) -> Release:
    return protect(data, Roles(confidential=["y"], **roles), Ipso(), seed=Seed.for_tests(1))


def firms(giant: float, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    y = rng.lognormal(3, 1, n)
    y[0] = giant
    return pd.DataFrame({"region": rng.integers(0, 6, n), "y": y, "w": rng.integers(1, 3, n)})


@pytest.mark.parametrize("key", range(3))
def test_one_railway_among_three_hundred_firms_is_read_off_mean_and_variance(key: int) -> None:
    data = firms(1e5)
    roles = Roles(confidential=["y"], given="C(region)")
    release = protect(data, roles, Ipso(), seed=Seed.for_tests(key))
    y = release.frame["y"]
    assert abs(y.mean() + y.std(ddof=0) * np.sqrt(len(y) - 1) - 1e5) < 0.001 * 1e5
    assert levels(release)["dominance"] == "stop"


@pytest.mark.parametrize(("giant", "level"), [(1e4, "stop"), (900.0, None), (300.0, None)])
def test_it_is_stopped_where_the_guess_is_within_ten_percent(giant: float, level: str | None) -> None:
    data = firms(giant)
    release = released(data)
    y = release.frame["y"]
    apart = y.std(ddof=0) * np.sqrt(len(y) - 1) / (data["y"].max() - y.mean()) - 1
    assert (apart < 0.1) == (level == "stop")
    assert levels(release).get("dominance") == level
    assert levels(released(data.assign(y=np.log(data["y"])))).get("dominance") is None  # the remedy
    assert levels(released(data.drop(index=0))).get("dominance") is None


def test_two_giants_read_each_other_off() -> None:
    data = firms(1e5)
    data.loc[1, "y"] = 0.8e5
    y = released(data).frame["y"]
    left = (y**2).sum() - 0.8e5**2  # the second giant subtracts its own square
    assert abs(np.sqrt(left) - 1e5) < 0.01 * 1e5
    assert levels(released(data))["dominance"] == "stop"


@pytest.mark.parametrize(("others", "told"), [((0.9e5, 0.8e5), True), ((0.8e5, 0.5e5), False), ((90.0, 80.0), None)])
def test_three_giants_read_each_other_off(others: tuple[float, float], told: bool | None) -> None:
    """The third knows that the largest has at least half of the squares that its own leaves, and at most all but it."""
    data = firms(1e5 if told is not None else 100.0)
    data.loc[[1, 2], "y"] = others
    y = released(data).frame["y"]
    own = (others[1] - y.mean()) ** 2
    left = y.var(ddof=0) * len(y) - own
    low, high = np.sqrt([left / 2, left - own])
    guess = y.mean() + (low + high) / 2
    assert (abs(guess - 1e5) < 0.1 * 1e5 and high - low < 0.2 * guess) == bool(told)
    assert levels(released(data)).get("dominance") == ("stop" if told else None)
    assert "dominance" not in levels(released(data.assign(y=np.log(data["y"]))))  # the remedy


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_second_largest_of_a_cell_reads_the_largest_off(weight: str | None) -> None:
    rng = np.random.default_rng(2)
    cell = np.array([100.0, 60.0, 2.0, 1.0, 1.0, 0.5, 0.5])
    data = pd.DataFrame({"state": [0] * 7 + [*rng.integers(1, 5, 93)], "y": [*cell, *rng.uniform(50, 150, 93)]})
    data["w"] = rng.uniform(1, 2, 100) if weight else 1.0
    release = released(data, given="C(state)", weight=weight)
    ours = release.frame[release.frame["state"] == 0]
    w = ours["w"] if weight else pd.Series(1.0, index=ours.index)
    total = (w * ours["y"]).sum()
    guess = (total - data["w"][1] * 60) / data["w"][0]
    assert abs(guess - 100) < 10
    assert levels(release)["dominance"] == "stop"
    nothing_kept = protect(
        data, Roles(confidential=["y"], given="C(state)", weight=weight), Mixture(0.5), seed=Seed.for_tests(1)
    )
    assert ("dominance" in levels(nothing_kept)) == ("fit" in nothing_kept.method.kept)
    assert "dominance" not in levels(released(data, given="C(state)", weight=weight, merge_below=8))


@pytest.mark.parametrize("how", ["groups", "given"])
def test_towns_in_which_all_have_the_highest_score_are_known(how: str) -> None:
    """Three towns of twenty persons."""
    rng = np.random.default_rng(3)
    town = np.repeat(np.arange(20), 20)
    score = rng.integers(0, 6, 400).astype(float)
    score[:60] = 5.0
    data = pd.DataFrame({"town": town, "y": score})
    roles: dict[str, Any] = {"groups": ["town"]} if how == "groups" else {"given": "C(town)"}
    release = released(data, **roles)
    means = release.frame.groupby("town")["y"].mean()
    known = means.index[np.abs(means - 5) < 1e-9]
    assert (data.loc[data["town"].isin(known), "y"] == 5).all()
    assert len(known) == 3
    assert levels(release)["explained-columns"] == "stop"
    coarser = data.assign(town=data["town"] % 10)
    roles = {"groups": ["town"]} if how == "groups" else {"given": "C(town)"}
    assert levels(released(coarser, **roles)).get("explained-columns") != "stop"


def test_that_nobody_in_a_cell_has_anything_is_no_reason_to_stop() -> None:
    rng = np.random.default_rng(4)
    town = np.repeat(np.arange(10), 30)
    y = np.where(rng.random(300) < 0.5, rng.lognormal(size=300), 0.0) * (town > 2)
    data = pd.DataFrame({"town": town, "y": y})
    assert levels(released(data, given="C(town)")).get("explained-columns") != "stop"
    assert levels(released(data, groups=["town"]))["explained-columns"] == "note"


@pytest.mark.parametrize("how", ["groups", "given", "drawn"])
@pytest.mark.parametrize("kind", ["amount", "trait", "debt"])
def test_a_town_without_what_most_have_is_known(kind: str, how: str) -> None:
    """All thirty of a town have nothing, four of five elsewhere have something: the kept mean says so of each."""
    rng = np.random.default_rng(4)
    town = np.repeat(np.arange(10), 30)
    size = np.ones(300) if kind == "trait" else rng.lognormal(size=300) * (-1 if kind == "debt" else 1)
    y = np.where(rng.random(300) < 0.8, size, 0.0)
    data = pd.DataFrame({"town": town, "y": np.where(town == 3, 0.0, y)})
    asked: dict[str, Any] = {"given": "C(town)"} if how == "given" else {"groups": ["town"]}
    method = Resize(m=300) if how == "drawn" else Ipso()
    release = protect(data, Roles(confidential=["y"], **asked), method, seed=Seed.for_tests(1))
    means = release.frame.groupby("town")["y"].mean()
    assert np.flatnonzero(np.abs(means) < 1e-9).tolist() == [3]
    assert (data.loc[town == 3, "y"] == 0).all()
    assert levels(release)["explained-columns"] == "stop"
    others = data.assign(y=y)
    usual = protect(others, Roles(confidential=["y"], **asked), method, seed=Seed.for_tests(1))
    assert levels(usual).get("explained-columns") is None
    joined = data.assign(town=town % 5)
    healed = protect(joined, Roles(confidential=["y"], **asked), method, seed=Seed.for_tests(1))
    assert levels(healed).get("explained-columns") is None  # the remedy


@pytest.mark.parametrize("others", ["", " + x", " + C(region)"])
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("kind", "rule"), [("giant", "dominance"), ("score", "explained-columns")])
def test_factors_of_many_levels_have_cells_too(
    kind: str, rule: str, large: bool, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """150 towns, which are absorbed, with nothing or something beside them; in a large file each factor by itself."""
    if large:
        monkeypatch.setattr("suffice.risk.cells.RECORDS", 1000)
        monkeypatch.setattr("suffice.risk.cells.MOST", 200)
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"town": np.repeat(np.arange(150), 20), "region": rng.integers(0, 4, 3000)})
    data["x"], data["y"] = rng.normal(size=3000), rng.integers(0, 6, 3000).astype(float)
    plain, here = data.copy(), data["town"] == 7
    data.loc[here, "y"] = 5.0 if kind == "score" else [900.0, 4.0, *[1.0] * 18]
    release = released(data, given=f"C(town){others}")
    total = release.aligned().loc[here, "y"].sum()
    assert np.isclose(total, 100.0) if kind == "score" else abs(total - 4.0 - 900.0) < 0.1 * 900.0
    assert levels(release)[rule] == "stop"
    assert levels(released(plain, given=f"C(town){others}")).get(rule) is None


def test_a_trait_of_one_in_a_group_is_counted_not_an_amount() -> None:
    rng = np.random.default_rng(5)
    town = np.repeat(np.arange(10), 40)
    y = (rng.random(400) < 0.3).astype(float)
    y[town == 0] = 0.0
    y[0] = 1.0
    data = pd.DataFrame({"town": town, "y": y})
    assert levels(released(data, groups=["town"]))["dominance"] == "warn"
    assert levels(released(data.assign(y=y * rng.lognormal(size=400)), groups=["town"]))["dominance"] == "stop"
    assert "dominance" not in levels(released(data, given="C(town)"))


@pytest.mark.parametrize(("rule", "column"), [("dominance", "amount"), ("explained-columns", "score")])
def test_zeros_and_ones_tell_cells_as_factors_do(rule: str, column: str) -> None:
    """A dummy that the user has made: its cell's total is kept as well."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"b": (np.arange(3000) < 12).astype(float), "x": rng.normal(size=3000)})
    frame["amount"] = rng.lognormal(4, 1, 3000)
    frame.loc[:11, "amount"] = [2000.0, 30.0, *np.linspace(1, 10, 10)]
    frame["score"] = np.where(frame["b"] == 1, 10.0, rng.uniform(0, 10, 3000).round(1))
    release = protect(frame, Roles(confidential=[column], given="b"), Ipso(), seed=Seed.for_tests(1))
    total = release.aligned().loc[:11, column].sum()
    if column == "amount":
        assert abs((total - 30.0) / 2000.0 - 1) < 0.1  # the second largest subtracts itself
    else:
        assert np.isclose(total, 120.0)  # all have the largest score
    assert rule in {finding.rule for finding in release.findings if finding.level == "stop"}
    free = protect(frame, Roles(confidential=[column], given="x"), Ipso(), seed=Seed.for_tests(1))
    assert rule not in {finding.rule for finding in free.findings}


def districts(told: str) -> tuple[pd.DataFrame, Any]:
    """Regions of three districts; those that are left over are called alike everywhere, and in region 0 one has it all
    (or all have the largest score)."""
    rng = np.random.default_rng(6)
    region = np.repeat(np.arange(4), 90)
    district = np.tile(np.repeat(np.arange(3), 30), 4)
    y = rng.uniform(50, 150, 360)
    ours = (region == 0) & (district == 2)
    y[ours] = 200.0 if told == "known" else [400.0, 100.0, *rng.uniform(0.1, 0.9, 28)]
    name = np.where(district == 2, "rest", [f"{r}.{d}" for r, d in zip(region, district, strict=True)])
    return pd.DataFrame({"region": region, "district": name, "y": y}), ours


@pytest.mark.parametrize("how", ["difference", "group", "chain"])
@pytest.mark.parametrize(("told", "rule"), [("dominated", "dominance"), ("known", "explained-columns")])
def test_what_is_left_of_a_region_is_a_cell_too(how: str, told: str, rule: str) -> None:
    """The total of the region less those of its other districts is that of the one left over.

    In a chain two factors cut the records at different places, and each difference gives the next.
    """
    data, ours = districts(told)
    if how == "chain":
        step = np.where(ours, 2, np.array([0, 1, 3, 4])[data["region"]])
        data = data.assign(region=(step + 1) // 2, district=step // 2)
    given = "C(district)" if how == "group" else "C(region) + C(district)"
    release = released(data, given=given, groups=["region"] if how == "group" else [])
    frame = release.frame
    if how == "group":
        total = frame.loc[(frame["region"] == 0) & (frame["district"] == "rest"), "y"].sum()
    elif how == "difference":
        region = frame["region"] == 0
        total = frame.loc[region, "y"].sum() - frame.loc[region & (frame["district"] != "rest"), "y"].sum()
    else:  # step 2 is region 1 less step 1, which is district 0 less region 0
        region, district = (frame.groupby(by)["y"].sum() for by in ("region", "district"))
        total = region[1] - (district[0] - region[0])
    if told == "dominated":
        assert abs(total - 100 - 400) < 0.1 * 400  # what the second largest learns
    else:
        assert np.isclose(total, 30 * data["y"].max())
    assert levels(release)[rule] == "stop"
    plain = data.assign(y=np.random.default_rng(7).uniform(50, 150, 360))
    assert rule not in levels(released(plain, given=given, groups=["region"] if how == "group" else []))
    if how == "difference":  # the remedy
        assert rule not in levels(released(data, given="C(region)"))


@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_one_group_without_spread_is_known(slope: float) -> None:
    """Thirty of four hundred earn by scale; what is kept of their group says that, and what."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame({"unit": [0] * 30 + [1] * 185 + [2] * 185, "age": rng.uniform(20, 60, 400)})
    data["y"] = rng.lognormal(5, 0.5, 400)
    plain = data.copy()
    data.loc[:29, "y"] = 150 + slope * data["age"][:30] + rng.normal(0, 0.5, 30)
    roles: dict[str, Any] = {"groups": ["unit"], "given": "age" if slope else ""}
    release = released(data, **roles)
    ours = release.aligned()[:30]
    X = np.column_stack([np.ones(30), ours["age"]]) if slope else np.ones((30, 1))
    fit = X @ np.linalg.lstsq(X, ours["y"].to_numpy())[0]
    assert np.std(ours["y"] - fit) < 1  # anyone sees that there is no spread
    assert (np.abs(fit / data["y"][:30] - 1) < 0.01).mean() > 0.9
    assert levels(release)["explained-columns"] == "stop"
    assert levels(released(plain, **roles)).get("explained-columns") is None
    joined = data.assign(unit=data["unit"].clip(1, None))
    assert levels(released(joined, **roles)).get("explained-columns") is None  # the remedy


def test_two_values_that_become_many_are_said_and_can_be_given_back() -> None:
    rng = np.random.default_rng(9)
    data = pd.DataFrame({"y": np.where(rng.random(400) < 0.5, 3.0, 0.0), "x": rng.normal(size=400)})
    release = released(data, given="x")
    assert release.frame["y"].nunique() > 2
    assert release.assessment.two_values == ("y",)
    (said,) = (finding for finding in release.findings if finding.rule == "domain")
    assert "y" in said.message
    assert protect(data, Roles(confidential=["y"], integer=["y"]), Ipso()).assessment.two_values == ()
    back = protect(data, Roles(confidential=["y"]), ["ipso", "reverse-map"])
    assert {*back.frame["y"]} == {0.0, 3.0}
    assert back.assessment.two_values == ()


def test_copies_at_a_leverage_of_one_name_its_remedy() -> None:
    data = firms(50.0).assign(region=[7] + [0, 1] * 149 + [0])
    release = released(data, given="C(region)")
    (said,) = (finding for finding in release.findings if finding.rule == "copies")
    assert "merge_below" in said.remedy
    assert "copies" not in levels(released(data, given="C(region)", merge_below=5))
