"""Mera's Theorems 1 and 2, and how far a reflection can be told to move every column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algorithms.reflection.direction import aimed
from suffice.errors import InfeasibleError, UsageError
from suffice.microdata import Householder
from tests.tolerances import ALGEBRA, CHANCE, ENGINE
from tests.truth import EPS, ratios


def change(X: Array, Y: Array, Ystar: Array) -> Array:
    """Root mean square change of every column that X does not explain, in residual standard deviations."""
    E = split(Y, X)[1]
    moved = np.linalg.norm(Ystar - Y, axis=0)[E.any(axis=0)]
    return np.asarray(moved / np.linalg.norm(E[:, E.any(axis=0)], axis=0))


def profile(seed: int, n: int, k: int, m: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    X = np.hstack([np.ones((n, 1)), rng.normal(size=(n, m))])
    return X, 10 + rng.normal(size=(n, k)) @ rng.normal(size=(k, k)), rng.normal(size=(n, 1))


seeds = st.integers(0, 2**32)


def test_theorem_2_through_the_whole_way() -> None:
    rng = np.random.default_rng(6)
    region = rng.choice(["n", "s", "e"], 300)
    frame = pd.DataFrame({"region": region, "y0": 50 + rng.normal(size=300), "y1": rng.exponential(size=300)})
    roles = Roles(confidential=["y0", "y1"], groups=["region"])
    release = protect(frame, roles, Householder(change=0.6), seed=Seed.for_tests(1))
    assert release.certificate.holds
    assert release.assessment.direction.reflected
    aligned = release.aligned()
    for each in ("n", "s", "e"):
        before, after = (table.loc[region == each, ["y0", "y1"]].to_numpy() for table in (frame, aligned))
        none, ones = np.empty((len(before), 0)), np.ones((len(before), 1))
        assert max(ratios(none, before, none, after).values()) <= ALGEBRA
        assert change(ones, before, after).min() == pytest.approx(0.6)


@settings(max_examples=60, deadline=None)
@given(seed=seeds, n=st.integers(8, 60), k=st.integers(1, 4), m=st.integers(0, 2))
def test_theorem_1(seed: int, n: int, k: int, m: int) -> None:
    X, Y, Z = profile(seed, n, k, m)
    for method in (Householder(), Householder(change=0.3)):
        Ystar = method.solve(X, Y, Z)
        assert max(ratios(X[:, 1:], Y, X[:, 1:], Ystar).values()) <= ALGEBRA


@settings(max_examples=40, deadline=None)
@given(seed=seeds, n=st.integers(8, 60), k=st.integers(2, 4))
def test_it_is_the_reflection_of_the_paper(seed: int, n: int, k: int) -> None:
    """y_ij = x_ij - lambda_j eps_i with lambda_j = 2 <x_j, eps> / |eps|^2 (5), and applied twice it is nothing."""
    X, Y, Z = profile(seed, n, k)
    Ystar = Householder(change=0.3).solve(X, Y, Z)
    eps = (Y - Ystar)[:, 0]
    lam = 2 * eps @ Y / (eps @ eps)
    assert np.abs(Y - np.outer(eps, lam) - Ystar).max() <= ENGINE * np.abs(Y).max()
    assert abs(eps.sum()) <= ENGINE * np.abs(Y).max() * n
    back = Ystar - np.outer(eps, 2 * eps @ Ystar / (eps @ eps))
    assert np.abs(back - Y).max() <= ENGINE * np.abs(Y).max()


@settings(max_examples=30, deadline=None)
@given(seed=seeds, sizes=st.lists(st.integers(7, 30), min_size=2, max_size=4), k=st.integers(1, 3))
def test_theorem_2_every_domain_keeps_its_own(seed: int, sizes: list[int], k: int) -> None:
    rng = np.random.default_rng(seed)
    domain = np.repeat(np.arange(len(sizes)), sizes)
    Y = rng.normal(size=(len(domain), k)) + domain[:, None]
    Ystar = np.empty_like(Y)
    for each in range(len(sizes)):
        here = domain == each
        Ystar[here] = Householder(change=0.4).solve(np.ones((here.sum(), 1)), Y[here], rng.normal(size=(here.sum(), 1)))
    none = np.empty((len(domain), 0))
    for here in [domain == each for each in range(len(sizes))] + [domain >= 0]:
        assert max(ratios(none[here], Y[here], none[here], Ystar[here]).values()) <= ALGEBRA
    dummies = (domain[:, None] == np.arange(len(sizes))).astype(float)
    before, after = (np.linalg.lstsq(dummies, A, rcond=None)[0] for A in (Y, Ystar))
    assert np.allclose(before, after, rtol=0, atol=ENGINE * np.abs(Y).max())  # an analysis of variance


@settings(max_examples=60, deadline=None)
@given(seed=seeds, k=st.integers(1, 12), near=st.sampled_from([0.0, 1e-3, 1.0]), share=st.floats(0.05, 0.999))
def test_any_columns_allow_what_bang_says(seed: int, k: int, near: float, share: float) -> None:
    rng = np.random.default_rng(seed)
    X, Z = np.ones((60, 1)), rng.normal(size=(60, 1))
    Y = rng.normal(size=(60, 2)) @ rng.normal(size=(2, k)) + near * rng.normal(size=(60, k))
    target = share * 2**0.5 / k
    reached = change(X, Y, Householder(change=target).solve(X, Y, Z))
    assert reached.min() == pytest.approx(target, rel=ENGINE)
    assert reached.max() <= 2**0.5 * (1 + ENGINE)  # never back to -E


@pytest.mark.parametrize(("k", "reach"), [(1, 1.4142), (2, 1.0), (8, 0.5), (22, 0.301)])
def test_uncorrelated_columns_allow_sqrt_2_over_k(k: int, reach: float) -> None:
    X = np.ones((64, 1))
    E = np.linalg.qr(split(np.random.default_rng(k).normal(size=(64, k)), X)[1])[0]
    Z = np.random.default_rng(99).normal(size=(64, 1))
    assert change(X, E, Householder(change=reach).solve(X, E, Z)) == pytest.approx(np.full(k, reach))
    if k == 1:
        return
    with pytest.raises(InfeasibleError, match=rf"columns that vary {k}") as caught:
        Householder(change=reach + 0.01).solve(X, E, Z)
    assert caught.value.exit_code == 5
    assert f"reached {np.floor(1000 * (2 / k) ** 0.5) / 1000:g}" in str(caught.value)


def test_the_plain_reflection_is_nearly_nothing() -> None:
    """2 |u'e_j| / |e_j| has mean 2 sqrt(2/pi) / sqrt(n - 1): 1.6 / sqrt(n)."""
    n, rng = 400, np.random.default_rng(3)
    X, Y = np.ones((n, 1)), rng.normal(size=(n, 1))
    found = [change(X, Y, Householder().solve(X, Y, rng.normal(size=(n, 1))))[0] for _ in range(400)]
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - 2 * np.sqrt(2 / np.pi / (n - 1))) < CHANCE * error
    assert abs(np.mean(found) - 2 / np.sqrt(n - 1)) > CHANCE * error  # the test sees a wrong constant


