"""Laws of `solve`, for every method that is registered and every shape of data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, scores, split
from suffice.catalogue import methods
from suffice.errors import InfeasibleError
from suffice.method.isometric import Isometric
from suffice.microdata import Addition, Ipso, Mixture, ResidualCorrelation, Restore, Romm, ScoreCorrelation
from tests.tolerances import ALGEBRA, ENGINE

EPS = np.finfo(float).eps


def registered() -> list[Isometric]:
    """Every example of every method; one that needs a companion follows a mask."""
    examples = [example for method in methods().values() for example in method.examples()]
    isometric = [example for example in examples if isinstance(example, Isometric)]
    masks = {Restore: Mixture(0.6), Addition: Romm(lam=0.3)}
    return [masks[type(e)].then(e) if type(e) in masks else e for e in isometric]


METHODS = {f"{method.name} {method.parameters()}": method for method in registered()}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@dataclass(frozen=True, repr=False)
class Case:
    X: Array
    Y: Array
    Z: Array

    def __repr__(self) -> str:
        return f"Case(X {self.X.shape}, Y {self.Y.shape}, Z {self.Z.shape})"


@st.composite
def cases(draw: st.DrawFn, spare: int = 2, scales: bool = True) -> Case:
    """Given columns, maybe collinear; confidential ones, maybe dependent, constant or of odd scale."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, k = draw(st.integers(0, 3)), draw(st.integers(1, 4))
    n = 1 + m + 2 * k + spare + draw(st.integers(0, 20))
    X = np.hstack([np.ones((n, 1)), rng.normal(size=(n, m))])
    if m and draw(st.booleans()):
        # collinear, with no vanishing part: a column that is all rounding error in one order may be 1e-12 in another
        X = np.hstack([X, X @ (rng.choice([-1.0, 1.0], (m + 1, 1)) * rng.uniform(0.5, 2, (m + 1, 1)))])
    Y = X @ rng.normal(size=(X.shape[1], k)) + rng.normal(size=(n, k)) @ (np.eye(k) + rng.uniform(0, 1, (k, k)))
    if k > 2 and draw(st.booleans()):
        Y[:, 2] = Y[:, 0] + Y[:, 1]
    if k > 1 and draw(st.booleans()):
        Y[:, 1] = 7.0
    if scales:
        Y = Y * 10.0 ** np.array(draw(st.lists(st.integers(-8, 12), min_size=k, max_size=k)))
    return Case(X, Y, rng.normal(size=(n, 3 * k)))


def sd(A: Array) -> Array:
    spread: Array = np.std(A, axis=0)
    return spread


def ratio(X: Array, Y: Array, Ystar: Array, promises: tuple[str, ...]) -> float:
    """The largest scaled error of what is promised, in units of what the digits can hold."""
    varying = sd(Y) > 4 * EPS * np.abs(Y).max(axis=0)
    assert np.array_equal(Y[:, ~varying], Ystar[:, ~varying]) or not promises  # constant: kept bit for bit
    Y, Ystar, s = Y[:, varying], Ystar[:, varying], sd(Y)[varying]
    if not s.size:
        return 0.0
    scaled_X = ((X - X.mean(axis=0)) / np.where(sd(X) > 1e-9, sd(X), np.inf)) / len(X)
    errors = {
        "mean": np.abs(Ystar.mean(axis=0) - Y.mean(axis=0)) / s,
        "covariance": np.abs(np.cov(Ystar.T, bias=True) - np.cov(Y.T, bias=True)) / np.outer(s, s),
        "fit": np.abs(scaled_X.T @ (Ystar - Y)) / s,
    }
    worst = max((errors[promise].max() for promise in promises), default=0.0)
    return float(worst / (EPS * max(1.0, (np.abs(Y).max(axis=0) / s).max())))


@every_method
@settings(max_examples=40, deadline=None)
@given(case=cases())
def test_promises_are_kept(method: Isometric, case: Case) -> None:
    Ystar = method.solve(case.X, case.Y, case.Z)
    assert Ystar.shape == case.Y.shape
    assert ratio(case.X, case.Y, Ystar, method.kept) <= ALGEBRA


