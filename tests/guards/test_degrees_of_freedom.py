"""Degrees of freedom where a covariance is kept in groups: at, below and above the thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, IpsoB, Roles, Seed, protect
from suffice.guards.degrees_of_freedom import degrees_of_freedom
from suffice.risk.group_summary import GroupSummary
from tests.guards.assessments import changed
from tests.guards.test_thresholds import level

ALL = ("mean", "covariance", "fit")
KEPT = GroupSummary("region", ALL, 12, 7, nu=5, thin=(1, 2, 3), residual_rank=2)


@pytest.mark.parametrize(
    ("nu", "rank", "expected"),
    [
        (0, 2, "never"),
        (1, 2, "never"),
        (2, 2, "stop"),
        (4, 2, "stop"),
        (5, 2, "warn"),
        (9, 2, "warn"),
        (10, 2, None),
        (13, 13, "warn"),
        (14, 13, None),
    ],
)
def test_the_ladder_in_groups(nu: int, rank: int, expected: str | None) -> None:
    kept = replace(KEPT, nu=nu, residual_rank=rank)
    assert level("degrees-of-freedom", kept=(kept,)) == expected
    assert level("degrees-of-freedom", kept=(replace(kept, nu=None),)) is None  # no covariance


@pytest.mark.parametrize(("nu", "groups"), [(1, 1), (4, 2), (9, 3)])
def test_groups_are_counted_by_level(nu: int, groups: int) -> None:
    finding = degrees_of_freedom(changed(kept=(replace(KEPT, nu=nu), replace(KEPT, name="size", nu=20))))
    assert finding is not None
    assert f"{groups} group{'s' if groups > 1 else ''} of 12 by region" in finding.message
    assert finding.numbers["groups"] == groups


def test_the_whole_file_is_judged_where_groups_are_fine() -> None:
    assert level("degrees-of-freedom", n=7, kept=(replace(KEPT, nu=20),)) == "stop"


@pytest.mark.parametrize(
    ("size", "expected"), [(3, "never"), (4, "stop"), (6, "stop"), (7, "warn"), (11, "warn"), (12, None)]
)
def test_the_ladder_on_real_releases(size: int, expected: str | None) -> None:
    """Two columns of X in every group: nu = n - 2."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"g": ["a"] * 40 + ["b"] * size, "x": rng.normal(size=40 + size)})
    data["y"] = 20 + data["x"] + rng.normal(size=40 + size)
    roles = Roles(confidential=["y"], given="x", groups=["g"])
    found = protect(data, roles, Ipso(), seed=Seed.for_tests(1)).findings
    assert [f.level for f in found if f.rule == "degrees-of-freedom"] == [expected] * (expected is not None)
    found = protect(data, roles, IpsoB(), seed=Seed.for_tests(1)).findings
    assert not any(f.rule == "degrees-of-freedom" for f in found)
