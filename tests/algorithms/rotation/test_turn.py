"""One sweep: what it keeps, what it changes, and that both kernels do the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algorithms.rotation import turn as plain
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Dealer, deal
from suffice.algorithms.rotation.densities import Densities
from suffice.algorithms.rotation.kernel import Kernel
from suffice.algorithms.rotation.turn import Chance, plane
from suffice.method.records import Records
from tests.algorithms.rotation.cases import limits, skewed, tasks
from tests.tolerances import CHANCE


def swept(task: Records, kernel: Kernel, sweeps: int = 3, shape: str = "copula") -> np.ndarray:
    ground, dealer, Y = Constraints.of(task), Dealer.of(task, "given", "kept"), task.Y.copy()
    law, known = Densities.of(task.original, ground.low, ground.high, shape), np.full(task.n, np.nan)
    for sweep in range(1, sweeps + 1):
        rng = np.random.default_rng(sweep)
        groups = dealer.groups(Y, sweep, rng)
        kernel(Y, ground, law, groups, Chance.drawn(rng, ground, groups), known)
    return Y


@settings(max_examples=60, deadline=None)
@given(task=tasks())
def test_every_limit_holds_in_every_record(task: Records) -> None:
    Y = swept(task, plain.turn)
    assert Constraints.of(task).feasible(Y).all()
    assert task.limits is not None
    assert not task.limits.broken(Y).any()


@settings(max_examples=60, deadline=None)
@given(task=tasks())
def test_sums_and_products_stay(task: Records) -> None:
    Y, w = swept(task, plain.turn), np.ones(task.n) if task.w is None else task.w
    size = np.sqrt(w @ task.Y**2)
    size[size == 0] = 1.0
    X = task.X * w[:, None]
    assert np.abs((X.T @ (Y - task.Y)) / size).max() <= 1e-12 * np.sqrt(task.n) * np.abs(X).max()
    gap = Y.T @ (w[:, None] * Y) - task.Y.T @ (w[:, None] * task.Y)
    assert np.abs(gap / np.outer(size, size)).max() < 1e-12


@settings(max_examples=25, deadline=None)
@given(task=tasks(), sweeps=st.integers(1, 10), shape=st.sampled_from(["copula", "marginals", "uniform"]))
def test_both_kernels_give_the_same_release(task: Records, sweeps: int, shape: str) -> None:
    compiled = pytest.importorskip("suffice.algorithms.rotation.compiled")
    Y, same = (swept(task, kernel, sweeps, shape) for kernel in (plain.turn, compiled.turn))
    assert np.array_equal(Y, same)  # to the last bit: a walk amplifies


@pytest.mark.parametrize("given", [0, 3])
def test_both_kernels_give_the_same_release_after_many_sweeps(given: int) -> None:
    compiled = pytest.importorskip("suffice.algorithms.rotation.compiled")
    task = skewed(300, 5, given)
    assert (swept(task, plain.turn, 200) == swept(task, compiled.turn, 200)).all()


def test_one_plane_in_closed_form_is_the_plane_of_gram_schmidt() -> None:
    # in a group of three the turn is about the diagonal: angles may differ, the circle does not
    task = skewed(3, 2)
    ground, rows = Constraints.of(task), np.array([[0, 1, 2]])
    y = plain.beside(task.Y[rows])
    b, d = plain.radii(y, ground, rows, np.empty((0, 2, 3)))
    general = replace(ground, plain=False)
    b2, d2 = plain.radii(y, general, rows, np.random.default_rng(1).normal(size=(1, 2, 3)))
    assert np.allclose(b, b2)
    assert np.allclose(d, d2) or np.allclose(d, -d2)


def test_a_plane_is_orthonormal_and_orthogonal_to_x_also_where_columns_vanish() -> None:
    rng = np.random.default_rng(3)
    X = np.ones((5, 6, 4))
    X[:, :, 1:] = rng.normal(size=(5, 6, 3))
    X[1, :, 2] = 0.0
    X[2, :, 3] = 2 * X[2, :, 1]
    u, v = (each.T for each in plane(X, rng.normal(size=(5, 2, 6))))
    assert np.allclose((u * u).sum(1), 1)
    assert np.allclose((v * v).sum(1), 1)
    assert np.allclose((u * v).sum(1), 0, atol=1e-14)
    assert np.abs(np.einsum("bg,bgr->br", u, X)).max() < 1e-14
    assert np.abs(np.einsum("bg,bgr->br", v, X)).max() < 1e-14


def test_planes_of_compiled_loops_are_the_same() -> None:
    compiled = pytest.importorskip("suffice.algorithms.rotation.compiled")
    rng = np.random.default_rng(4)
    X, normals = rng.normal(size=(7, 14, 12)), rng.normal(size=(7, 2, 14))
    X[3, :, 5] = X[3, :, 1]
    X[5, :, 2:], X[6, :, 1:7] = 0.0, X[6, :, :1]  # as in a group inside one cell
    for one, two in zip(plane(X, normals), plane(X, normals, compiled), strict=True):
        assert (one == two).all()


def test_a_group_without_two_directions_stays() -> None:
    task = replace(skewed(4, 2, given=2), limits=None)  # rank 3 of 4: one direction
    ground, Y, rows = Constraints.of(task), task.Y.copy(), np.array([[0, 1, 2, 3]])
    plain.turn(Y, ground, Densities.uniform(), rows, Chance.drawn(np.random.default_rng(1), ground, rows))
    assert (Y == task.Y).all()


def test_equal_cells_do_not_move_by_one_bit() -> None:
    task = skewed(60, 3, given=1)
    Y = task.Y.copy()
    Y[:, 1] = 0.1
    task = replace(task, Y=Y, original=Y, limits=limits(Y, 0.1 - 0.1))
    assert (swept(task, plain.turn)[:, 1] == 0.1).all()


def test_a_step_is_uniform_on_the_feasible_set() -> None:
    # three records, one column, y >= 0: sum and sum of squares fix a circle, and bounds leave arcs of it
    start = np.tile([[0.2], [1.0], [3.0]], (4000, 1))
    task = Records(np.ones((len(start), 1)), start, start, limits=limits(start, 0.0))
    ground, rows = Constraints.of(task), np.arange(len(start)).reshape(-1, 3)
    Y, rng = start.copy(), np.random.default_rng(1)
    for _ in range(20):  # a bracket that shrinks towards the start leaves it more slowly than a uniform draw
        plain.turn(Y, ground, Densities.uniform(), rows, Chance.drawn(rng, ground, rows))
    t = np.linspace(0, 2 * np.pi, 200_001)
    e = start[:3, 0] - start[:3, 0].mean()
    radius = np.sqrt((e @ e) * 2 / 3)
    cells = start[:3].mean() + radius * np.cos(t[:, None] + np.array([0, 2, 4]) * np.pi / 3)
    whole = cells[(cells >= 0).all(axis=1)]
    for test in (lambda y: y[:, 0], lambda y: y[:, 1], lambda y: y[:, 2], lambda y: y.max(axis=1)):
        x, truth = test(np.abs(Y.reshape(-1, 3))), test(whole)
        assert abs(x.mean() - truth.mean()) < CHANCE * truth.std() / np.sqrt(len(x))


def test_groups_are_dealt_inside_strata() -> None:
    rng = np.random.default_rng(1)
    strata = rng.integers(0, 5, 100)
    groups = deal(rng.permutation(100), 3, strata)
    assert (strata[groups] == strata[groups][:, :1]).all()
    assert len(np.unique(groups)) == groups.size == sum(3 * (count // 3) for count in np.bincount(strata))
