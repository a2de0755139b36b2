"""When a walk ends, and what chance alone would link and correlate."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algorithms.rotation.likeness import Likeness
from suffice.algorithms.rotation.stopping import PATIENCE, Course
from suffice.method.records import Records
from suffice.microdata import Ipso
from tests.algorithms.rotation.cases import skewed

STOPPED = "the canonical correlation has stopped falling"


def followed(values: list[float], null: float = 0.1) -> Course:
    course = Course(null, 1)
    for each in values:
        course.note(each)
    return course


def new(task: Records, seed: int) -> Array:
    """A release that carries nothing over."""
    return Ipso().solve(task.X, task.Y, np.random.default_rng(seed).normal(size=task.Y.shape))


def test_a_course_rests_when_it_no_longer_falls() -> None:
    falling, resting = (0.9 ** (1 / PATIENCE), 0.97 ** (1 / PATIENCE))  # 10 % and 3 % in the sweeps that are looked at
    assert followed([falling**i for i in range(PATIENCE + 100)]).rest is None
    course = [resting**i for i in range(PATIENCE + 100)]
    assert followed(course).rest == PATIENCE + 20
    assert followed(course[: PATIENCE + 19]).rest is None


def test_a_course_at_rest_ends_at_a_low_point_that_links_no_one() -> None:
    task = skewed(50, 2)
    likeness, unrelated = Likeness.of(task), np.roll(task.Y, 1, axis=0)
    level = [0.5 + 0.01 * (-1) ** i for i in range(PATIENCE + 20)]
    high, low = followed([*level, 0.5]), followed([*level, 0.48])
    assert high.reason(likeness, unrelated) is None
    assert low.reason(likeness, unrelated) == STOPPED
    assert low.reason(likeness, task.Y) is None  # every record is linked


def test_a_course_at_rest_does_not_wait_for_ever() -> None:
    task = skewed(50, 2)
    likeness, rest = Likeness.of(task), PATIENCE + 20
    assert followed([0.5] * (2 * rest - 1)).reason(likeness, task.Y) is None
    assert followed([0.5] * (2 * rest)).reason(likeness, task.Y) == STOPPED


def test_a_course_that_is_inside_its_null_goes_on_while_records_are_linked() -> None:
    task = skewed(50, 2)
    likeness, course = Likeness.of(task), followed([0.9, 0.4, 0.4], null=0.5)
    unrelated = np.roll(task.Y, 1, axis=0)
    assert course.reason(likeness, unrelated) is None  # twice the sweeps that brought it there
    course.note(0.4)
    assert course.reason(likeness, unrelated) == "the original is followed by chance only"
    assert course.reason(likeness, task.Y) is None


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
