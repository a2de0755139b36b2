"""Records drawn to start from: the moments and limits of the original, its shapes, and nothing of any record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algorithms.rotation.column_sums import ColumnSums
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Dealer
from suffice.algorithms.rotation.densities import Densities
from suffice.algorithms.rotation.start import FOLLOWED, start
from suffice.method.records import Records
from suffice.microdata import Rotate
from suffice.risk.memory import Memory, aligned, average_correlation, permuted
from suffice.seed import Seed
from suffice.utility.kolmogorov_smirnov import kolmogorov_smirnov
from tests.algorithms.rotation.cases import limits, skewed


def drawn(task: Records, key: int = 1, shape: str = "copula") -> Array:
    ground = Constraints.of(task)
    law = Densities.of(task.original, ground.low, ground.high, shape)
    sums, strata = ColumnSums.of(task.original, law, task.w), Dealer.of(task, "given", "kept").pools[0].strata
    made = start(task, ground, law, sums, strata, np.random.default_rng(key))
    assert made is not None
    return made


@pytest.mark.parametrize("given", [0, 2])
def test_moments_are_those_of_the_original_and_shapes_nearly(given: int) -> None:
    task = skewed(300, 3, given)
    made = drawn(task)
    assert np.allclose(task.X.T @ made, task.X.T @ task.Y, rtol=1e-9, atol=1e-9)
    assert np.allclose(made.T @ made, task.Y.T @ task.Y, rtol=1e-9)
    assert kolmogorov_smirnov(task.Y, made).max() < 0.1


def test_weights_zeros_and_dependent_columns() -> None:
    task, rng = skewed(300, 3, 1), np.random.default_rng(3)
    Y = np.column_stack([task.Y, task.Y[:, 0] + task.Y[:, 1]])
    Y[rng.random(300) < 0.3, 2] = 0.0
    w = rng.uniform(0.5, 1.5, 300)
    made = drawn(replace(task, Y=Y, original=Y, w=w, limits=None))
    assert ((made == 0) == (Y == 0))[:, 2].all()
    assert np.allclose(made[:, 3], made[:, 0] + made[:, 1])
    assert np.allclose(made.T @ (w[:, None] * made), Y.T @ (w[:, None] * Y), rtol=1e-9)
    assert np.allclose(task.X.T @ (w[:, None] * made), task.X.T @ (w[:, None] * Y), rtol=1e-9, atol=1e-9)


def test_a_column_of_two_values_is_drawn_too() -> None:
    rng = np.random.default_rng(4)
    Y = np.column_stack([rng.integers(1, 3, 200).astype(float), rng.gamma(2.0, size=200)])
    made = drawn(Records(np.ones((200, 1)), Y, Y))
    assert abs(np.corrcoef(made[:, 0], Y[:, 0])[0, 1]) < 0.3


def test_which_record_has_which_values_is_not_looked_at() -> None:
    """The same records in another order, with nothing given, are the same start."""
    task = skewed(150, 2)
    other = task.Y[np.random.default_rng(1).permutation(150)]
    assert np.allclose(drawn(task), drawn(replace(task, Y=other, original=other)), rtol=1e-6, atol=1e-9)


def test_thirty_releases_do_not_remember() -> None:
    """Neither their average nor their distances tell the original."""
    task = skewed(120, 2)
    made = [Rotate().walk(task, Seed.for_tests(key).derive("memory")) for key in range(30)]
    assert {walk.reason for walk in made} == {"from records drawn anew"}
    releases = [walk.Ystar for walk in made]
    assert average_correlation(task.Y, releases) < 0.1
    assert permuted(task.Y, releases, 199) > 0.01
    assert Memory.of_releases(task.Y, releases, aligned).rank > 1
    largest = np.abs([each.max(axis=0) / task.Y.max(axis=0) - 1 for each in releases])
    assert (largest < 0.05).mean() < 0.6  # shapes tell how large the largest is, but only about
    assert largest.min() > 1e-6


def test_given_columns_leave_residuals_that_are_new() -> None:
    task = skewed(300, 2, 1)
    E, Estar = (split(Y, task.X)[1] for Y in (task.Y, Rotate().walk(task, Seed.for_tests(2).derive("new")).Ystar))
    assert max(abs(np.corrcoef(a, b)[0, 1]) for a, b in zip(E.T, Estar.T, strict=True)) < 0.25


def test_who_is_largest_only_the_given_columns_tell() -> None:
    """Releases share no more of the ten largest records with the original than the line that is published finds."""
    task = skewed(150, 1, 1)
    Y = task.Y * np.exp(task.X[:, 1:])
    task = replace(task, Y=Y, original=Y)
    walks = [Rotate().walk(task, Seed.for_tests(key).derive("who")).Ystar for key in range(6)]
    true, *made = (set(np.argsort(-each[:, 0])[:10]) for each in (Y, *walks))
    told = len(true & set(np.argsort(-split(Y, task.X)[0][:, 0])[:10]))
    assert np.mean([len(true & each) for each in made]) <= told + 1
    assert np.mean([walk[:, 0].argmax() == Y[:, 0].argmax() for walk in walks]) <= 0.5


def test_drawn_records_are_told_to_the_guards() -> None:
    task = skewed(60, 2)
    stream = Seed.for_tests(1).derive("told")
    assert Rotate().mask(task, stream).anew
    assert not Rotate(sweeps=3).mask(task, stream).anew
    assert not Rotate(most=5).mask(replace(task, Y=task.Y[::-1].copy()), stream).anew


def test_with_cells_of_very_different_size_records_are_drawn_closer_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the regression gives small cells the spread of large ones: these do not come inside their bounds."""
    rng, cells = np.random.default_rng(3), np.repeat(np.arange(12), 20)
    Y = rng.lognormal(0.0, 0.5, size=(240, 2)) * np.exp(np.linspace(-3, 3, 12))[cells][:, None]
    task = Records(np.eye(12)[cells], Y, Y, limits=limits(Y, 0.0), cells=cells)
    stream = Seed.for_tests(2).derive("cells")
    walk = Rotate(most=2).walk(task, stream)
    assert walk.reason == "from records drawn anew"
    assert walk.Ystar.min() >= 0
    assert np.allclose(task.X.T @ walk.Ystar, task.X.T @ Y)
    monkeypatch.setattr("suffice.microdata.rotate.FOLLOWED", FOLLOWED[:1])
    assert Rotate(most=2).walk(task, stream).reason == "given up"
