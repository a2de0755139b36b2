"""Mera's Theorem 3: any number of records with the same means and covariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, split
from suffice.errors import InfeasibleError, UsageError
from suffice.microdata.resize import Resize, resized
from suffice.seed import Stream
from tests.tolerances import ALGEBRA, CHANCE
from tests.truth import ratios

seeds = st.integers(0, 2**32)


def factored(Y: Array, w: Array | None = None) -> tuple[Array, Array]:
    """Mean and R of columns, S = R'R with the sum of the weights as divisor; a constant column has zeros in R."""
    root = np.ones((len(Y), 1)) if w is None else np.sqrt(w)[:, None]
    _, E = split(root * Y, root)
    centre = (root * (root * Y - E)).sum(axis=0) / (root * root).sum()
    mean = np.where(E.any(axis=0), centre, Y[0])  # the mean of a constant is that constant
    return mean, gqr(E).R / np.linalg.norm(root)


def worst(Y: Array, Ystar: Array, w: Array | None = None) -> float:
    return max(ratios(np.empty((len(Y), 0)), Y, np.empty((len(Ystar), 0)), Ystar, w).values())


@settings(max_examples=80, deadline=None)
@given(
    seed=seeds,
    n=st.integers(2, 60),
    k=st.integers(1, 5),
    spare=st.integers(0, 80),
    dependent=st.booleans(),
    constant=st.booleans(),
    scale=st.lists(st.integers(-8, 12), min_size=5, max_size=5),
)
def test_theorem_3(seed: int, n: int, k: int, spare: int, dependent: bool, constant: bool, scale: list[int]) -> None:
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, k)) @ (np.eye(k) + rng.uniform(0, 1, (k, k)))
    if dependent and k > 2:
        Y[:, 2] = Y[:, 0] - Y[:, 1]
    if constant and k > 1:
        Y[:, 1] = 7.1
    Y = Y * 10.0 ** np.array(scale[:k])
    m = gqr(np.hstack([np.ones((n, 1)), Y])).rank + spare  # from the least that there can be
    Ystar = resized(*factored(Y), rng.normal(size=(m, k)))
    assert Ystar.shape == (m, k)
    assert worst(Y, Ystar) <= ALGEBRA
    if constant and k > 1:
        assert (Ystar[:, 1] == Y[0, 1]).all()


@settings(max_examples=20, deadline=None)
@given(seed=seeds, n=st.integers(5, 60), m=st.integers(4, 90))
def test_weights_of_the_original(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    Y, w = 5 + rng.normal(size=(n, 3)), rng.gamma(2, size=n)
    assert worst(Y, resized(*factored(Y, w), rng.normal(size=(m, 3))), w) <= ALGEBRA


def test_each_group_is_one_call() -> None:
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1, 2], [20, 9, 50])
    Y = rng.exponential(size=(79, 3)) + group[:, None]
    drawn = {g: resized(*factored(Y[group == g]), rng.normal(size=(m, 3))) for g, m in [(0, 12), (1, 9), (2, 80)]}
    assert all(worst(Y[group == g], each) <= ALGEBRA for g, each in drawn.items())


def test_regressions_among_the_columns_are_kept() -> None:
    rng = np.random.default_rng(5)
    Y = rng.exponential(size=(40, 3)) @ rng.normal(size=(3, 3))
    Ystar = resized(*factored(Y), rng.normal(size=(1000, 3)))
    fits = [np.linalg.lstsq(np.column_stack([np.ones(len(A)), A[:, 1:]]), A[:, 0], rcond=None)[0] for A in (Y, Ystar)]
    assert np.allclose(*fits)


@pytest.mark.parametrize("m", [0, 1, 3])
def test_too_few_records_are_refused_with_the_numbers(m: int) -> None:
    Y = np.random.default_rng(1).normal(size=(30, 3))
    with pytest.raises(InfeasibleError, match=f"needs 4 records at least and {m} are asked for") as caught:
        Resize(m=m).draw(*factored(Y), None, m, Stream(bytes(32)))
    assert caught.value.exit_code == 5


def test_too_few_random_columns() -> None:
    with pytest.raises(UsageError, match="3 random columns and Z has 2"):
        resized(*factored(np.random.default_rng(1).normal(size=(30, 3))), np.zeros((9, 2)))


