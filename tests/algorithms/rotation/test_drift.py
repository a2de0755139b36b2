"""The correction of rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.drift import corrected
from suffice.method.records import Records
from suffice.microdata import Rotate
from suffice.seed import Seed
from tests.algorithms.rotation.cases import limits, skewed
from tests.tolerances import ALGEBRA
from tests.truth import ratios


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("given", [0, 2])
def test_moments_come_back_and_cells_at_a_bound_stay(given: int, weighted: bool) -> None:
    task, rng = skewed(500, 4, given), np.random.default_rng(1)
    Y = task.Y.copy()
    Y[rng.random(Y.shape) < 0.3] = 0.0
    w = rng.exponential(size=500) if weighted else None
    task = replace(task, Y=Y, original=Y, w=w)
    drifted = Y * (1 + 1e-13 * rng.normal(size=Y.shape) + 1e-13)
    X = task.X[:, 1:]
    assert max(ratios(X, Y, X, drifted, w, w).values()) > ALGEBRA
    Ystar, ratio = corrected(drifted, task, Constraints.of(task))
    assert ratio <= ALGEBRA
    assert max(ratios(X, Y, X, Ystar, w, w).values()) <= ALGEBRA
    assert (Ystar[Y == 0] == 0).all()
    assert (Ystar >= 0).all()


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("given", [0, 1])
def test_a_column_that_is_the_sum_of_others_comes_back_too(given: int, zeros: bool) -> None:
    """Its drift is its own: as the sums were, so is what is missing, but for rounding."""
    task, rng = skewed(600, 4, given), np.random.default_rng(2)
    Y = np.round(1000 * task.Y) * (rng.random((600, 4)) > 0.3 * zeros)
    Y[:, 3] = Y[:, 0] + Y[:, 1]
    task = replace(task, Y=Y, original=Y)
    drifted = Y * (1 + 1e-14 * rng.normal(size=Y.shape) + 1e-13)
    X = task.X[:, 1:]
    assert max(ratios(X, Y, X, drifted).values()) > ALGEBRA
    Ystar, ratio = corrected(drifted, task, Constraints.of(task))
    assert ratio <= ALGEBRA
    assert max(ratios(X, Y, X, Ystar).values()) <= ALGEBRA
    assert np.abs(Ystar[:, 3] - Ystar[:, 0] - Ystar[:, 1]).max() < 1e-8


@pytest.mark.slow
def test_a_long_walk_with_a_total_is_exact() -> None:
    """Nothing given, a total among the columns: 3,000 sweeps."""
    rng = np.random.default_rng(3)
    parts = np.round(1e4 * rng.lognormal(size=(200, 3)))
    Y = np.column_stack([parts, parts[:, 0] + parts[:, 1]])
    task = Records(np.ones((200, 1)), Y, Y, limits=limits(Y, 0.0))
    walk = Rotate(sweeps=3000).walk(task, Seed.for_tests(1).derive("test"))
    assert walk.ratio <= 30
    assert max(ratios(task.X[:, 1:], Y, task.X[:, 1:], walk.Ystar).values()) <= 30


def test_what_has_not_drifted_is_not_touched() -> None:
    task = skewed(50, 3)
    Ystar, ratio = corrected(task.Y, task, Constraints.of(task))
    assert ratio == 0
    assert (Ystar == task.Y).all()
