"""A full matrix of multipliers: ESSnet's examples, the two methods that are special cases, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import AlphaMatrix, Ipso, ResidualCorrelation, Roles, ScoreCorrelation, Seed, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, split
from suffice.catalogue import build
from suffice.errors import InfeasibleError, UsageError
from suffice.method.method import Method
from suffice.microdata import Addition

SXX, SSS = np.array([[1.0, 0.4], [0.4, 1.0]]), np.array([[1.0, 0.6], [0.6, 1.0]])
SXS = np.array([[0.2, 0.4], [-0.3, -0.2]])


def data(n: int = 25, seed: int = 1) -> tuple[Array, Array, Array]:
    """1 and S, X and Z with exactly the covariance matrices of ESSnet, section 2.2.2."""
    rng = np.random.default_rng(seed)
    Q = gqr(split(rng.normal(size=(n, 4)), np.ones((n, 1)))[1]).Q
    V = Q @ np.linalg.cholesky(np.block([[SSS, SXS.T], [SXS, SXX]])).T * np.sqrt(n)
    return np.column_stack([np.ones(n), V[:, :2]]), V[:, 2:], rng.normal(size=(n, 2))


def noise(Ystar: Array, X: Array, Y: Array, A: Array) -> Array:
    """Covariance matrix of what is new in the release."""
    Yhat, E = split(Y, X)
    e = Ystar - Yhat - E @ A.T
    return e.T @ e / len(Y)


@pytest.mark.parametrize(
    ("alpha", "printed"),
    [((0.9, 0.9), [[0.159125, 0.089063], [0.089063, 0.172782]]), ((0.8, 0.3), [[0.3015, 0.3563], [0.3563, 0.8275]])],
)
def test_examples_1_and_2(alpha: tuple[float, float], printed: list[list[float]]) -> None:
    X, Y, Z = data()
    Ystar = AlphaMatrix(np.diag(alpha)).solve(X, Y, Z)  # type: ignore[arg-type]
    assert np.abs(noise(Ystar, X, Y, np.diag(alpha)) - printed).max() < 1e-4
    assert np.allclose(Ystar.T @ np.hstack([X, Ystar]), Y.T @ np.hstack([X, Y]))


def test_what_has_no_solution_is_refused_with_the_largest_multiple() -> None:
    X, Y, Z = data()
    with pytest.raises(InfeasibleError, match="largest feasible alpha") as caught:
        AlphaMatrix(((0.9, 0), (0, 0.2))).solve(X, Y, Z)
    assert "with this A.\n" in str(caught.value)
    assert "for alpha times A\n" in str(caught.value)
    assert "alpha 1" not in str(caught.value)  # A has no alpha
    largest = float(str(caught.value).split("largest feasible alpha ")[1].split()[0])
    E = split(Y, X)[1]
    root = np.linalg.cholesky(E.T @ E)
    S = np.linalg.svd(np.linalg.inv(root) @ np.diag([0.9, 0.2]) @ root)[1]
    assert largest == pytest.approx(1 / S[0], rel=1e-3)
    assert np.allclose(np.cov(AlphaMatrix(((0.9, 0), (0, 0.2)), 0.9).solve(X, Y, Z).T), np.cov(Y.T))


def test_a_full_matrix_is_what_the_columns_take() -> None:
    X, Y, Z = data(60)
    A = np.array([[0.5, 0.3], [-0.2, 0.4]])
    Ystar = AlphaMatrix(A).solve(X, Y, Z)  # type: ignore[arg-type]
    E, Estar = split(Y, X)[1], split(Ystar, X)[1]
    assert np.allclose(np.linalg.lstsq(E, Estar, rcond=None)[0], A.T)
    assert np.allclose(Ystar.T @ np.hstack([X, Ystar]), Y.T @ np.hstack([X, Y]))


def test_limits_meet() -> None:
    X, Y, Z = data(40)
    d = np.array([0.6, 0.3])
    diagonal = AlphaMatrix(np.diag(d)).solve(X, Y, Z)  # type: ignore[arg-type]
    assert np.allclose(diagonal, ResidualCorrelation(tuple(d)).solve(X, Y, Z))
    W = gqr(split(Y, X)[1]).R
    by_scores = AlphaMatrix((np.linalg.inv(W) @ np.diag(d) @ W).T)  # type: ignore[arg-type]
    assert np.allclose(by_scores.solve(X, Y, Z), ScoreCorrelation(tuple(d)).solve(X, Y, Z))
    none = AlphaMatrix(0).solve(X, Y, Z)
    assert np.allclose(none, ResidualCorrelation(0).solve(X, Y, Z))
    E = split(Y, X)[1]
    A = np.array([[0.5, 0.3], [-0.2, 0.4]])
    added = Addition(start=split(Y, X)[0] + E @ A.T).solve(X, Y, Z)
    assert np.allclose(noise(added, X, Y, A), noise(AlphaMatrix(A).solve(X, Y, Z), X, Y, A))  # type: ignore[arg-type]


def test_matrices_as_text_and_lists() -> None:
    assert build("alpha-matrix", {"A": "0.5,0.1;0,0.4"}) == AlphaMatrix(((0.5, 0.1), (0.0, 0.4)))
    assert build("alpha-matrix", {"A": [[0.5, 0.1], [0, 0.4]]}) == AlphaMatrix(((0.5, 0.1), (0.0, 0.4)))
    assert build("alpha-matrix", {"A": "0.3"}) == AlphaMatrix(0.3)
    for wrong in ("a", "1,2", "1,2;3", [], [[1, 2]], [[1, True], [0, 1]], [1, 2], [[float("nan")]]):
        with pytest.raises(UsageError, match="alpha-matrix: A must be"):
            build("alpha-matrix", {"A": wrong})
    with pytest.raises(UsageError, match="2 rows and there are 3"):
        AlphaMatrix(((0.5, 0), (0, 0.5))).solve(np.ones((9, 1)), np.eye(9)[:, :3], np.eye(9)[:, 3:6])


def test_dependent_columns_need_an_A_that_keeps_their_relation() -> None:
    X, Y, Z = data(40)
    total = np.column_stack([Y, Y.sum(axis=1)])
    with pytest.raises(InfeasibleError, match="A must keep their relation"):
        AlphaMatrix(np.diag([0.5, 0.5, 0.2])).solve(X, total, np.hstack([Z, Z]))  # type: ignore[arg-type]
    Ystar = AlphaMatrix(0.5).solve(X, total, np.hstack([Z, Z]))
    assert np.allclose(Ystar[:, 0] + Ystar[:, 1], Ystar[:, 2])


def test_a_matrix_close_to_the_original_is_stopped() -> None:
    X, Y, _ = data(300)
    frame = np.column_stack([X[:, 1:], Y])
    roles = Roles(confidential=["x2", "x3"], given=["x0", "x1"])
    turned = ((0.0, 0.97), (-0.97, 0.0))  # each follows the other: column by column it looks new
    release = protect(frame, roles, AlphaMatrix(turned, 0.99), seed=Seed.for_tests(1))
    assert {f.rule for f in release.findings if f.blocks} >= {"canonical-correlation"}
    assert not any(f.blocks for f in protect(frame, roles, Ipso(), seed=Seed.for_tests(1)).findings if f.rule != "seed")


@pytest.mark.parametrize("method", [AlphaMatrix(((0.3, 0.1), (0.0, 0.2))), ResidualCorrelation((0.3, 0.2))])
def test_records_without_any_confidential_value_ask_nothing_of_a_parameter_by_column(method: Method) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(90, 2)), columns=["y", "z"])
    frame.loc[::3, ["y", "z"]] = np.nan
    made = protect(frame, Roles(confidential=["y", "z"], missing="patterns"), method, seed=Seed.for_tests(1))
    assert made.certificate.holds
    assert made.aligned().isna().equals(frame.isna())