@pytest.mark.parametrize("bad", [-1, 2.5, "ten", True])
def test_a_number_of_records_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(UsageError, match="resize: m must be a whole number"):
        Resize(m=bad)  # type: ignore[arg-type]


def test_the_factor_as_printed_is_wrong_for_fewer_records() -> None:
    """T = sqrt(n/m) H, m < n, as printed, multiplies means by n/m and second moments by its square."""
    rng, n, m = np.random.default_rng(2), 12, 5
    X = rng.normal(size=(n, 2)) + 3
    one, L = np.full((n, 1), n**-0.5), np.linalg.qr(X)[0]
    rest = np.linalg.qr(split(np.hstack([L, rng.normal(size=(n, 2))]), one)[1])[0]
    turn = np.linalg.qr(split(rng.normal(size=(m, 4)), np.ones((m, 1)))[1])[0]
    H = turn @ rest.T + np.full((m, 1), m**-0.5) @ one.T  # row orthonormal; H'1_m/sqrt(m) = 1_n/sqrt(n); L in its span
    assert np.allclose(H @ H.T, np.eye(m))
    assert np.allclose((H @ L).T @ (H @ L), np.eye(2))
    printed, right = np.sqrt(n / m) * H @ X, np.sqrt(m / n) * H @ X
    assert np.allclose(right.mean(axis=0), X.mean(axis=0))
    assert np.allclose(right.T @ right / m, X.T @ X / n)
    assert np.allclose(printed.mean(axis=0), X.mean(axis=0) * n / m)
    assert np.allclose(printed.T @ printed / m, X.T @ X / n * (n / m) ** 2)


def z_of_fourth() -> float:
    """Mean of t^4 of one score over many draws, against that of a uniform direction in m - 1 dimensions.

    A uniform unit vector orthogonal to 1 has t_i^2 / (1 - 1/m) distributed as Beta(1/2, (m-2)/2), so that
    E t_i^4 = 3 (1 - 1/m)^2 / ((m - 1) (m + 1)).
    """
    m, runs, rng = 9, 4000, np.random.default_rng(7)
    draws = [resized(np.zeros(2), np.eye(2), rng.normal(size=(m, 2)))[:, 1] / np.sqrt(m) for _ in range(runs)]
    fourth = np.array(draws)[:, 0] ** 4
    expected = 3 * (1 - 1 / m) ** 2 / ((m - 1) * (m + 1))
    return float((fourth.mean() - expected) / (fourth.std() / np.sqrt(runs)))


def test_directions_are_uniform() -> None:
    assert abs(z_of_fourth()) < CHANCE


def test_directions_are_uniform_in_every_pair_of_records() -> None:
    """Two entries of a score have covariance -1 / (m (m - 1)); directions of skewed numbers show."""
    m, runs, rng = 6, 4000, np.random.default_rng(8)
    T = np.array([resized(np.zeros(1), np.eye(1), rng.normal(size=(m, 1)))[:, 0] for _ in range(runs)]) / np.sqrt(m)
    for i, j in [(0, 1), (2, 5)]:
        products = T[:, i] * T[:, j]
        assert abs((products.mean() + 1 / (m * (m - 1))) / (products.std() / np.sqrt(runs))) < CHANCE
    flat = np.array([resized(np.zeros(1), np.eye(1), rng.exponential(size=(m, 1)) ** 3)[:, 0] for _ in range(runs)])
    fourth, expected = (flat[:, 0] / np.sqrt(m)) ** 4, 3 * (1 - 1 / m) ** 2 / ((m - 1) * (m + 1))
    assert abs((fourth.mean() - expected) / (fourth.std() / np.sqrt(runs))) > CHANCE  # the test sees other directions


def test_nothing_but_mean_and_covariance_is_used() -> None:
    """Two files with the same mean and covariance give one release."""
    rng = np.random.default_rng(9)
    Y, Z = rng.exponential(size=(30, 3)), rng.normal(size=(50, 3))
    mean, R = factored(Y)
    other = resized(mean, R, rng.normal(size=(80, 3)))
    assert np.allclose(resized(mean, R, Z), resized(*factored(other), Z))
    assert Resize.independent
