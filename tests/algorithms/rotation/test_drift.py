"""The correction of rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.drift import corrected
from tests.algorithms.rotation.cases import skewed
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


def test_what_has_not_drifted_is_not_touched() -> None:
    task = skewed(50, 3)
    Ystar, ratio = corrected(task.Y, task, Constraints.of(task))
    assert ratio == 0
    assert (Ystar == task.Y).all()
