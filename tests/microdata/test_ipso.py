"""IPSO and its two approximations: what is kept exactly, and what on average."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.microdata import Fitted, Ipso, IpsoA, IpsoB
from tests.tolerances import CHANCE

n, m, runs = 12, 5, 600
rng = np.random.default_rng(2003)
X: Array = np.hstack([np.ones((n, 1)), rng.normal(size=(n, m - 1))])
Y: Array = rng.normal(size=(n, 2))
Yhat, E = split(Y, X)


def z_of_variance(method: IpsoA | IpsoB, size: int, scale: float = 1.0) -> float:
    """How far the average of |e*|^2 / size is from the estimated variance, in standard errors."""
    draws = np.random.default_rng(1).normal(size=(runs, n, 2)) * scale
    spread = [np.sum((method.solve(X, Y, Z) - Yhat)[:, 0] ** 2) / size for Z in draws]
    expected = E[:, 0] @ E[:, 0] / (n - m)
    return float((np.mean(spread) - expected) / (np.std(spread) / np.sqrt(runs)))


@pytest.mark.parametrize(("method", "size"), [(IpsoA(), n), (IpsoB(), n - m)])
def test_covariance_is_right_on_average(method: IpsoA | IpsoB, size: int) -> None:
    assert abs(z_of_variance(method, size)) < CHANCE
    assert abs(z_of_variance(method, size, scale=1.3)) > CHANCE  # the test sees a wrong scale


def test_a_keeps_nothing_b_the_coefficients_c_both() -> None:
    Z = rng.normal(size=(n, 2))
    a, b, c = (method.solve(X, Y, Z) for method in (IpsoA(), IpsoB(), Ipso()))
    fit = [np.allclose(X.T @ released, X.T @ Y) for released in (a, b, c)]
    square = [np.allclose(released.T @ released, Y.T @ Y) for released in (a, b, c)]
    assert fit == [False, True, True]
    assert square == [False, False, True]


def test_the_divisor_counts_the_records_not_the_rows_of_the_factor() -> None:
    Z = rng.normal(size=(n, 2))
    change, larger = (IpsoA().solve(X, Y, Z, size) - Yhat for size in (n, 4 * (n - m) + m))
    assert np.allclose(change, 2 * larger)


def test_loadings_by_svd_give_another_release_with_the_same_promises() -> None:
    Z = rng.normal(size=(n, 2))
    qr, svd = Ipso().solve(X, Y, Z), Ipso(by="svd").solve(X, Y, Z)
    assert not np.allclose(qr, svd)
    assert np.allclose(qr.T @ qr, svd.T @ svd)


def test_fitted_loses_the_variance_and_says_so() -> None:
    assert np.array_equal(Fitted().solve(X, Y, np.empty((n, 0))), Yhat)
    assert "variances and covariances are lost" in Fitted().mask(X, Y, np.empty((n, 0))).remarks[0]
