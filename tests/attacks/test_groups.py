"""What a group's kept mean, total or covariance gives away where the group is small or one record is large."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, IpsoB, Release, Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.errors import GuardError
from suffice.method.method import Method
from tests.tolerances import ENGINE

OFF = dict.fromkeys(
    ("seed", "group-size", "dominance", "leverage", "degrees-of-freedom", "outliers", "copies", "explained-columns"),
    "an attack is tried",
)
"""The guards that can be switched off, switched off."""


def released(victims: Array, method: Method, given: str = "", key: int = 1) -> tuple[pd.DataFrame, Release]:
    """A file of 200 ordinary records and a group of victims."""
    rng = np.random.default_rng(3)
    n = 200 + len(victims)
    data = pd.DataFrame({"g": ["crowd"] * 200 + ["victims"] * len(victims), "x": rng.normal(size=n)})
    data["y"] = [*rng.gamma(2.0, 10.0, 200), *victims]
    roles = Roles(confidential=["y"], given=given, groups=["g"], keep=[] if given else ["x"])
    return data, protect(data, roles, method, seed=Seed.for_tests(key), accept=OFF)


def group(release: Release) -> pd.DataFrame:
    """The victims as anyone sees them."""
    frame: pd.DataFrame = release.frame[release.frame["g"] == "victims"]
    return frame


def stopped(release: Release, rule: str) -> list[str]:
    return [finding.level for finding in release.findings if finding.rule == rule]


@pytest.mark.parametrize("key", range(3))
def test_each_of_two_knows_the_other(key: int, tmp_path: Path) -> None:
    victims = np.array([31.7, 58.2])
    _, release = released(victims, IpsoB(), key=key)
    guess = 2 * group(release)["y"].mean() - victims[0]  # the first knows itself
    assert np.isclose(guess, victims[1], rtol=ENGINE)
    assert stopped(release, "group-size") == ["stop"]
    release.write(tmp_path / "accepted.csv")
    with pytest.raises(GuardError):
        protect(release.data, release.design.roles, IpsoB(), seed=Seed()).write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_of_five_none_knows_another() -> None:
    victims = np.array([31.7, 58.2, 12.0, 44.0, 27.3])
    _, release = released(victims, IpsoB())
    guess = 5 * group(release)["y"].mean() - victims[0]
    assert np.abs(guess - victims[1:]).min() > 20
    assert stopped(release, "group-size") == []


def test_the_second_largest_reads_the_largest_off_the_total() -> None:
    victims = np.array([900.0, 300.0, 11.0, 8.0, 20.0, 5.0])
    _, release = released(victims, IpsoB())
    guess = group(release)["y"].sum() - victims[1]
    assert abs(guess / victims[0] - 1) < 0.1
    assert stopped(release, "dominance") == ["stop"]
    _, fair = released(np.array([900.0, 700.0, 500.0, 450.0, 600.0, 300.0]), IpsoB())
    assert abs((group(fair)["y"].sum() - 700) / 900 - 1) > 1
    assert stopped(fair, "dominance") == []


def read_off(y: Array) -> tuple[float, float]:
    """Where the largest of n non-negative values must lie, from released values with the same mean and variance."""
    n, mean, sd, total, squares = len(y), y.mean(), y.std(), y.sum(), (y**2).sum()
    low = max(squares / total, mean + sd / np.sqrt(n - 1))
    if 2 * squares >= total**2:  # one of them has half of the total
        low = max(low, (total + np.sqrt(2 * squares - total**2)) / 2)
    return low, min(np.sqrt(squares), mean + sd * np.sqrt(n - 1))


@pytest.mark.parametrize(("n", "share", "within"), [(5, 0.98, 0.0003), (50, 0.9, 0.007)])
def test_mean_and_variance_give_the_one_giant(n: int, share: float, within: float) -> None:
    """The others are as different as they like; the giant has this share of the total."""
    others = np.random.default_rng(n).gamma(2.0, 1.0, n - 1)
    giant = others.sum() * share / (1 - share)
    _, release = released(np.array([giant, *others]), Ipso())
    low, high = read_off(group(release)["y"].to_numpy())
    assert np.abs(group(release)["y"] - giant).min() > 0.01 * giant  # nobody is released near it
    assert low * (1 - 1e-9) <= giant <= high * (1 + 1e-9)
    assert (high - low) / giant < within
    assert stopped(release, "dominance") == ["stop"]


@pytest.mark.parametrize("n", [5, 50])
def test_of_ordinary_groups_they_give_little(n: int) -> None:
    victims = np.random.default_rng(n).gamma(2.0, 10.0, n)
    _, release = released(victims, Ipso())
    low, high = read_off(group(release)["y"].to_numpy())
    assert high - low > 0.1 * victims.max()
    assert stopped(release, "dominance") == []


@pytest.mark.parametrize("key", range(3))
def test_with_one_degree_of_freedom_a_group_is_the_original_or_its_mirror_image(key: int, tmp_path: Path) -> None:
    data, release = released(np.array([31.7, 58.2, 12.0]), Ipso(), "x", key)
    ours = group(release).sort_values("x")
    truth = data[data["g"] == "victims"].sort_values("x")["y"].to_numpy()
    X = np.column_stack([np.ones(3), ours["x"]])
    fit = X @ np.linalg.lstsq(X, ours["y"].to_numpy())[0]
    candidates = [ours["y"].to_numpy(), 2 * fit - ours["y"].to_numpy()]
    assert min(np.abs(guess - truth).max() for guess in candidates) < ENGINE * truth.max()
    assert stopped(release, "degrees-of-freedom") == ["never"]
    with pytest.raises(GuardError, match="no override"):
        release.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_with_twelve_records_neither_is() -> None:
    data, release = released(np.random.default_rng(1).gamma(2.0, 10.0, 12), Ipso(), "x")
    ours = group(release).sort_values("x")
    truth = data[data["g"] == "victims"].sort_values("x")["y"].to_numpy()
    X = np.column_stack([np.ones(12), ours["x"]])
    fit = X @ np.linalg.lstsq(X, ours["y"].to_numpy())[0]
    candidates = [ours["y"].to_numpy(), 2 * fit - ours["y"].to_numpy()]
    assert min(np.abs(guess - truth).max() for guess in candidates) > 0.3 * truth.std()
    assert stopped(release, "degrees-of-freedom") == []


def test_a_group_column_that_makes_singletons_releases_them_as_they_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"g": [*["crowd"] * 60, "alone", "alone too"], "y": rng.gamma(2.0, 10.0, 62)})
    release = protect(data, Roles(confidential=["y"], groups=["g"]), Ipso(), seed=Seed.for_tests(1), accept=OFF)
    for name in ("alone", "alone too"):
        shown = release.frame.loc[release.frame["g"] == name, "y"].item()
        assert shown == data.loc[data["g"] == name, "y"].item()
    (finding,) = (each for each in release.findings if each.rule == "degrees-of-freedom")
    assert finding.level == "never"
    assert finding.message.startswith("2 groups of 3 by g")
    with pytest.raises(GuardError, match="no override") as told:
        release.write(tmp_path / "out.csv")
    assert "alone" not in str(told.value) + repr(release.findings) + repr(release)
