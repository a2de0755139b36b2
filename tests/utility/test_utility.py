"""Measures of utility: their laws, and plain versions of them written from the definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize, stats

from suffice.algebra.array import Array
from suffice.utility.information_loss import families, information_loss
from suffice.utility.kolmogorov_smirnov import kolmogorov_smirnov
from suffice.utility.propensity import propensity
from suffice.utility.shape_bias import kurtosis, shape_bias, skewness

N = 120


def two(seed: int = 1, k: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(k, k))
    return np.exp(0.4 * rng.normal(size=(N, k)) @ mix), np.exp(0.4 * rng.normal(size=(N, k)) @ mix) + 0.1


def plain_propensity(Y: Array, Ystar: Array, degree: int) -> float:
    both = np.vstack([Y, Ystar])
    Z = (both - both.mean(axis=0)) / both.std(axis=0)
    terms = [np.ones(len(Z)), *Z.T, *(z**2 for z in Z.T), *(a * b for a, b in combinations(Z.T, 2))]
    terms += [z**3 for z in Z.T] if degree == 3 else []
    A = np.column_stack(terms) / np.linalg.norm(terms, axis=1)
    sign = np.repeat([-1.0, 1.0], [len(Y), len(Ystar)])

    def loss(beta: Array) -> tuple[float, Array]:
        margin = sign * (A @ beta)
        return np.logaddexp(0, -margin).sum(), -A.T @ (sign / (1 + np.exp(margin)))

    found = optimize.minimize(loss, np.zeros(A.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8})
    return float(np.mean((1 / (1 + np.exp(-A @ found.x)) - 0.5) ** 2))


def plain_families(Y: Array, Ystar: Array) -> list[float]:
    """As Mateo-Sanz et al. print them, in the units of the data."""
    n, lost = len(Y), {name: [] for name in ("mean", "variance", "covariance", "correlation", "quantile")}

    def note(name: str, d: float, V: float) -> None:
        lost[name].append(2 * stats.norm.cdf(abs(d) / np.sqrt(V)) - 1)

    def mu(a: Array, b: Array, i: int, j: int) -> float:
        return float(np.mean((a - a.mean()) ** i * (b - b.mean()) ** j))

    for y, z in zip(Y.T, Ystar.T, strict=True):
        note("mean", z.mean() - y.mean(), mu(y, y, 2, 0) / n)
        note("variance", z.var() - y.var(), (mu(y, y, 4, 0) - mu(y, y, 2, 0) ** 2) / n)
        h = 0.9 * min(y.std(), float(np.subtract(*np.quantile(y, [0.75, 0.25]))) / 1.34) * n**-0.2
        for q in np.arange(0.05, 0.96, 0.05):
            at = np.quantile(y, q)
            f = stats.norm.pdf((at - y) / h).mean() / h
            note("quantile", np.quantile(z, q) - at, q * (1 - q) / (n * f * f))
    for i, j in combinations(range(Y.shape[1]), 2):
        a, b, m20, m02, m11 = Y[:, i], Y[:, j], Y[:, i].var(), Y[:, j].var(), mu(Y[:, i], Y[:, j], 1, 1)
        note("covariance", mu(Ystar[:, i], Ystar[:, j], 1, 1) - m11, (mu(a, b, 2, 2) - m11**2) / n)
        r = m11 / np.sqrt(m20 * m02)
        inside = mu(a, b, 2, 2) / m11**2 - mu(a, b, 3, 1) / (m11 * m20) - mu(a, b, 1, 3) / (m11 * m02)
        inside += (mu(a, b, 4, 0) / m20**2 + mu(a, b, 0, 4) / m02**2 + 2 * mu(a, b, 2, 2) / (m20 * m02)) / 4
        note("correlation", np.corrcoef(Ystar[:, i], Ystar[:, j])[0, 1] - r, r * r * inside / n)
    return [float(np.mean(each)) for each in lost.values()]


@pytest.mark.parametrize("degree", [2, 3])
def test_propensity_is_that_of_a_plain_fit(degree: int):
    Y, Ystar = two(k=2)
    assert propensity(Y, Ystar, degree) == pytest.approx(plain_propensity(Y, Ystar, degree), rel=1e-5)


@pytest.mark.parametrize("seed", [1, 2])
def test_information_loss_is_that_of_the_printed_formulas(seed: int):
    Y, Ystar = two(seed)
    assert list(families(Y, Ystar).values()) == pytest.approx(plain_families(Y, Ystar), rel=1e-9)


def test_the_same_records_in_any_order_lose_nothing():
    Y, _ = two()
    again = Y[np.random.default_rng(2).permutation(N)]
    assert propensity(Y, again, 2) < 1e-20
    assert propensity(Y, again, 3) < 1e-20
    assert information_loss(Y, again) == 0
    assert kolmogorov_smirnov(Y, again).tolist() == [0, 0, 0]
    assert shape_bias(Y, again) == pytest.approx((0, 0), abs=1e-12)


def test_another_world_loses_all():
    Y, _ = two()
    far = 100 + 50 * np.random.default_rng(3).normal(size=Y.shape)
    assert propensity(Y, far, 2) == pytest.approx(0.25, abs=1e-3)  # files that are told apart without an error
    assert families(Y, far)["means"] == 1
    assert kolmogorov_smirnov(Y, far).max() > 0.9


def test_units_and_dependent_columns_do_not_matter():
    Y, Ystar = two()
    for measure in (lambda A, B: propensity(A, B, 2), information_loss, lambda A, B: shape_bias(A, B)[0]):
        assert measure(Y * 1000 + 7, Ystar * 1000 + 7) == pytest.approx(measure(Y, Ystar), rel=1e-6)
    total, after = (np.column_stack([A, A.sum(axis=1)]) for A in (Y, Ystar))
    assert propensity(total, after, 2) == pytest.approx(propensity(Y, Ystar, 2), rel=1e-6)
    constant, beside = (np.column_stack([A, np.full(N, 3.0)]) for A in (Y, Ystar))
    assert information_loss(constant, beside) == pytest.approx(information_loss(Y, Ystar))


def test_two_samples_of_one_law_have_the_propensity_of_chance():
    """(k - 1) c (1 - c) / N, k parameters with the constant; a quarter of k - 1 over N for files of one size."""
    rng, n = np.random.default_rng(4), 400
    found = [propensity(*(rng.normal(size=(n, 2)) for _ in range(2)), 2) for _ in range(20)]
    assert np.mean(found) == pytest.approx(5 / 4 / (2 * n), rel=0.4)


def test_heavy_tails_converge():
    """Plain iterations of Newton diverge here: a giant among equals."""
    rng = np.random.default_rng(5)
    Y, Ystar = (np.exp(3 * rng.normal(size=(300, 4))) for _ in range(2))
    two_, three = propensity(Y, Ystar, 2), propensity(Y, Ystar, 3)
    assert 0 < two_ < three < 0.25  # a larger model fits better


def test_shapes_are_those_of_scipy():
    Y, Ystar = two()
    assert skewness(Y) == pytest.approx(stats.skew(Y))
    assert kurtosis(Y) == pytest.approx(stats.kurtosis(Y, fisher=False))
    assert shape_bias(Y, 2 * Y + 1) == pytest.approx((0, 0), abs=1e-12)
    assert kolmogorov_smirnov(Y, Ystar) == pytest.approx(
        [stats.ks_2samp(y, z).statistic for y, z in zip(Y.T, Ystar.T, strict=True)]
    )
