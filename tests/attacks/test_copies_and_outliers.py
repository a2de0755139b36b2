"""Records that leave as they are, and giants that leave nearly so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Noise, ResidualCorrelation, Roles, ScoreCorrelation, Seed, Shuffle, protect
from suffice.method.method import Method
from suffice.risk.copies import copied
from tests.attacks.victims import profile, rules, unguarded


def firms(n: int = 1000) -> pd.DataFrame:
    """Log-normal money, hardly explained by anything public."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    Y = np.exp(2 * rng.normal(size=(n, 2)) + 0.1 * x[:, None])
    return pd.DataFrame({"x": x, "y0": Y[:, 0], "y1": Y[:, 1]})


def test_copies_are_found_by_looking_them_up() -> None:
    frame = profile(n=100, k=2)
    release = unguarded(frame, ScoreCorrelation(d=1.0))
    found = frame.round(9).merge(release.frame.round(9), on=["y0", "y1"])
    assert len(found) == 100
    assert release.assessment.copies == 100
    assert {"copies", "kept-scores", "residual-correlation"} <= rules(release, "stop")


def test_no_copies_where_values_change() -> None:
    assert unguarded(profile(n=100, k=2), ResidualCorrelation(d=0.9)).assessment.copies == 0


def test_tiny_values_that_change_are_no_copies() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": np.exp(rng.normal(0, 6, size=(300, 2)).sum(axis=1))})  # most far below 1e-6 sd
    release = protect(frame, Roles(confidential=["y"]), Noise("multiplicative", 1.0), seed=Seed.for_tests(1))
    assert (np.abs(release.aligned()["y"] - frame["y"]) < 1e-6 * frame["y"].std()).mean() > 0.1
    assert "copies" not in rules(release)
    assert copied(frame.to_numpy(), frame.to_numpy() * (1 + 1e-8)) == 1


def test_giants_show_through_a_high_correlation() -> None:
    """Without any knowledge: the largest released value is the largest firm's, within 10 %."""
    frame = firms()
    release = unguarded(frame, ResidualCorrelation(d=0.95))
    assert abs(release.frame["y0"].max() / frame["y0"].max() - 1) < 0.1
    assert release.frame["x"][release.frame["y0"].idxmax()] == frame["x"][frame["y0"].idxmax()]
    assert all(each.excess > 0.2 for each in release.assessment.closeness.outliers.values())
    assert "outliers" in rules(release, "stop")


def test_ipso_hides_the_giants_and_says_that_money_turns_negative() -> None:
    frame = firms()
    release = unguarded(frame, Ipso())
    assert abs(release.frame["y0"].max() / frame["y0"].max() - 1) > 0.5
    cells = release.assessment.closeness.outliers.values()
    assert sum(each.of for each in cells) > 10
    assert sum(each.found for each in cells) == 0
    assert rules(release, "warn", "stop") == {"seed", "domain"}
    assert release.assessment.negatives["y0"] == (release.frame["y0"] < 0).sum()


@pytest.mark.parametrize(("method", "stopped"), [(Shuffle(), False), (ScoreCorrelation(d=1.0), True)])
def test_values_dealt_in_small_groups_are_copies_where_they_follow_their_record(method: Method, stopped: bool) -> None:
    """In groups of eight every third row of a shuffle is somebody's; its own record's no more often than others'."""
    rng = np.random.default_rng(6)
    Y = np.exp(rng.normal(size=(160, 1)) + 0.3 * rng.normal(size=(160, 2)))
    frame = pd.DataFrame({"a": Y[:, 0], "b": Y[:, 1], "group": np.repeat([f"g{i}" for i in range(20)], 8)})
    release = protect(frame, Roles(confidential=["a", "b"], groups=["group"]), method, seed=Seed.for_tests(2))
    Ystar = release.aligned()[["a", "b"]].to_numpy()
    whose = [np.flatnonzero(np.isclose(row, Y, rtol=1e-9).all(axis=1)) for row in Ystar]
    own = sum(i in each for i, each in enumerate(whose))
    others = sum(len(each) for each in whose) - own
    assert (own > 2 * others / 7 + 4) is stopped
    assert ("copies" in rules(release, "stop")) is stopped
    assert others / 7 / 2 <= release.assessment.copies_by_chance <= 2 * others / 7
