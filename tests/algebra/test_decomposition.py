"""The two unique decompositions, also where a matrix is short, empty, dependent or nearly so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algebra.array import Array
from suffice.algebra.decomposition import ensure_intercept, freedom, gqr, scores, split

EPS = np.finfo(float).eps


@st.composite
def matrices(draw: st.DrawFn) -> Array:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m = draw(st.integers(1, 12)), draw(st.integers(0, 8))
    A = rng.normal(size=(n, m)) * 10.0 ** rng.integers(-9, 9, m)
    for j in range(1, m):
        match draw(st.sampled_from(["new", "new", "dependent", "zero", "near"])):
            case "dependent":
                A[:, j] = A[:, :j] @ rng.normal(size=j)
            case "zero":
                A[:, j] = 0.0
            case "near":
                A[:, j] = A[:, j - 1] * (1 + 1e-7 * rng.normal(size=n))
    return A


def orthonormal(Q: Array) -> bool:
    return bool(np.abs(Q.T @ Q - np.eye(Q.shape[1])).max(initial=0.0) <= 50 * EPS)


@settings(max_examples=300, deadline=None)
@given(A=matrices())
def test_gqr_is_the_decomposition_of_appendix_1(A: Array) -> None:
    D = gqr(A)
    size = np.linalg.norm(A, axis=0)
    assert D.Q.shape == (len(A), D.rank)
    assert orthonormal(D.Q)
    assert (np.abs(A - D.Q @ D.R) <= 1e-11 * size).all()
    triangle = D.R[:, list(D.pivots)]
    assert (np.diagonal(triangle) > 0).all()
    assert np.array_equal(triangle, np.triu(triangle))
    assert sorted(D.pivots + D.dropped) == list(range(A.shape[1]))


@settings(max_examples=100, deadline=None)
@given(A=matrices())
def test_scores_by_svd_are_the_same_space(A: Array) -> None:
    (Q, R), (U, W) = scores(A, "qr"), scores(A, "svd")
    assert U.shape == Q.shape
    assert orthonormal(U)
    assert (np.abs(U @ W - Q @ R) <= 1e-13 * np.linalg.norm(A, axis=0)).all()


def test_svd_is_the_decomposition_of_appendix_2() -> None:
    A = np.random.default_rng(1).normal(size=(9, 4))
    _, W = scores(A, "svd")
    s = np.linalg.norm(W, axis=1)
    assert np.allclose(s, np.linalg.svd(A, compute_uv=False), rtol=1e-13)
    assert np.allclose(W @ W.T, np.diag(s**2), atol=1e-13)
    assert ((W / s[:, None]).sum(axis=1) > 0).all()


def test_where_a_column_sum_is_nothing_the_first_large_entry_is_positive() -> None:
    V = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
    for flip in (1.0, -1.0):
        _, W = scores(np.diag([3.0, flip]) @ V, "svd")
        assert W[1, 0] > 0
        assert abs(W[1].sum()) < 1e-8


@pytest.mark.parametrize("near", [1e-7, 1e-9, 1e-11])
def test_nearly_dependent_columns_stay_orthonormal(near: float) -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(60, 4))
    A[:, 3] = A[:, 0] + A[:, 1] + near * rng.normal(size=60)
    D = gqr(A)
    assert D.rank == 4
    assert orthonormal(D.Q)
    assert (np.abs(A - D.Q @ D.R) <= 10 * EPS * np.linalg.norm(A, axis=0)).all()


def test_a_dependent_column_gives_way_to_the_ones_before_it() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 9, 1))
    assert gqr(np.hstack([a, b, a + b])).pivots == (0, 1)
    assert gqr(np.hstack([a + b, a, b])).pivots == (0, 1)
    assert gqr(np.hstack([a, 2 * a, b])).pivots == (0, 2)


def test_the_rank_decision_can_be_made_column_by_column() -> None:
    A = np.array([[1.0, 1.0, 1.0], [0.0, 1e-6, 0.0], [0.0, 0.0, 1e-6]])
    assert gqr(A, np.array([0.0, 1e-5, 1e-7])).pivots == (0, 2)


@pytest.mark.parametrize("shape", [(5, 0), (3, 7), (1, 1), (4, 4)])
def test_any_shape(shape: tuple[int, int]) -> None:
    D = gqr(np.ones(shape))
    assert D.rank == min(1, shape[1])
    assert repr(D) == f"GQR({shape[0]} x {shape[1]}, rank {D.rank})"


@settings(max_examples=100, deadline=None)
@given(A=matrices(), seed=st.integers(0, 2**32))
def test_split_is_orthogonal_and_adds_up(A: Array, seed: int) -> None:
    Y = np.random.default_rng(seed).normal(size=(len(A), 2))
    Yhat, E = split(Y, A)
    assert np.allclose(Yhat + E, Y, rtol=0, atol=10 * EPS)
    assert (np.abs(A.T @ E) <= 1e-11 * np.linalg.norm(A, axis=0)[:, None]).all()


def test_what_is_explained_has_residual_exactly_zero() -> None:
    rng = np.random.default_rng(1)
    X = np.hstack([np.ones((40, 1)), rng.normal(size=(40, 3))])
    Y = np.hstack([X @ rng.normal(size=(4, 2)) * 1e6, rng.normal(size=(40, 1))])
    Yhat, E = split(Y, X)
    assert not E[:, :2].any()
    assert np.array_equal(Yhat[:, :2], Y[:, :2])
    assert E[:, 2].all()


def test_freedom_counts_independent_columns() -> None:
    X = np.ones((7, 3))
    assert freedom(X, None) == 6
    assert freedom(X, 1000) == 999


def test_the_intercept_is_added_where_the_span_lacks_it() -> None:
    groups = np.eye(3)[[0, 0, 1, 1, 2, 2]]
    assert ensure_intercept(groups) is groups  # "- 1 + C(region)" still spans the ones
    assert ensure_intercept(groups[:, :2]).shape == (6, 3)
    assert (ensure_intercept(groups[:, :2])[:, 0] == 1).all()
