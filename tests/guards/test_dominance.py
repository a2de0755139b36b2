"""Totals, means and variances of groups that are nearly one record's: at, below and above the thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, IpsoB, Mixture, Roles, Seed, protect
from suffice.demo import firms
from suffice.guards.dominance import dominance
from suffice.method.method import Method
from suffice.risk.group_summary import GroupSummary
from tests.guards.assessments import changed
from tests.guards.test_thresholds import level
from tests.places import SHARED, needs_shared

ALL = ("mean", "covariance", "fit")


@pytest.mark.parametrize(
    ("dominated", "narrow", "expected"), [(0, 0, None), (1, 0, "stop"), (0, 1, "stop"), (5, 3, "stop")]
)
def test_one_group_is_enough(dominated: int, narrow: int, expected: str | None) -> None:
    kept = GroupSummary("region", ALL, 12, 30, nu=20, dominated=dominated, narrow=narrow)
    assert level("dominance", kept=(kept,)) == expected
    if expected:
        finding = dominance(changed(kept=(kept, GroupSummary("size", ALL, 3, 99))))
        assert finding is not None
        assert finding.numbers == {"groups": max(dominated, narrow), "of": 12, "by": "region"}
        assert ("mean and variance" in finding.message) == (narrow > dominated)


def judged(giant: float, method: Method | None = None, rest: tuple[float, ...] = (80.0, 10.0, 10.0)) -> list[str]:
    """The finding where one of two groups holds the giant and these others."""
    rng = np.random.default_rng(1)
    own = [giant, *rest]
    data = pd.DataFrame({"g": ["a"] * 40 + ["secret"] * len(own), "y": [*rng.uniform(5, 15, 40), *own]})
    release = protect(data, Roles(confidential=["y"], groups=["g"]), method or IpsoB(), seed=Seed.for_tests(1))
    found = [f for f in release.findings if f.rule == "dominance"]
    assert "secret" not in repr(found)
    return [f.level for f in found]


def test_two_of_ninety_percent_on_real_releases() -> None:
    assert judged(100.0) == []  # 180 of 200
    assert judged(100.1) == ["stop"]
    assert judged(100.1, Mixture(0.5)) == []  # nothing is kept in groups


@pytest.mark.parametrize("n", [5, 50])
def test_the_variance_gives_away_what_the_total_does_not(n: int) -> None:
    """The giant has less than nine tenths of the total, and mean and variance tell it to a tenth."""
    rest = tuple(np.linspace(0.8, 1.2, n - 1))
    giant = 4.0 * n
    assert judged(giant, IpsoB(), rest) == []
    assert judged(giant, Ipso(), rest) == ["stop"]
    assert judged(3.0, Ipso(), tuple(np.linspace(0.5, 2.0, n - 1))) == []


def ordinary() -> dict[str, tuple[Any, Roles]]:
    money = ["turnover", "wages", "taxes", "other_costs", "total_costs"]
    regions = Roles(confidential=money, given="log(employees)", groups=["region"], weight="weight")
    return {"firms by region": (firms(), regions)}


@pytest.mark.parametrize("name", ordinary())
def test_ordinary_groups_can_be_released(name: str) -> None:
    release = protect(*ordinary()[name], Ipso(), seed=Seed.for_tests(1))
    assert {f.rule for f in release.findings if f.level in ("stop", "never")} == {"seed"}


HOUSE = {"confidential": ["expend", "income", "savings"], "given": "age", "weight": "household_weights"}


@needs_shared
@pytest.mark.parametrize(
    ("file", "request_"),
    [
        ("testdata", {**HOUSE, "groups": ["urbrur", "sex"]}),
        ("testdata", {**HOUSE, "groups": ["roof"]}),
        ("testdata", {**HOUSE, "groups": ["hhcivil"]}),
        ("CASCrefmicrodata", {"groups": ["part"], "parts": 20, "confidential": ["AGI", "FEDTAX", "PTOTVAL"]}),
        ("Tarragona", {"groups": ["part"], "parts": 3}),
        ("Tarragona", {"groups": ["part"], "parts": 20}),
        ("EIA", {"groups": ["STATE"], "confidential": ["RESREVENUE", "COMREVENUE", "INDREVENUE"]}),
    ],
    ids=str,
)
def test_the_field_s_own_files_can_be_released_by_groups(file: str, request_: dict[str, Any]) -> None:
    """Parts: equal numbers of records by the first column, as size classes are."""
    assert SHARED is not None
    data = pd.read_csv(SHARED / "data" / f"{file}.csv")
    data.columns = data.columns.str.replace(".", "_")
    request = {"confidential": list(data)[1:], **request_}  # parts tell the column that they are made of
    data["part"] = pd.qcut(data[data.columns[0]].rank(method="first"), request.pop("parts", 2), labels=False)
    release = protect(data, Roles(**request), Ipso(), seed=Seed.for_tests(1))
    assert release.certificate.holds
    assert {f.rule for f in release.findings if f.level in ("stop", "never")} == {"seed"}


@needs_shared
def test_groups_of_eighteen_persons_where_one_has_all_of_an_income_are_stopped() -> None:
    assert SHARED is not None
    data = pd.read_csv(SHARED / "data" / "CASCrefmicrodata.csv")
    data["part"] = pd.qcut(data["AFNLWGT"].rank(method="first"), 60, labels=False)
    roles = Roles(confidential=[name for name in data if name != "part"], groups=["part"])
    release = protect(data, roles, Ipso(), seed=Seed.for_tests(1))
    (finding,) = (each for each in release.findings if each.rule == "dominance")
    assert "3 groups of 60 by part whose mean and variance gives the largest record away" in finding.message


@needs_shared
def test_small_states_by_month_are_stopped() -> None:
    """A state with two utilities, and states with one giant."""
    assert SHARED is not None
    data = pd.read_csv(SHARED / "data" / "EIA.csv")
    roles = Roles(confidential=["RESREVENUE", "COMREVENUE"], groups=["STATE", "MONTH"])
    release = protect(data, roles, Ipso(), seed=Seed.for_tests(1))
    found = {f.rule: f for f in release.findings if f.level in ("stop", "never")}
    assert {"dominance", "degrees-of-freedom", "leverage"} <= set(found)
    assert "of 612 by STATE and MONTH" in found["dominance"].message
