"""Residual and score correlation: what d controls, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import scores, split
from suffice.errors import InfeasibleError, UsageError
from suffice.microdata import Addition, Ipso, Mixture, ResidualCorrelation, ScoreCorrelation

rng = np.random.default_rng(2008)
X: Array = np.hstack([np.ones((20, 1)), rng.normal(size=(20, 2))])
Y: Array = rng.normal(size=(20, 3)) @ (np.eye(3) + 0.3)
Z: Array = rng.normal(size=(20, 3))
E: Array = split(Y, X)[1]


def residual_correlations(Ystar: Array) -> Array:
    Estar = split(Ystar, X)[1]
    return (E * Estar).sum(axis=0) / np.linalg.norm(E, axis=0) / np.linalg.norm(Estar, axis=0)


@pytest.mark.parametrize("d", [0.7, 0.0, -0.4, (0.5, 0.4, 0.6), (0.0, 0.1, 0.0), (-0.2, 0.1, 0.3)])
def test_residuals_have_the_correlation_asked(d: float | tuple[float, ...]) -> None:
    assert np.allclose(residual_correlations(ResidualCorrelation(d).solve(X, Y, Z)), d, atol=1e-12)


def test_where_d_is_not_feasible_shrink_scales_every_correlation() -> None:
    d = (0.95, 0.1, 0.9)
    with pytest.raises(InfeasibleError, match="largest feasible alpha 0"):
        ResidualCorrelation(d).solve(X, Y, Z)
    method = ResidualCorrelation(d, shrink=0.8)
    reached = residual_correlations(method.solve(X, Y, Z)) / d
    assert np.allclose(reached, reached[0])
    assert reached[0] < 0.8
    assert f"alpha = {reached[0]:.4g}" in method.mask(X, Y, Z).remarks[0]


def test_where_d_is_feasible_shrink_changes_nothing() -> None:
    plain, shrunk = ResidualCorrelation((0.5, 0.4, 0.6)), ResidualCorrelation((0.5, 0.4, 0.6), shrink=0.5)
    assert np.array_equal(plain.solve(X, Y, Z), shrunk.solve(X, Y, Z))
    assert shrunk.mask(X, Y, Z).remarks == ()


def test_dependent_columns_need_equal_d() -> None:
    dependent = np.column_stack([Y[:, 0], Y[:, 1], Y[:, 0] + Y[:, 1]])
    with pytest.raises(InfeasibleError, match="Columns 3, 1 and 2 are linearly dependent, so their d must be equal"):
        ResidualCorrelation((0.5, 0.5, 0.4)).solve(X, dependent, Z)
    released = ResidualCorrelation(0.5).solve(X, dependent, Z)
    assert np.allclose(released[:, 2], released[:, 0] + released[:, 1])


def test_scores_have_the_correlation_asked() -> None:
    d = (0.3, None, -0.8)
    for by in ("qr", "svd"):
        T, W = scores(E, by)  # type: ignore[arg-type]
        released = ScoreCorrelation(d, by=by).solve(X, Y, Z)  # type: ignore[arg-type]
        after = split(released, X)[1] @ np.linalg.pinv(W)
        correlation = (T * after).sum(axis=0)
        assert np.allclose(correlation[[0, 2]], [0.3, -0.8], atol=1e-12)
        assert abs(correlation[1]) > 1e-3  # not controlled


def test_uncorrelated_is_not_ipso() -> None:
    assert np.allclose(residual_correlations(ScoreCorrelation(0.0).solve(X, Y, Z)), 0, atol=1e-12)
    assert np.abs(residual_correlations(Ipso().solve(X, Y, Z))).max() > 0.1


def test_the_first_variable_in_the_order_has_its_d_exactly() -> None:
    released = ScoreCorrelation((0.9, 0.1, 0.2), order=(2, 0, 1)).solve(X, Y, Z)
    assert residual_correlations(released)[2] == pytest.approx(0.9)
    assert np.allclose(released.T @ released, Y.T @ Y)
    with pytest.raises(UsageError, match="order has 2 positions and there are 3 variables"):
        ScoreCorrelation(0.5, order=(1, 0)).solve(X, Y, Z)


def test_kept_scores_need_no_random_numbers() -> None:
    assert ScoreCorrelation((0.1, None, 1, 0.9)).draws(4) == 3
    assert ScoreCorrelation(-1).draws(4) == 0
    released = ScoreCorrelation((1, 0.5, 0.5)).solve(X, Y, Z[:, :2])
    assert np.allclose(released[:, 0], Y[:, 0])  # as if the variable were given


def test_entries_for_dependent_variables_go_with_the_pivots() -> None:
    dependent = np.column_stack([Y[:, 0], 2 * Y[:, 0], Y[:, 1]])
    per_variable = ScoreCorrelation((0.9, 0.5, 0.1)).solve(X, dependent, Z)
    assert np.allclose(per_variable, ScoreCorrelation((0.9, 0.1)).solve(X, dependent, Z))


def test_too_few_directions_are_said_with_the_numbers() -> None:
    with pytest.raises(InfeasibleError) as refused:
        ScoreCorrelation(0.5).solve(X[:8], Y[:8], Z[:8])
    assert str(refused.value).splitlines() == [
        "ScoreCorrelation needs 3 new residual directions and the data leave 2.",
        "  rows 8 . independent columns of X 3 . original scores kept apart 3",
        "Use fewer given terms, merge small groups, or mask fewer variables together.",
    ]


def test_addition_keeps_the_residuals_of_the_start() -> None:
    start = np.round(Y, 1)
    _, Eg = split(start, X)
    added = split(Addition(start=start, alpha=0.4).solve(X, Y, Z), X)[1] - 0.4 * Eg
    assert np.allclose(added.T @ Eg, 0, atol=1e-12)  # the addition is orthogonal to them


def test_addition_out_of_reach_is_refused_or_shrunk() -> None:
    with pytest.raises(InfeasibleError, match=r"at alpha 1\.\n  largest feasible alpha 0\.2 "):
        Addition(start=5 * Y).solve(X, Y, Z)
    assert "alpha = 0.1 is used" in Addition(start=5 * Y, shrink=0.5).mask(X, Y, Z).remarks[0]
    assert Addition(start=5 * Y, alpha=0.1, shrink=0.5).mask(X, Y, Z).remarks == ()


def test_scores_of_records_that_lack_a_column() -> None:
    Y = np.random.default_rng(1).normal(size=(60, 3))
    frame = pd.DataFrame(Y, columns=list("abc"))
    frame.loc[::2, "a"] = np.nan
    roles, part = Roles(confidential=list("abc"), missing="patterns"), frame["a"].isna()

    def first(method: ScoreCorrelation, name: str) -> float:
        after = protect(frame, roles, method, seed=Seed.for_tests(1)).aligned()
        return float(np.corrcoef(frame.loc[part, name], after.loc[part, name])[0, 1])

    assert first(ScoreCorrelation((0.5, 0.2, 0.3)), "b") == pytest.approx(0.2)
    assert first(ScoreCorrelation((0.7, 0.4, 0.3), order=(0, 2, 1)), "c") == pytest.approx(0.4)
    protect(frame, roles, ScoreCorrelation((0.5, 0.2, None), by="svd"), seed=Seed.for_tests(1))
    with pytest.raises(UsageError, match="one for each of the 3 variables"):
        protect(frame.assign(c=frame["a"] + frame["b"]), roles, ScoreCorrelation((0.5, 0.2)), seed=Seed.for_tests(1))


@pytest.mark.parametrize("kind", [ResidualCorrelation, Mixture])
def test_what_is_told_of_each_column_goes_with_it_where_another_is_missing(kind: Any) -> None:
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 3)), columns=list("abc"))
    frame.loc[::2, "a"] = np.nan
    roles, both = Roles(confidential=list("abc"), missing="patterns"), {"b": 0.2, "c": 0.3}
    after = protect(frame, roles, kind((0.5, 0.2, 0.3)), seed=Seed.for_tests(1)).aligned()
    if kind is ResidualCorrelation:
        for part, d in ((frame["a"].isna(), both), (frame["a"].notna(), {"a": 0.5, **both})):
            found = {name: np.corrcoef(frame.loc[part, name], after.loc[part, name])[0, 1] for name in d}
            assert found == pytest.approx(d)
    with pytest.raises(UsageError, match="2 entries and there are 3"):
        protect(frame, roles, kind((0.5, 0.2)), seed=Seed.for_tests(1))
