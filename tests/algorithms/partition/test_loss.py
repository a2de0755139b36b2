"""The scale and the loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.algorithms.partition.loss import information_loss, standardised


@given(seed=st.integers(0, 2**32), unit=st.integers(-900, 900))
def test_scores_have_mean_zero_and_variance_one_in_any_unit(seed: int, unit: int) -> None:
    Y = np.random.default_rng(seed).exponential(size=(50, 3))
    Z = standardised(Y)
    assert np.abs(Z.mean(axis=0)).max() < 1e-14
    assert np.abs((Z**2).mean(axis=0) - 1).max() < 1e-14
    assert np.array_equal(standardised(np.ldexp(Y, unit)), Z)


@pytest.mark.parametrize("value", [0.0, 0.1, -999.0, 1e300, 1e-320])
def test_a_constant_column_is_zero(value: float) -> None:
    assert not standardised(np.full((7, 1), value)).any()


def test_the_largest_numbers_do_not_overflow() -> None:
    assert standardised(np.array([[1.7e308], [-1.7e308]])).ravel().tolist() == [1.0, -1.0]


@given(seed=st.integers(0, 2**32), offset=st.sampled_from([0.0, 1e6, -999.0]))
def test_the_loss_is_between_nothing_and_all(seed: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    V, labels = offset + rng.standard_normal((40, 2)), rng.permutation(np.repeat(np.arange(10), 4))
    means = np.stack([V[labels == g].mean(axis=0) for g in range(10)])
    expected = 100 * ((V - means[labels]) ** 2).sum() / ((V - V.mean(axis=0)) ** 2).sum()
    assert information_loss(V, labels) == pytest.approx(expected, rel=1e-9)
    assert information_loss(V, np.arange(40)) == 0.0
    assert information_loss(V, np.zeros(40, dtype=np.int64)) == pytest.approx(100.0, rel=1e-12)


def test_where_nothing_varies_nothing_is_lost() -> None:
    assert information_loss(np.ones((4, 2)), np.array([0, 0, 1, 1])) == 0.0
