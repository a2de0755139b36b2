"""ESSnet (2009), section 2.2.2: the examples of Muralidhar & Sarathy's hybrid, to the printed digits."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.errors import InfeasibleError
from suffice.microdata import Ipso, ResidualCorrelation

n = 25
S_XX = np.array([[1.0, 0.4], [0.4, 1.0]])
S_SS = np.array([[1.0, 0.6], [0.6, 1.0]])
S_XS = np.array([[0.2, 0.4], [-0.3, -0.2]])


def data() -> tuple[Array, Array, Array]:
    """25 records with exactly the printed moments: given [1 S], confidential, and random numbers."""
    rng = np.random.default_rng(25)
    ones = np.ones((n, 1))
    Q = gqr(np.hstack([ones, rng.normal(size=(n, 4))])).Q[:, 1:] * np.sqrt(n - 1)
    V = Q @ np.linalg.cholesky(np.block([[S_SS, S_XS.T], [S_XS, S_XX]])).T
    return np.hstack([ones, V[:, :2]]), V[:, 2:], rng.normal(size=(n, 2))


def model(d: tuple[float, float]) -> tuple[Array, Array, Array]:
    """Released = gamma + beta S + alpha X + e, seen from the data: beta, alpha and the covariance of e."""
    X, Y, Z = data()
    released = ResidualCorrelation(d).solve(X, Y, Z)
    both = np.hstack([X, Y])
    B = np.linalg.lstsq(both, released, rcond=None)[0]
    e = released - both @ B
    return B[1:3].T, B[3:].T, e.T @ e / (n - 1)


def printed(ours: Array, theirs: list[list[float]], digits: int, units: float = 0.5) -> None:
    assert np.abs(ours - theirs).max() <= units * 10.0**-digits * (1 + 1e-6)


def test_example_1() -> None:
    beta, alpha, noise = model((0.9, 0.9))
    assert np.allclose(alpha, np.diag([0.9, 0.9]), atol=1e-12)
    printed(beta, [[-0.006250, 0.043750], [-0.028125, -0.003125]], 6)  # printed as "beta transposed": it is beta
    printed(noise[:1], [[0.159125, 0.089063]], 6)
    printed(noise[1:], [[0.089063, 0.172782]], 6, units=1.0)  # the last digit printed is one too high
    assert round(float(noise[1, 1]), 6) == 0.172781


def test_example_2() -> None:
    beta, alpha, noise = model((0.8, 0.3))
    assert np.allclose(alpha, np.diag([0.8, 0.3]), atol=1e-12)
    printed(beta.T, [[-0.01250, -0.19687], [0.08750, -0.02187]], 5, units=0.5)
    printed(noise, [[0.3015, 0.3563], [0.3563, 0.8275]], 4)


def test_disparate_correlations_are_refused_with_the_largest_alpha() -> None:
    X, Y, Z = data()
    with pytest.raises(InfeasibleError, match=r"largest feasible alpha 0\.99\d* \(itself excluded\)"):
        ResidualCorrelation((0.9, 0.2)).solve(X, Y, Z)
    (said,) = ResidualCorrelation((0.9, 0.2), shrink=0.9).mask(X, Y, Z).remarks
    assert "multiplied by alpha = 0.89" in said


def test_example_3_nothing_of_the_original_keeps_the_moments() -> None:
    X, Y, Z = data()
    assert np.allclose(np.cov(Ipso().solve(X, Y, Z).T), S_XX, atol=1e-13)
