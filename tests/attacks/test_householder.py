"""A reflection moves all records along one direction: whoever finds the direction has the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Householder, Ipso, Roles, ScoreCorrelation, Seed, protect
from suffice.errors import GuardError
from suffice.method.method import Method
from suffice.method.records import Records
from suffice.microdata.moment_householder import MomentHouseholder
from tests.attacks.victims import Array, confidential, linked, profile, public, roles, rules, unguarded

FOUND = 1e-8
"""A guess this near, in standard deviations, is the value."""


def families(n: int = 4000, seed: int = 0) -> pd.DataFrame:
    """The survey with one column of whole numbers: children."""
    frame = profile(n, 3, seed)
    return frame.assign(y0=np.random.default_rng(seed).poisson(1.5, n))


def undone(released: Array, direction: Array) -> Array:
    """A reflection is its own inverse."""
    u = direction / np.linalg.norm(direction)
    return np.asarray(released - 2 * np.outer(u, u @ released))


def off(guess: Array, truth: Array) -> float:
    """The largest error, in standard deviations."""
    return float((np.abs(guess - truth) / truth.std(axis=0)).max())


def by_rounding(released: pd.DataFrame) -> Array:
    """No knowledge but that children are counted."""
    y = released["y0"].to_numpy()
    return undone(confidential(released), y - np.rint(y))


@pytest.mark.parametrize("key", range(1, 6))
def test_one_column_of_whole_numbers_undoes_the_plain_reflection(key: int) -> None:
    frame = families()
    release = unguarded(frame, Householder(), key)
    rows = linked(release.frame, frame)
    assert off(confidential(rows), confidential(frame)) > 1e-3  # it did move
    assert off(by_rounding(rows), confidential(frame)) < FOUND
    assert "householder" in rules(release, "stop")


def test_the_attacker_sees_that_it_worked() -> None:
    """In the rows as they are released, shuffled and without any link: children are whole again."""
    shown = unguarded(families(), Householder()).frame
    y = by_rounding(shown)[:, 0]
    assert np.abs(y - np.rint(y)).max() < FOUND


def test_a_large_change_is_not_rounded_away_and_is_stopped_all_the_same() -> None:
    frame = families()
    release = unguarded(frame, Householder(change=0.6))
    assert off(by_rounding(linked(release.frame, frame)), confidential(frame)) > 0.5
    assert "householder" in rules(release, "stop")
    without = unguarded(frame.drop(columns="y0"), Householder(change=0.6))
    assert "householder" not in rules(without, "stop")
    assert {"canonical-correlation", "kept-scores"} & rules(without, "stop")  # see the next attack


@pytest.mark.parametrize("method", [Householder(), Householder(change=0.6), ScoreCorrelation(d=(1.0, 1.0, 0.3))])
def test_one_known_column_gives_the_whole_file(method: Method) -> None:
    """Tax returns have y2. A hybrid that keeps all scores but one is a reflection too."""
    frame = profile()
    release = unguarded(frame, method)
    rows = linked(release.frame, frame)
    known = frame["y2"].to_numpy() - rows["y2"].to_numpy()
    assert off(undone(confidential(rows), known), confidential(frame)) < FOUND
    assert release.assessment.direction.reflected
    assert "canonical-correlation" in rules(release, "stop") or "residual-correlation" in rules(release, "stop")


def test_one_known_column_gives_nothing_of_ipso() -> None:
    frame = profile()
    rows = linked(unguarded(frame, Ipso()).frame, frame)
    known = frame["y2"].to_numpy() - rows["y2"].to_numpy()
    assert off(undone(confidential(rows), known), confidential(frame)) > 0.5


def test_third_moments_do_not_help() -> None:
    frame = profile()
    X, Y = public(frame), confidential(frame)
    Ystar = MomentHouseholder(change=0.6).mask(Records(X, Y, Y), Seed.for_tests(1).derive("attack")).Ystar
    assert off(Ystar, Y) > 0.5
    assert off(undone(Ystar, Y[:, 2] - Ystar[:, 2]), Y) < FOUND


def common_direction(one: Array, two: Array, three: Array) -> Array:
    """The direction of the first of three releases: the one that its differences from both others share."""
    first, second = (np.linalg.svd(one - other, full_matrices=False)[0][:, :2] for other in (two, three))
    return np.asarray(first @ np.linalg.svd(first.T @ second)[0][:, 0])


@pytest.mark.parametrize("method", [Householder(), Householder(change=0.6)])
def test_three_releases_give_the_file_to_anyone(method: Method) -> None:
    frame = profile()
    releases = [confidential(linked(unguarded(frame, method, key).frame, frame)) for key in (1, 2, 3)]
    assert off(undone(releases[0], common_direction(*releases)), confidential(frame)) < FOUND


def test_three_ipso_releases_give_nothing() -> None:
    frame = profile()
    releases = [confidential(linked(unguarded(frame, Ipso(), key).frame, frame)) for key in (1, 2, 3)]
    assert off(undone(releases[0], common_direction(*releases)), confidential(frame)) > 0.5


def test_the_ledger_stops_the_second_release(tmp_path: Path) -> None:
    frame, key = profile(), Seed.new_file(tmp_path / "key")
    why = {"canonical-correlation": "an attack is tried", "kept-scores": "an attack is tried"}
    first = protect(frame, roles(frame), Householder(change=0.6), seed=key, accept=why)
    assert not rules(first, "stop") - set(why)
    first.write(tmp_path / "first.csv")
    second = protect(frame, roles(frame), Householder(change=0.65), seed=key, accept=why)
    assert {"householder", "repeated-release"} <= rules(second, "stop")
    with pytest.raises(GuardError, match="householder") as caught:
        second.write(tmp_path / "second.csv")
    assert caught.value.exit_code == 4
    assert not (tmp_path / "second.csv").exists()


def test_a_release_after_ipso_is_a_first_one(tmp_path: Path) -> None:
    frame, key = profile(), Seed.new_file(tmp_path / "key")
    protect(frame, roles(frame), Ipso(), seed=key).write(tmp_path / "ipso.csv")
    assert "householder" not in rules(protect(frame, roles(frame), Householder(change=0.6), seed=key), "stop")


def test_in_groups_the_direction_of_each_group_is_found() -> None:
    """Theorem 2: one direction a domain, and each falls to whole numbers by itself."""
    frame = families(6000).assign(region=np.repeat(["a", "b"], 3000))
    request = Roles(confidential=["y0", "y1", "y2"], given="x", groups=["region"])
    release = protect(frame, request, Householder(), seed=Seed.for_tests(1))
    assert "householder" in rules(release, "stop")
    rows = frame[["x"]].merge(release.frame, on="x", how="left", validate="one_to_one")
    for region in ("a", "b"):
        here = (frame["region"] == region).to_numpy()
        assert off(by_rounding(rows[here]), confidential(frame[here])) < FOUND
