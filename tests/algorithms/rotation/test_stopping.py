"""When a walk ends, and what chance alone would link and correlate."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algorithms.rotation.likeness import Likeness
from suffice.algorithms.rotation.stopping import (
    DRAWN_GIVEN,
    FIRST,
    LEAVING,
    LITTLE,
    LONG,
    RISING,
    TURNED,
    Schedule,
    follows,
    turned,
)
from suffice.method.records import Records
from suffice.microdata import Ipso
from suffice.microdata.rotate import Rotate
from suffice.seed import Seed
from tests.algorithms.rotation.cases import skewed

STREAM = Seed.for_tests(1).derive("stopping")


def new(task: Records, seed: int) -> Array:
    """A release that carries nothing over."""
    return Ipso().solve(task.X, task.Y, np.random.default_rng(seed).normal(size=task.Y.shape))


def test_the_law_comes_to_count_fully() -> None:
    schedule = Schedule.of(True, None)
    weights = [schedule.weight(sweep) for sweep in range(1, LONG + 1)]
    assert weights[:LEAVING] == [LITTLE] * LEAVING
    assert (np.diff(weights) >= 0).all()
    assert weights[LEAVING + RISING - 1 :] == [1.0] * (LONG - LEAVING - RISING + 1)
    assert Schedule.of(False, None).before == Schedule.of(True, 1).before - 1 == 0
    assert 0 < 100 - Schedule.of(True, 100).before < 50  # a fixed number of sweeps has all parts too


def test_records_that_are_where_they_were_follow() -> None:
    task, rng = skewed(200, 3), np.random.default_rng(1)
    likeness = Likeness.of(task)
    assert follows(likeness, task.Y, rng)
    assert not follows(likeness, new(task, 1), rng)
    some = new(task, 2)
    some[:10] = task.Y[:10]  # of which no correlation tells
    assert likeness.canonical(some) <= likeness.null(rng)
    assert follows(likeness, some, rng)


def test_a_walk_that_follows_itself_goes_on_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([True, False])
    monkeypatch.setattr("suffice.microdata.rotate.follows", lambda *_: next(answers))
    walk = Rotate(shape="uniform").walk(skewed(30, 1), STREAM)
    assert walk.sweeps == 2 * FIRST
    assert walk.reason == "it no longer follows itself"
    monkeypatch.setattr("suffice.microdata.rotate.follows", lambda *_: True)
    short = Rotate(shape="uniform", most=700).walk(skewed(30, 1), STREAM)
    assert (short.sweeps, short.reason) == (700, "given up")


def test_with_columns_given_groups_of_few_cells_have_the_law_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.microdata.rotate.LONG", 40)
    monkeypatch.setattr("suffice.microdata.rotate.start", lambda *_: None)  # where no start can be drawn
    one, many = (Rotate().walk(skewed(30, k, given=1), STREAM) for k in (1, 4))
    assert (one.sweeps, one.before) == (40, 0)
    assert many.sweeps == many.before == 40
    monkeypatch.setattr("suffice.microdata.rotate.LARGE", 30)
    assert Rotate(shape="uniform").walk(skewed(30, 1, given=1), STREAM).sweeps == FIRST


def test_where_a_walk_ends_does_not_depend_on_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    """It compares itself with itself; the original is looked at when all is over."""
    seen: list[Array] = []

    def noted(likeness: Likeness, Y: Array, generator: np.random.Generator) -> bool:
        seen.append(likeness.values * likeness.sd)
        return False

    monkeypatch.setattr("suffice.microdata.rotate.follows", noted)
    task = skewed(30, 2)
    Rotate(shape="uniform").walk(task, STREAM)
    assert len(seen) == 1
    assert not np.isclose(np.sort(seen[0][:, 0]), np.sort(task.Y[:, 0])).all()


def test_without_given_columns_chance_links_one_record() -> None:
    for seed in range(5):
        assert Likeness.of(skewed(200, 3, seed=seed)).chance(np.random.default_rng(seed)) == 1


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_chance_links_what_new_residuals_link(noise: float) -> None:
    task = skewed(200, 2, given=2)
    Yhat, E = split(np.log(task.Y) * noise + 5 * task.X[:, 1:], task.X)
    task = Records(task.X, Yhat + E, Yhat + E)
    likeness = Likeness.of(task)
    linked = [likeness.linked(new(task, seed)) for seed in range(1000, 1100)]
    assert np.mean(linked) > 2  # the kept fit alone links some
    assert abs(np.mean(linked) - likeness.chance(np.random.default_rng(1))) < 0.5 + 5 * np.std(linked) / 30**0.5


def test_records_without_weight_link_no_one() -> None:
    task = skewed(100, 2)
    w = np.r_[np.zeros(40), np.ones(60)]
    likeness = Likeness.of(Records(task.X, task.Y, task.Y, w))
    assert likeness.linked(task.Y) == 60
    assert likeness.nu == 59


def test_drawn_records_with_given_columns_walk_until_they_have_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    task = skewed(200, 3, given=3)
    sizes, steps = Likeness.of(task).sizes, []

    def looked(root: Array, before: Array, after: Array) -> Array:
        steps.append(turned(root, before, after) / sizes)
        return turned(root, before, after)

    monkeypatch.setattr("suffice.microdata.rotate.turned", looked)
    walk = Rotate().walk(task, STREAM)
    path = np.median(np.cumsum(steps, axis=0), axis=1)
    assert walk.sweeps == len(steps) < DRAWN_GIVEN
    assert path[-2] < TURNED <= path[-1]
    assert Rotate(most=7).walk(task, STREAM).sweeps == 7


def test_a_walk_turns_by_the_squares_of_its_steps() -> None:
    before, root = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 1.0])
    assert turned(root, before, before + np.array([[0.0, 1.0], [3.0, 0.0], [0.0, 2.0]])).tolist() == [18.0, 2.5]
