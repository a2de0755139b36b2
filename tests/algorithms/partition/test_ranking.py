"""One column: consecutive ranks, and the optimum against all partitions there are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algorithms.partition.loss import information_loss, sse
from suffice.algorithms.partition.ranking import optimal, ranking
from suffice.errors import InfeasibleError
from tests.algorithms.partition.cases import shared
from tests.places import matrix, needs_shared
from tests.tolerances import REFERENCE

columns = st.lists(st.integers(-50, 50), min_size=6, max_size=22).map(lambda values: np.array(values, dtype=float))


@settings(max_examples=80, deadline=None)
@given(y=columns, k=st.integers(1, 6))
def test_groups_are_runs_of_the_sorted_column(y: np.ndarray, k: int) -> None:
    order = np.argsort(y, kind="stable")
    for labels in (ranking(y, k), optimal(y, k)):
        sizes = np.bincount(labels)
        assert sizes.min() >= k
        assert sizes.max() < 2 * k
        assert (np.diff(labels[order]) >= 0).all()
    assert (np.bincount(ranking(y, k))[:-1] == k).all()


@settings(max_examples=80, deadline=None)
@given(y=columns, k=st.integers(1, 6))
def test_no_partition_into_runs_loses_less(y: np.ndarray, k: int) -> None:
    z = np.sort(y)

    @cache
    def least(i: int) -> float:
        """The least sum of squares of z[i:], over groups of every size from k on."""
        if i == len(z):
            return 0.0
        ends = range(i + k, len(z) + 1)
        return min((float(((z[i:e] - z[i:e].mean()) ** 2).sum()) + least(e) for e in ends), default=np.inf)

    assert sse(y[:, None], optimal(y, k)) == pytest.approx(least(0), rel=1e-12, abs=1e-9)
    assert sse(y[:, None], optimal(y, k)) <= sse(y[:, None], ranking(y, k)) + 1e-9


def test_an_offset_does_not_change_the_optimum() -> None:
    y = np.random.default_rng(1).integers(0, 1000, 300).astype(float)
    assert np.array_equal(optimal(y, 3), optimal(y + 2.0**40, 3))


def test_a_gap_is_not_bridged() -> None:
    y = np.array([1.0, 2.0, 3.0, 4.0, 100.0, 101.0, 102.0])
    assert information_loss(y[:, None], optimal(y, 3)) < information_loss(y[:, None], ranking(y, 3))


def test_too_few_records_are_refused() -> None:
    for part in (ranking, optimal):
        with pytest.raises(InfeasibleError, match="Groups of 3"):
            part(np.zeros(2), 3)


@needs_shared
def test_individual_ranking_of_sdcmicro() -> None:
    Y, peer = shared("Tarragona"), matrix("sdcmicro_ma_onedims_Tarragona")
    for y, theirs in zip(Y.T, peer.T, strict=True):
        labels = ranking(y, 3)
        means = (np.bincount(labels, y) / np.bincount(labels))[labels]
        assert np.abs(means - theirs).max() <= REFERENCE * np.abs(theirs).max()
