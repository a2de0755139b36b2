"""Groups of few records whose means are kept: at, below and above the thresholds, and where others judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Fitted, Ipso, IpsoB, Microaggregate, Roles, Seed, protect
from suffice.guards.group_size import group_size
from suffice.method.method import Method
from suffice.risk.group_summary import GroupSummary
from tests.guards.assessments import changed
from tests.guards.test_thresholds import level

MEANS = ("mean", "fit")


@pytest.mark.parametrize(
    ("smallest", "small", "expected"),
    [(1, (1, 4), "stop"), (2, (1, 4), "stop"), (3, (0, 4), "warn"), (4, (0, 1), "warn"), (5, (0, 0), None)],
)
def test_the_ladder(smallest: int, small: tuple[int, int], expected: str | None) -> None:
    kept = GroupSummary("region", MEANS, 12, smallest, small)
    assert level("group-size", kept=(kept,)) == expected
    with_covariance = GroupSummary("region", (*MEANS, "covariance"), 12, smallest, small, nu=50)
    assert level("group-size", kept=(with_covariance,)) is None  # degrees of freedom are judged


def test_one_finding_with_counts_for_the_worst_level() -> None:
    levels = [
        GroupSummary("region", MEANS, 12, 4, (0, 2)),
        GroupSummary("cluster", MEANS, 30, 2, (3, 9)),
        GroupSummary("size", MEANS, 3, 99),
    ]
    finding = group_size(changed(kept=tuple(levels)))
    assert finding is not None
    assert finding.message.startswith("3 groups of 30 by cluster with fewer than 3 records, the smallest 2")
    assert finding.numbers == {"smallest": 2, "groups": 3, "by": "cluster"}


@pytest.mark.parametrize("method", [IpsoB(), Fitted()], ids=lambda method: method.name)
@pytest.mark.parametrize(("size", "expected"), [(2, "stop"), (3, "warn"), (4, "warn"), (5, None)])
def test_on_real_releases(method: Method, size: int, expected: str | None) -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"g": ["a"] * 40 + ["b"] * size, "y": rng.gamma(2.0, 1.0, 40 + size) + 1})
    release = protect(data, Roles(confidential=["y"], groups=["g"]), method, seed=Seed.for_tests(1))
    assert [f.level for f in release.findings if f.rule == "group-size"] == [expected] * (expected is not None)


def test_groups_that_keep_a_covariance_and_clusters_of_three() -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"g": rng.choice(["a", "b"], 300), "y": rng.gamma(2.0, 1.0, 300), "z": rng.normal(size=300)})
    roles = Roles(confidential=["y", "z"], groups=["g"])
    for method, expected in ((Ipso(), set()), (Microaggregate(k=5), set()), (Microaggregate(k=3), {"warn"})):
        release = protect(data, roles, method, seed=Seed.for_tests(1))
        assert {f.level for f in release.findings if f.rule == "group-size"} == expected