HARD = {
    "nearly the same": lambda x, z: (x, x + 1e-7 * z),
    "nearly a sum": lambda x, z: (x, z, x + z + 1e-9 * x * z),
    "far from zero": lambda x, z: (x + 1e7, z),
    "years": lambda x, z: (2000 + np.round(x), (2000 + np.round(x)) ** 2, z),
}


@every_method
@pytest.mark.parametrize("kind", HARD)
def test_plain_arrays_may_have_given_columns_that_are_nearly_collinear(method: Isometric, kind: str) -> None:
    """Ratios of 500 to 10^8 without care: two bases of such columns differ by their condition."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.column_stack([np.ones(90), *HARD[kind](*rng.normal(size=(2, 90)))])
        Y = (X - X.mean(axis=0)) @ rng.normal(size=(X.shape[1], 2)) / np.ptp(X, axis=0).max() + rng.normal(size=(90, 2))
        assert ratio(X, Y, method.solve(X, Y, rng.normal(size=(90, 6))), method.kept) <= ALGEBRA


@every_method
@settings(max_examples=20, deadline=None)
@given(case=cases())
def test_data_are_changed(method: Isometric, case: Case) -> None:
    Ystar = method.solve(case.X, case.Y, case.Z)
    _, E = split(case.Y, case.X)
    size = np.linalg.norm(E, axis=0)
    change = np.linalg.norm(Ystar - case.Y, axis=0)
    assert (change >= 1e-3 * size).all()


@every_method
@settings(max_examples=20, deadline=None)
@given(case=cases(scales=False))
def test_isometry(method: Isometric, case: Case) -> None:
    n = len(case.X)
    Q = gqr(np.random.default_rng(n).normal(size=(n + 9, n))).Q
    tall = method.solve(Q @ case.X, Q @ case.Y, Q @ case.Z, n)
    small = Q @ method.solve(case.X, case.Y, case.Z, n)
    assert np.abs(tall - small).max() <= ENGINE * np.abs(case.Y).max()


@every_method
@settings(max_examples=20, deadline=None)
@given(case=cases(scales=False), seed=st.integers(0, 2**32))
def test_order_and_units_of_given_columns_do_not_matter(method: Isometric, case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = case.X[:, rng.permutation(case.X.shape[1])] * 10.0 ** rng.uniform(-5, 5, case.X.shape[1])
    difference = method.solve(X, case.Y, case.Z) - method.solve(case.X, case.Y, case.Z)
    assert np.abs(difference).max() <= ENGINE * np.abs(case.Y).max()


@every_method
@settings(max_examples=20, deadline=None)
@given(case=cases(scales=False), seed=st.integers(0, 2**32))
def test_units_of_confidential_columns_do_not_matter_except_by_svd(method: Isometric, case: Case, seed: int) -> None:
    units = 10.0 ** np.random.default_rng(seed).uniform(-8, 8, case.Y.shape[1])
    difference = method.solve(case.X, case.Y * units, case.Z) / units - method.solve(case.X, case.Y, case.Z)
    same = np.abs(difference).max() <= ENGINE * np.abs(case.Y).max()
    assert same or "'svd'" in str(method.parameters())


@every_method
@settings(max_examples=20, deadline=None)
@given(case=cases(scales=False))
def test_no_more_random_columns_are_used_than_drawn(method: Isometric, case: Case) -> None:
    used = case.Z.copy()
    used[:, method.draws(case.Y.shape[1]) :] = np.nan
    assert np.array_equal(method.solve(case.X, case.Y, used), method.solve(case.X, case.Y, case.Z), equal_nan=False)


@every_method
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 6), m=st.integers(0, 5), k=st.integers(1, 4))
def test_tiny_data_keep_the_promises_or_are_refused(method: Isometric, seed: int, n: int, m: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.hstack([np.ones((n, 1)), rng.normal(size=(n, m))])
    Y, Z = rng.normal(size=(n, k)), rng.normal(size=(n, 3 * k))
    left, needed = n - gqr(X).rank, 2 * gqr(split(Y, X)[1]).rank
    doubles = (
        "alpha-matrix",
        "residual-correlation",
        "score-correlation",
        "romm then addition",
    )  # new scores beside the old
    if method.name in doubles and method != ScoreCorrelation(None) and left < needed:
        with pytest.raises(InfeasibleError, match=f"rows {n} |largest feasible alpha"):
            method.solve(X, Y, Z)
        return
    Ystar = method.solve(X, Y, Z)
    assert ratio(X, Y, Ystar, method.kept) <= 10 * ALGEBRA  # (cond(X) is anything here)


@every_method
def test_no_confidential_variation_nothing_to_do(method: Isometric) -> None:
    X, Z = np.ones((6, 1)), np.random.default_rng(1).normal(size=(6, 6))
    Y = np.full((6, 2), 3.0)
    if method.kept:
        assert np.array_equal(method.solve(X, Y, Z), Y)


@settings(max_examples=30, deadline=None)
@given(case=cases(scales=False))
def test_limits_meet(case: Case) -> None:
    X, Y, Z = case.X, case.Y, case.Z
    bound = ENGINE * np.abs(Y).max()
    ipso, svd = Ipso().solve(X, Y, Z), Ipso(by="svd").solve(X, Y, Z)
    assert np.allclose(ScoreCorrelation(None).solve(X, Y, Z), ipso, rtol=0, atol=bound)
    assert np.allclose(ScoreCorrelation(None, by="svd").solve(X, Y, Z), svd, rtol=0, atol=bound)
    assert np.allclose(Romm(lam=1e12).solve(X, Y, Z), ipso, rtol=0, atol=bound)
    assert np.allclose(Romm(lam=1e-12).solve(X, Y, Z), Y, rtol=0, atol=bound)
    for method in (ScoreCorrelation(1), ScoreCorrelation(1, by="svd"), ResidualCorrelation(1)):
        assert np.allclose(method.solve(X, Y, Z), Y, rtol=0, atol=bound)


@settings(max_examples=30, deadline=None)
@given(case=cases(scales=False), d=st.floats(-1, 1))
def test_equal_correlations_are_the_same_in_both_hybrids(case: Case, d: float) -> None:
    # Langsrud (2019), section 3: with equal diagonal elements (7) and (8) are equivalent
    ours = ResidualCorrelation(d).solve(case.X, case.Y, case.Z)
    assert np.allclose(
        ours, ScoreCorrelation(d).solve(case.X, case.Y, case.Z), rtol=0, atol=ENGINE * np.abs(case.Y).max()
    )


@settings(max_examples=30, deadline=None)
@given(case=cases(scales=False))
def test_restoring_the_original_or_a_release_changes_nothing(case: Case) -> None:
    X, Y, Z = case.X, case.Y, case.Z
    bound = ENGINE * np.abs(Y).max()
    assert np.allclose(Restore(candidate=Y).solve(X, Y, Z), Y, rtol=0, atol=bound)
    release = Ipso().solve(X, Y, Z)
    assert np.allclose(Restore(candidate=release).solve(X, Y, Z), release, rtol=0, atol=bound)


def test_restoring_by_components_gives_each_the_scores_of_the_candidate_s() -> None:
    rng = np.random.default_rng(3)
    X, Z = np.ones((60, 1)), rng.normal(size=(60, 3))
    Y = rng.normal(size=(60, 3)) @ np.diag([9.0, 3.0, 1.0]) @ np.array([[2, 1, 1], [1, 2, 1], [-1, -1, 3.0]])
    candidate = Y + rng.normal(size=Y.shape)
    Ystar = Restore(candidate=candidate, by="svd").solve(X, Y, Z)
    T, W = scores(split(Ystar, X)[1], "svd")
    assert np.allclose(T, scores(split(candidate, X)[1], "svd")[0])
    assert np.allclose(W, scores(split(Y, X)[1], "svd")[1])
    assert not np.allclose(Ystar, Restore(candidate=candidate).solve(X, Y, Z))
    lacking = np.column_stack([candidate[:, 0], candidate[:, 0], candidate[:, 1]])
    assert Restore(candidate=lacking, by="svd").remarks(X, Y, Y)[0].startswith("1 of 3 residual scores")
    with pytest.raises(InfeasibleError, match="3 residual scores and the candidate has 2"):
        Restore(candidate=lacking, by="svd", fill=False).solve(X, Y, Z)


def test_a_parameter_that_was_added_later_changes_no_release_where_it_is_not_set() -> None:
    assert Restore().parameters() == {"fill": True}
    assert Restore(by="svd").parameters() == {"fill": True, "by": "svd"}
