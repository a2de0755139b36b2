"""MDAV: the definition, both ways of computing it, the literature's figures and a peer's groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.algorithms.partition.loss import information_loss, standardised
from suffice.algorithms.partition.mdav import mdav
from suffice.errors import InfeasibleError, InputError, UsageError
from tests.algorithms.partition.cases import Array, definition, shared, tables
from tests.places import matrix, needs_shared

LOSS = {
    "Tarragona": ["16.9326", "19.5460", "22.4619", "33.1929"],
    "CASCrefmicrodata": ["5.6922", "7.4947", "9.0884", "14.1559"],
    "EIA": ["0.4829", "0.6713", "1.6667", "3.8397"],
}


@settings(max_examples=150, deadline=None)
@given(tables())
def test_both_ways_are_the_definition_ties_included(table: tuple[Array, int]) -> None:
    V, k = table
    labels = definition(V, k)
    assert np.array_equal(mdav(V, k, compiled=False), labels)
    assert np.array_equal(mdav(V, k, compiled=True), labels)


@pytest.mark.parametrize(("p", "values"), [(1, 50), (2, 12), (5, 3), (5, 10**6), (13, 2), (13, 10**6)])
def test_both_ways_agree_where_the_tree_is_deep(p: int, values: int) -> None:
    V = np.random.default_rng(p).integers(0, values, (3001, p)).astype(float)
    assert np.array_equal(mdav(V, 4, compiled=True), mdav(V, 4, compiled=False))


@settings(max_examples=50, deadline=None)
@given(tables())
def test_groups_have_k_records_and_only_the_last_has_more(table: tuple[Array, int]) -> None:
    V, k = table
    sizes = np.bincount(mdav(V, k))
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] < 2 * k or len(V) < 2 * k == 2


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), compiled=st.booleans())
def test_the_order_of_rows_does_not_matter(seed: int, compiled: bool) -> None:
    rng = np.random.default_rng(seed)
    V, order = rng.standard_normal((200, 4)), rng.permutation(200)
    assert np.array_equal(mdav(V[order], 3, compiled), mdav(V, 3, compiled)[order])


def test_a_code_for_missing_is_an_ordinary_number() -> None:
    V = np.random.default_rng(1).standard_normal((90, 3))
    V[::9] = -999.0
    labels = mdav(V, 5)
    assert len(set(labels[::9])) == 2  # ten equal records, and nothing else, make two groups
    assert np.isin(labels, labels[::9]).sum() == 10


def test_offsets_and_units_change_nothing() -> None:
    Y = np.random.default_rng(2).integers(0, 1000, (300, 3)).astype(float)
    labels = mdav(standardised(Y), 3)
    assert np.array_equal(mdav(standardised(Y * 1024.0 + 2.0**40), 3), labels)


def test_too_few_records_are_refused_with_the_numbers() -> None:
    with pytest.raises(InfeasibleError, match="Groups of 5 need at least 5 records and there are 4"):
        mdav(np.zeros((4, 2)), 5)
    with pytest.raises(UsageError, match="k is 0"):
        mdav(np.zeros((4, 2)), 0)
    with pytest.raises(InputError, match="1 of 8 cells"):
        mdav(np.array([[np.nan, 1.0]] + [[1.0, 1.0]] * 3), 2)


@pytest.mark.parametrize("compiled", [True, False])
def test_progress_ends_with_all_records_but_the_last_groups(compiled: bool) -> None:
    seen: list[tuple[str, int, int]] = []
    mdav(np.random.default_rng(3).standard_normal((6100, 2)), 3, compiled, lambda *told: seen.append(told))
    assert all(stage == "groups" and total == 6100 for stage, _, total in seen)
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})
    assert seen[-1][1] >= 6000


@needs_shared
@pytest.mark.parametrize("name", LOSS)
@pytest.mark.parametrize("compiled", [True, False])
def test_the_information_loss_of_the_literature(name: str, compiled: bool) -> None:
    V = standardised(shared(name))
    assert [f"{information_loss(V, mdav(V, k, compiled)):.4f}" for k in (3, 4, 5, 10)] == LOSS[name]


@needs_shared
@pytest.mark.parametrize(("name", "peer"), [("Tarragona", "Tarragona"), ("CASCrefmicrodata", "CASC")])
def test_the_groups_of_sdcmicro(name: str, peer: str) -> None:
    """Two records of Tarragona (rows 759 and 760) are equal: which goes where is a tie, the groups are the same."""
    Y, theirs = shared(name), matrix(f"sdcmicro_mdav_{peer}_k3_group")[:, 0].astype(int)
    record = np.unique(Y, axis=0, return_inverse=True)[1].ravel()

    def groups(labels: NDArray[np.int64]) -> list[list[int]]:
        return sorted(sorted(record[labels == label].tolist()) for label in set(labels))

    assert groups(mdav(standardised(Y), 3)) == groups(theirs)
