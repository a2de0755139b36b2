"""Whole numbers in every record, and totals that are the same integers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from suffice import Certificate, Ipso, Mixture, Roles, Seed, protect, verify
from suffice.statistics.statistic import Claim

ROLES = Roles(confidential=["y", "z"], given="x", integer=["y"])


def frame(n: int = 300, scale: float = 100.0) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    counts = np.rint(scale * np.exp(rng.normal(size=n)))
    return pd.DataFrame({"x": rng.normal(size=n), "g": np.arange(n) % 3, "y": counts, "z": rng.normal(size=n)})


def whole(certificate: Certificate) -> list[Claim]:
    return [claim for claim in certificate.claims if claim.statistic == "whole"]


def test_totals_of_file_and_groups_are_the_same_integers() -> None:
    data, roles = frame(), replace(ROLES, groups=["g"])
    release = protect(data, roles, Ipso(), seed=Seed.for_tests(1))
    assert release.frame["y"].sum() == data["y"].sum()
    overall, within = whole(release.certificate)
    assert overall.said == "whole numbers in every record of y; their totals, as integers"
    assert within.said.endswith("in each of 3 groups by g")
    assert all(claim.holds and claim.told == (0.0, 0.0) for claim in (overall, within))
    assert release.certificate.holds
    assert str(int(data["y"].sum())) not in release.certificate.to_json() + release.certificate.text()


@pytest.mark.parametrize("changes", [{0: 1.0}, {0: 0.5, 1: -0.5}, {0: 1.0, 1: -1.0}])
def test_a_unit_more_and_half_a_unit_are_seen(changes: dict[int, float]) -> None:
    data, roles = frame(), replace(ROLES, groups=["g"])
    released = protect(data, roles, Ipso(), seed=Seed.for_tests(1)).frame.sort_values("g", ignore_index=True)
    released = released.iloc[np.argsort(released.groupby("g").cumcount(), kind="stable")].reset_index(drop=True)
    for row, by in changes.items():  # of different groups: the total of the file may stay
        released.loc[row, "y"] += by
    found = verify(data, released, roles)
    assert not found.holds
    assert not whole(found.certificate)[1].holds
    assert whole(found.certificate)[0].holds is (changes == {0: 1.0, 1: -1.0})


def test_totals_are_not_promised_where_plain_means_are_not_kept() -> None:
    data = frame().assign(w=np.linspace(1, 2, 300))
    for roles, method in ((replace(ROLES, weight="w"), Ipso()), (ROLES, Mixture(0.5))):
        [claim] = whole(protect(data, roles, method, seed=Seed.for_tests(1)).certificate)
        assert claim.said == "whole numbers in every record of y"
        assert claim.holds


def test_totals_beyond_the_digits_of_floats_are_kept_to_52_bits() -> None:
    data = frame(2000, 1e13)
    release = protect(data, ROLES, Ipso(), seed=Seed.for_tests(1))
    [claim] = whole(release.certificate)
    assert claim.said.endswith("their totals, to 52 bits")
    assert claim.holds
    gap = abs(sum(map(int, release.frame["y"])) - sum(map(int, data["y"])))
    assert gap <= sum(map(int, data["y"])) // 2**52
    assert json.loads(release.certificate.to_json())["holds"]
