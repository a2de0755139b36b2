"""Draws near their records tell who was there, and where a column ends; ranks that are mapped tell all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Bootstrap, Distort, LatinHypercube, Roles, protect
from suffice.errors import GuardError
from suffice.method.synthetic import Synthetic
from suffice.risk.membership import membership

NAMES = list("abcde")


def money(n: int = 300, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(np.exp(0.7 * rng.normal(size=(n, 5)) + 0.5 * rng.normal(size=(n, 1))), columns=NAMES)


def told(release: pd.DataFrame) -> float:
    """Of the persons of the file and as many others, how well the attacker tells the first."""
    return membership(money().to_numpy(), money(seed=2).to_numpy(), release[NAMES].to_numpy()).auc


def test_a_small_bandwidth_tells_who_was_there(tmp_path: Path) -> None:
    roles = Roles(confidential=NAMES)
    near, wide = (protect(money(), roles, Bootstrap(h=h)) for h in (0.05, 1.0))
    assert told(near.frame) > 0.7
    assert told(wide.frame) < 0.55
    assert {f.rule: f.level for f in near.findings}["membership"] == "stop"
    with pytest.raises(GuardError, match="membership"):
        near.write(tmp_path / "out.csv")
    assert "membership" not in {f.rule for f in wide.findings}
    wide.write(tmp_path / "out.csv")


def test_the_largest_value_is_reproduced() -> None:
    """The giant's value is read off the release within 5 % of the range; with a wide kernel it is not."""
    frame = money()
    frame.loc[0] = 3 * frame.max()
    near, wide = (protect(frame, Roles(confidential=NAMES), Bootstrap(h=h)) for h in (0.02, 1.0))
    gap = [np.abs(each.frame[NAMES].max() / frame.max() - 1).to_numpy() for each in (near, wide)]
    assert (
        np.median(gap[0]) < 0.1 or near.frame[NAMES].max().max() < frame.max().max() / 2
    )  # drawn, or not drawn at all
    assert "extremes" in {f.rule for f in near.findings}
    assert "extremes" not in {f.rule for f in wide.findings}


def test_ranks_that_are_mapped_tell_every_record(tmp_path: Path) -> None:
    frame, roles = money(), Roles(confidential=NAMES)
    release = protect(frame, roles, Distort(order="rank", families=("lognormal",)))
    ranks, own = (each[NAMES].rank().to_numpy() for each in (release.aligned(), frame))
    linked = np.mean([np.abs(ranks - each).sum(axis=1).argmin() == i for i, each in enumerate(own)])
    assert linked == 1.0
    assert {f.rule: f.level for f in release.findings}["rank-linkage"] == "stop"
    with pytest.raises(GuardError):
        release.write(tmp_path / "out.csv")
    free = protect(frame, roles, Distort(families=("lognormal",)))
    free.write(tmp_path / "free.csv")


def test_strata_tell_nobody() -> None:
    release = protect(money(), Roles(confidential=NAMES), LatinHypercube())
    assert abs(told(release.frame) - 0.5) < 0.06
    assert "membership" not in {f.rule for f in release.findings}


def bends(column: np.ndarray, drawn: np.ndarray) -> float:
    """Where n values stand among many draws is known: the share found within a twentieth of the next one's distance."""
    y, n = np.sort(column), len(column)
    found = np.interp((np.arange(n) * len(drawn) / (n - 1)), np.arange(len(drawn)) + 0.5, np.sort(drawn))
    return float((np.abs(found - y)[1:-1] < 0.05 * np.minimum(y[1:-1] - y[:-2], y[2:] - y[1:-1])).mean())


def test_more_records_tell_no_more_of_a_column() -> None:
    column, rng = money()[["a"]], np.random.default_rng(1)
    y = np.sort(column["a"].to_numpy())
    plain = np.interp((np.arange(60_000) + rng.random(60_000)) / 60_000 * 299, np.arange(300), y)
    assert bends(y, plain) > 0.9
    made = protect(column, Roles(confidential=["a"]), LatinHypercube(m=60_000))
    assert bends(y, made.frame["a"].to_numpy()) < 0.3


@pytest.mark.parametrize("families", [("uniform",), ("normal",)])
def test_the_end_of_a_column_is_no_end_of_its_draws(families: tuple[str, ...]) -> None:
    """Drawn between the values themselves, the largest of many draws is the largest value."""
    rng = np.random.default_rng(2)
    column = pd.DataFrame({"a": np.append(93.7 * rng.random(300), [0.0, 93.7])})
    assert abs(rng.uniform(0, 93.7, 20_000).max() - 93.7) < 0.1
    made = protect(column, Roles(confidential=["a"]), Distort(families=families, m=20_000, level=0.2)).frame
    assert abs(made["a"].max() - 93.7) > 3


@pytest.mark.parametrize("method", [Bootstrap(h=1.0), LatinHypercube()])
def test_a_lone_giant_is_read_off_draws_that_stay_near(method: Bootstrap | LatinHypercube) -> None:
    """One column: no record is told by its neighbours, and the largest firm is known to be in the file."""
    frame = money()[["a", "b"]]
    frame.loc[0, "a"] = 10 * frame["a"].max()
    giant, roles, rng = frame["a"].max(), Roles(confidential=["a", "b"]), np.random.default_rng(1)
    drawn = [np.abs(rng.choice(frame["a"], 300) / giant - 1).min() < 0.05 for _ in range(100)]
    assert 0.5 < np.mean(drawn) < 0.75  # whoever draws with replacement
    near = protect(frame, roles, Bootstrap(h=0.05))
    assert {f.rule: f.level for f in near.findings}["giants"] == "stop"
    assert near.assessment.held_out.giants["a"] > 0.5
    healed = protect(frame, roles, method)
    assert "giants" not in {f.rule for f in healed.findings}
    assert np.abs(healed.frame["a"] / giant - 1).min() > 0.01


@pytest.mark.parametrize("method", [Bootstrap(h=1.0), LatinHypercube(), Distort()])
def test_what_is_drawn_from_one_record_is_its_own(method: Synthetic, tmp_path: Path) -> None:
    """A group of one: its value leaves, whatever draws; with the group joined to another it does not."""
    frame = money()[["a"]].assign(g=["big"] * 299 + ["lone"])
    lone, roles = frame["a"].iloc[-1], Roles(confidential=["a"], groups=["g"])
    release = protect(frame, roles, method)
    assert np.isclose(release.frame["a"], lone).any()
    assert {f.rule: f.level for f in release.findings}["group-size"] == "stop"
    with pytest.raises(GuardError, match="group-size"):
        release.write(tmp_path / "out.csv")
    joined = protect(frame.assign(g=["big"] * 200 + ["other"] * 100), roles, method)
    assert not np.isclose(joined.frame["a"], lone).any()
    assert "group-size" not in {f.rule for f in joined.findings}


@pytest.mark.parametrize(("m", "stops"), [(200, True), (50, False), (2000, None)])
def test_one_column_in_strata_tells_who_was_there(m: int, stops: bool | None) -> None:
    """Between two neighbours stands one draw: members are never far from one. The guard judges as many as leave."""
    rng = np.random.default_rng(6)
    one, two = (pd.DataFrame({"a": np.exp(rng.normal(size=200))}) for _ in range(2))
    release = protect(one, Roles(confidential=["a"]), LatinHypercube(m=m))
    auc = membership(one.to_numpy(), two.to_numpy(), release.frame.to_numpy()).auc
    assert abs(release.assessment.held_out.auc - auc) < 0.07
    assert (auc > 0.62) or not stops
    assert stops in (None, "membership" in {f.rule for f in release.findings if f.blocks})
