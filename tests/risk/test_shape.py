"""Shapes before and after: silent for another sample of the same law, and not for another law."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Resize, Roles, Rotate, Seed, protect
from suffice.algebra.array import Array
from suffice.demo import firms
from suffice.method.method import Method
from suffice.release.release import Release
from suffice.risk.shape import ColumnShape

LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "Pareto": lambda rng, n: rng.pareto(2.5, n),
    "many zeros": lambda rng, n: rng.lognormal(size=n) * (rng.random(n) < 0.4),
    "few values": lambda rng, n: rng.poisson(2.0, n).astype(float),
}


def shape(y: Array, z: Array) -> ColumnShape:
    ends = sorted(np.abs(each - y.mean()).max() for each in (y, z))
    return ColumnShape.of(y, z, float(ends[1] / ends[0]))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [100, 1000])
def test_another_sample_is_silent(law: str, n: int) -> None:
    rng = np.random.default_rng(1)
    found = [shape(LAWS[law](rng, n), LAWS[law](rng, n)).lost for _ in range(40)]
    assert sum(map(bool, found)) <= 2


def test_another_law_is_seen_by_what_differs() -> None:
    rng = np.random.default_rng(2)
    y = rng.gamma(8.0, size=1000)
    y = (y - y.mean()) / y.std()
    giant = np.append(np.zeros(999), np.sqrt(1000.0))  # the same mean and variance, nearly: one has it all
    assert {*shape(y, giant).lost} == {"quantiles", "skewness", "kurtosis", "farthest value"}
    assert "skewness" in shape(y, -y).lost
    assert shape(y, y[::-1]).lost == ()


def skewed(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({"y": rng.lognormal(size=n), "z": rng.normal(size=n), "x": rng.normal(size=n)})


def released(method: Method, **more: object) -> Release:
    return protect(skewed(), Roles(confidential=["y", "z"], **more), method, Seed.for_tests(1))


def test_a_shape_is_judged_and_the_certificate_has_names_alone() -> None:
    release = released(Ipso())
    finding = next(each for each in release.findings if each.rule == "shape")
    assert finding.level == "note"
    assert finding.message.startswith("The shape of y is not the original's")
    assert "shape not kept: y" in release.certificate.notes
    told = str(release.certificate.as_dict())
    assert not any(str(value) in told for value in finding.numbers.values())


def test_what_stays_as_it_was_is_silent() -> None:
    release = released(Rotate(sweeps=1), bounds={"y": (0, None)})
    assert "shape" not in {each.rule for each in release.findings}
    assert "shape kept" in release.certificate.notes


def test_one_negative_value_leaves_a_column_free_and_it_is_said() -> None:
    frame = skewed().assign(x=1.0)
    frame.loc[0, "y"] = -0.01
    frame["w"] = np.abs(frame["z"])
    release = protect(
        frame, Roles(confidential=["y", "z", "w"], bounds="observed-sign"), Rotate(sweeps=20), Seed.for_tests(1)
    )
    negative = int((frame["z"] < 0).sum())
    said = f"observed-sign: at least 0 in w; free, since they have negative values: y (1), z ({negative})"
    assert said in release.certificate.private
    assert (release.frame["w"] >= 0).all()
    ipso = protect(frame, Roles(confidential=["y"]), Ipso(), Seed.for_tests(1))
    finding = next(each for each in ipso.findings if each.rule == "domain")
    assert f"y {(ipso.frame['y'] < 0).sum()} in place of 1" in finding.message


def test_signs_that_stay_about_as_many_are_silent() -> None:
    assert "domain" not in {each.rule for each in released(Ipso()).findings if "z" in each.message}


def test_records_that_are_drawn_anew_are_judged() -> None:
    """Normal records in place of normal ones have their shape; in place of money they have not."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": np.exp(1.2 * rng.normal(size=300)), "z": rng.normal(size=300)})
    release = protect(frame, Roles(confidential=["y", "z"]), Resize(250), seed=Seed.for_tests(1))
    assert {name: bool(each.lost) for name, each in release.assessment.shapes.items()} == {"y": True, "z": False}
    assert "shape not kept: y" in release.certificate.notes
    weighted = protect(frame.assign(w=1.5), Roles(confidential=["y", "z"], weight="w"), Resize(250))
    assert not weighted.assessment.shapes  # weighted shapes are not compared


def test_what_the_weights_go_by_is_named_where_shapes_are_lost() -> None:
    """Records are drawn whatever their weight: large firms count once and small ones ten times."""
    data = firms(600).to_pandas()

    def said(given: str) -> list[str]:
        roles = Roles(["turnover", "wages"], given=given, weight="weight", bounds="observed-sign")
        release = protect(data, roles, seed=Seed.for_tests(1))
        return [each.remedy for each in release.findings if each.rule == "shape"]

    assert ["what the weights go by" in each for each in said("C(region)")] == [True]
    assert said("C(region) + C(size)") == []
