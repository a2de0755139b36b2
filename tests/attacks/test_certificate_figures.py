"""The public certificate: two figures of a claim, with all their digits, give the largest value of a column."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Release, Roles, Seed, protect, verify
from suffice.algebra.array import EPS
from suffice.report import public
from suffice.statistics.statistic import BOUND, Claim, at_most

KEYS = range(6)


def incomes(key: int, n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(key)
    return pd.DataFrame({"x": rng.normal(size=n), "y": np.rint(np.exp(rng.normal(8, 1.2, n)))})


def released(data: pd.DataFrame, key: int, **more: object) -> Release:
    return protect(data, Roles(confidential=["y"], given="x", **more), Ipso(), seed=Seed.for_tests(key))


def recovered(certificate: dict, data: pd.DataFrame) -> list[float]:
    """max|y| = sd error / (ratio eps), with the sd of the release, which is that of the original."""
    figures = [(claim["error"], claim["ratio"]) for claim in certificate["claims"] if claim["statistic"] == "mean"]
    return [float(data["y"].std(ddof=0) * error / (ratio * EPS)) for error, ratio in figures if error and ratio]


def all_digits(claim: Claim) -> tuple[float, float]:
    return claim.error, claim.ratio


def nearest(guesses: list[float], truth: float) -> float:
    return min((abs(guess / truth - 1) for guess in guesses), default=1.0)


def test_with_all_digits_the_largest_value_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Claim, "told", property(all_digits))
    found = []
    for key in KEYS:
        data = incomes(key)
        release = released(data, key)
        certificate = json.loads(release.certificate.to_json())
        found.append(nearest(recovered(certificate, release.frame), data["y"].max()))
    assert sum(gap < 1e-9 for gap in found) >= 5  # all but those whose mean is kept to the last bit


def test_what_is_told_is_the_same_whatever_the_largest_value_is(tmp_path: Path) -> None:
    """Certificates of files whose largest values differ by a factor of 30 have the same figures."""
    figures = set()
    for key in KEYS:
        data = incomes(key)
        data.loc[0, "y"] = np.rint(data["y"].max() * 5 ** (key / 3))
        release = released(data, key)
        shown = [release.certificate.to_json(), verify(data, release.frame, release.design.roles).to_json()]
        for text in shown:
            document = json.loads(text)
            claims = document.get("certificate", document)["claims"]
            figures |= {(claim["error"], claim["ratio"]) for claim in claims}
        assert nearest(recovered(json.loads(shown[0]), release.frame), data["y"].max()) > 1
    assert figures <= {(1e-12, BOUND), (0.0, 0.0)}


def test_in_groups_neither_the_figures_nor_the_worst_group_is_told() -> None:
    data = incomes(1).assign(g=np.arange(400) % 8)
    certificate = released(data, 1, groups=["g"]).certificate
    claims = json.loads(certificate.to_json())["claims"]
    assert {claim.group for claim in certificate.claims} != {0}
    assert {(claim["where"], claim["group"]) for claim in claims} == {("", 0)}


def test_no_form_has_a_figure_of_more_than_one_digit() -> None:
    certificate = released(incomes(2), 2).certificate
    shown = [certificate.text(), certificate.to_json(), repr(certificate), public.page(certificate)]
    for claim in certificate.claims:
        for figure in (claim.error, claim.ratio):
            for digits in (repr(figure), f"{figure:.1e}", f"{figure:.2g}", f"{figure:.2e}"):
                assert figure == 0 or not any(digits in text for text in shown)


@pytest.mark.parametrize("error", [0.0, 1e-16, 1e-12, 1.01e-12, 9.9e-7, 0.5, 0.51, 0.99, 3.0, 1e5])
def test_what_is_told_bounds_the_error_and_has_one_digit(error: float) -> None:
    told = at_most(error)
    assert error <= told <= max(2.001 * error, 1e-12)
    assert told == float(f"{told:.0e}")
