"""The isometry: the small factor stands in for the rows, and what is carried back lands on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_triangular

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.algebra.factor import RFactor, triangle
from suffice.algebra.isometry import Basis, Isometry, Sample, scattered
from suffice.algebra.moments import Spread
from suffice.microdata import Ipso
from tests.tolerances import ALGEBRA, ENGINE

EPS = float(np.finfo(float).eps)


def tall(seed: int, n: int = 400, p: int = 5) -> Array:
    """The ones, then columns with offsets and odd scales, one of them dependent."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, p)) @ (np.eye(p) + rng.normal(size=(p, p)) / 3)
    W[:, 0] = 1.0
    W[:, 3] = W[:, 1] - 2 * W[:, 2]
    W[:, 1:] = (W[:, 1:] + 30 * rng.normal(size=p - 1)) * 10.0 ** rng.integers(-6, 7, p - 1)
    return W


def basis_of(W: Array, some: slice = slice(None)) -> Basis:
    spread = Spread.of(W)
    centre = np.where(np.arange(W.shape[1]) > 0, spread.mean, 0.0)
    return Basis.choose(Sample.of(W[some]), spread, centre)


def coordinates(basis: Basis, W: Array, Z: Array) -> Array:
    A = np.asfortranarray(np.hstack([W - basis.centre, Z]))
    basis.divide(A)
    return A


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), sampled=st.integers(20, 400))
def test_inner_products_are_those_of_the_rows(seed: int, sampled: int) -> None:
    W, Z = tall(seed), np.random.default_rng(seed).normal(size=(400, 2))
    basis = basis_of(W, slice(0, sampled))
    A = coordinates(basis, W, Z)
    small = Isometry.of(basis, RFactor.of(A)).columns(range(7))
    rows = np.hstack([W - basis.centre, Z])
    size = np.linalg.norm(rows, axis=0)
    assert (np.abs(small.T @ small - rows.T @ rows) <= 1e-12 * np.outer(size, size)).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), sampled=st.integers(20, 400))
def test_what_is_carried_back_is_the_formula_on_the_rows(seed: int, sampled: int) -> None:
    W, Z = tall(seed), np.random.default_rng(seed).normal(size=(400, 2))
    basis = basis_of(W, slice(0, sampled))
    A = coordinates(basis, W, Z)
    isometry = Isometry.of(basis, RFactor.of(A))
    X, Y = isometry.spanning(range(3)), isometry.columns([3, 4])
    change = A @ isometry.carry(Ipso().solve(X, Y, isometry.columns([5, 6])) - Y)
    direct = Ipso().solve(np.column_stack([W[:, 0], (W - W.mean(axis=0))[:, 1:3] / W.std(axis=0)[1:3]]), W[:, 3:], Z)
    assert np.abs((W[:, 3:] + change - direct) / W.std(axis=0)[3:]).max() <= ENGINE * 10


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_coordinates_of_a_whole_sample_are_orthonormal(seed: int) -> None:
    W = tall(seed)
    basis = basis_of(W)
    A = coordinates(basis, W, np.empty((400, 0)))
    kept = [0, 1, 2, 4]  # the fourth column depends on the two before it
    assert np.abs(A[:, kept].T @ A[:, kept] / 400 - np.eye(4)).max() <= 1e-9
    assert Isometry.of(basis, RFactor.of(A)).pivots == (0, 1, 2, 4)
    assert np.abs(A[:, 3]).max() <= 1e-9


def test_a_sample_that_tells_nothing_is_refined() -> None:
    W = tall(1, n=4000)
    W[:100, 4] = W[:100, 1]  # the sample sees a dependent column, the file has none
    basis = basis_of(W, slice(0, 100))
    Z = np.empty((4000, 0))
    first = Isometry.of(basis, RFactor.of(coordinates(basis, W, Z)))
    again = first.refined()
    second = Isometry.of(again, RFactor.of(coordinates(again, W, Z)))
    assert first.pivots == second.pivots == (0, 1, 2, 4)
    assert first.condition > 1.5
    assert second.condition < 1 + 1e-9


@pytest.mark.parametrize("power", [2, 6, 10, 12])
def test_division_row_by_row_costs_no_condition_number(power: int) -> None:
    rng = np.random.default_rng(power)
    W = rng.normal(size=(2000, 4))
    W[:, 0] = 1.0
    W[:, 2] = W[:, 1] + 10.0**-power * W[:, 2]
    basis = basis_of(W)
    A = coordinates(basis, W, np.empty((2000, 0)))
    isometry = Isometry.of(basis, RFactor.of(A))
    D = rng.normal(size=(4, 1))
    change = A @ isometry.carry(D)  # Q D: its products with the columns are those of D with the small factor
    found, expected = (W - basis.centre).T @ change, isometry.columns(range(4)).T @ D
    scale = np.linalg.norm(W - basis.centre, axis=0)[:, None] * np.linalg.norm(D)
    assert (np.abs(found - expected) / scale).max() <= ALGEBRA * EPS


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 200), p=st.integers(0, 6), steep=st.integers(0, 14))
def test_the_triangle_is_that_of_the_gram_matrix(seed: int, n: int, p: int, steep: int) -> None:
    A = np.random.default_rng(seed).normal(size=(n, p))
    if p > 1:
        A[:, -1] = A[:, 0] + 10.0**-steep * A[:, -1]
    R = triangle(A)
    size = np.linalg.norm(A, axis=0)
    assert (np.abs(R.T @ R - A.T @ A) <= 1e-14 * (p + 1) * np.outer(size, size)).all()
    assert np.array_equal(R, np.triu(R))


@pytest.mark.parametrize("steep", [0, 2, 4, 6, 8])
def test_the_triangle_loses_the_condition_once_not_twice(steep: int) -> None:
    A = np.random.default_rng(steep).normal(size=(500, 4))
    A[:, -1] = A[:, 0] + 10.0**-steep * A[:, -1]
    Q = solve_triangular(triangle(A), A.T, trans=1).T
    assert np.abs(Q.T @ Q - np.eye(4)).max() <= ALGEBRA * EPS * 10.0**steep


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), p=st.integers(1, 6))
def test_scattering_keeps_independent_columns_and_gives_others_a_place(seed: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(20, p))
    A[:, p // 2] = A[:, : p // 2].sum(axis=1)  # dependent; the first column becomes zero where p is 1
    found = gqr(A)
    T = scattered(found.R, found.pivots)
    assert np.array_equal(T, np.triu(T))
    assert (np.diagonal(T) > 0).all()
    assert T[p // 2, p // 2] == 1.0
    assert np.allclose(T[list(found.pivots)], found.R)