def test_the_direction_is_as_secret_as_the_target_allows() -> None:
    """Two keys share neither the part among the residuals nor the part beside them."""
    X, Y, _ = profile(5, 200, 3)
    E, rng = split(Y, X)[1], np.random.default_rng(1)
    u = np.hstack([Householder(change=0.3).direction(X, E, rng.normal(size=(200, 1))) for _ in range(40)])
    T = np.linalg.qr(E)[0]
    among, beside = T.T @ u, u - T @ (T.T @ u)
    assert (np.linalg.norm(beside, axis=0) >= 0.5**0.5 - EPS).all()
    apart = np.corrcoef(beside.T)[np.triu_indices(40, 1)]
    assert abs(apart.mean()) < CHANCE / np.sqrt(200 * len(apart))
    directions = np.unique((np.abs(among) / np.linalg.norm(among, axis=0)).round(6), axis=1)
    assert directions.shape[1] == 40  # not a choice of signs, which anyone could go through


def test_no_room_beside_the_residuals() -> None:
    X, Y, Z = profile(1, 4, 3)
    Ystar = Householder(change=0.2).solve(X, Y, Z)
    assert max(ratios(X[:, 1:], Y, X[:, 1:], Ystar).values()) <= ALGEBRA
    assert (change(X, Y, Ystar) >= 0.2).all()


def test_constant_and_explained_columns_stay_bit_for_bit() -> None:
    X, Y, Z = profile(2, 30, 3, m=1)
    Y[:, 1], Y[:, 2] = 7.0, 3 * X[:, 1]
    Ystar = Householder(change=0.9).solve(X, Y, Z)
    assert np.array_equal(Ystar[:, 1:], Y[:, 1:])
    assert change(X, Y, Ystar) == pytest.approx([0.9])
    assert np.array_equal(Householder(change=0.9).solve(X, Y[:, 1:], Z), Y[:, 1:])


def test_remarks_tell_the_change_of_each_column() -> None:
    X, Y, Z = profile(2, 30, 2)
    (said,) = Householder(change=0.5).mask(X, Y, Z).remarks
    assert [float(word) for word in said.partition(": ")[2].split(", ")] == pytest.approx(
        change(X, Y, Householder(change=0.5).solve(X, Y, Z)), abs=6e-4
    )
    assert Householder().mask(X, np.ones((30, 1)), Z).remarks == ()


@pytest.mark.parametrize("bad", [0, 1.5, -0.3, "much", True, float("nan")])
def test_a_change_that_no_reflection_has_is_refused(bad: object) -> None:
    with pytest.raises(UsageError, match="change"):
        Householder(change=bad)  # type: ignore[arg-type]


def test_the_shortest_direction_reaches_more_than_bang_promises() -> None:
    """Columns of different mutual correlation: what is promised is .28 for five of them, .9 is reached."""
    rng = np.random.default_rng(8)
    X, Z = np.ones((200, 1)), rng.normal(size=(200, 1))
    common = rng.normal(size=(200, 1))
    Y = common @ rng.choice([-1.0, 1.0], (1, 5)) + rng.normal(size=(200, 5)) * [0.1, 0.3, 1, 2, 3]
    assert change(X, Y, Householder(change=0.9).solve(X, Y, Z)).min() == pytest.approx(0.9)
    with pytest.raises(InfeasibleError, match=r"reached 0\.9\d"):
        Householder(change=1.2).solve(X, Y, Z)


def test_signs_agree_where_columns_are_tied() -> None:
    W = np.eye(3)
    for g in (np.ones(3), np.array([1.0, -1.0, 1e-300])):
        a = aimed(W, g, 0.7)
        assert np.abs(2 * a) == pytest.approx(np.full(3, 0.7), rel=0.8)
        assert np.abs(2 * a).min() == pytest.approx(0.7)
