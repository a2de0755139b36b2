"""From a start outside the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Dealer
from suffice.algorithms.rotation.repair import repaired
from suffice.errors import InfeasibleError
from suffice.microdata import Ipso
from suffice.seed import Seed
from tests.algorithms.rotation.cases import skewed

STREAM = Seed.for_tests(1).derive("repair")


def test_the_negatives_of_a_release_are_repaired_and_its_moments_stay() -> None:
    task = skewed(200, 3)
    start = Ipso().solve(task.X, task.Y, np.random.default_rng(1).normal(size=(200, 3)))
    assert (start < 0).sum() > 20
    task = replace(task, Y=start)
    Y, sweeps = repaired(start, Constraints.of(task), Dealer.of(task, "random", "kept"), STREAM)
    assert sweeps > 0
    assert (Y >= 0).all()
    assert np.allclose(Y.sum(axis=0), task.original.sum(axis=0))
    assert np.allclose(Y.T @ Y, task.original.T @ task.original)


def test_a_start_inside_the_limits_is_left_alone() -> None:
    task = skewed(50, 2)
    Y, sweeps = repaired(task.Y, Constraints.of(task), Dealer.of(task, "random", "kept"), STREAM)
    assert sweeps == 0
    assert Y is task.Y


def test_what_cannot_be_repaired_is_refused_with_the_number_of_cells() -> None:
    task = skewed(30, 1)
    task = replace(task, Y=task.Y - 10)  # every cell below zero, and the mean stays
    with pytest.raises(InfeasibleError, match="30 cells or edits are left over after 5 sweeps"):
        repaired(task.Y, Constraints.of(task), Dealer.of(task, "random", "kept"), STREAM, 5)
