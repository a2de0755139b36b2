"""The better partition: sizes, never worse than MDAV, the goals on the literature's files."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.algorithms.partition.best import best, canonical
from suffice.algorithms.partition.loss import information_loss, sse, standardised
from suffice.algorithms.partition.mdav import mdav
from suffice.algorithms.partition.ranking import optimal
from suffice.errors import InfeasibleError
from tests.algorithms.partition.cases import Array, shared, tables
from tests.algorithms.partition.test_mdav import LOSS
from tests.places import needs_shared

GOAL = {"Tarragona": 16.2, "CASCrefmicrodata": 5.6, "EIA": 0.41}


@settings(max_examples=60, deadline=None)
@given(tables())
def test_sizes_are_kept_and_nothing_is_lost_against_mdav(table: tuple[Array, int]) -> None:
    V, k = table
    labels = best(V, k)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k or len(V) < 2 * k
    W, order = canonical(V)
    E = W - W.mean(axis=0)
    assert sse(E, labels[order]) <= sse(E, mdav(W, k)) * (1 + 1e-9) + 1e-12 * len(V)


def groups(V: Array, labels: NDArray[np.int64]) -> list[Any]:
    """A partition as sets of records, whatever the order of groups and rows; equal records are the same."""
    return sorted(sorted(map(tuple, V[labels == label].tolist())) for label in np.unique(labels))


def turned(Y: Array, k: int, units: Array, seed: int) -> None:
    """The partition of Y is that of its rows in another order and other units."""
    rng = np.random.default_rng(seed)
    once, order = groups(Y, best(standardised(Y), k)), rng.permutation(len(Y))
    assert groups(Y[order], best(standardised(Y[order] * units), k)) == once


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(0, 2**32))
def test_neither_the_order_of_rows_nor_units_matter(table: tuple[Array, int], seed: int) -> None:
    Y, k = table
    assume(np.abs(Y).max() <= 1e5 * max(1.0, np.ptp(Y)))  # farther from zero, other units change digits that count
    turned(np.round(Y, 3), k, np.random.default_rng(seed).uniform(0.001, 1000, Y.shape[1]), seed)


@needs_shared
@pytest.mark.parametrize("name", ["Tarragona", "CASCrefmicrodata"])
def test_nor_do_they_on_the_files_of_the_literature(name: str) -> None:
    Y = shared(name)
    for k in (3, 10):
        turned(Y, k, np.random.default_rng(k).uniform(0.001, 1000, Y.shape[1]), k)
        turned(np.round(Y, -3), k, np.full(Y.shape[1], 1 / 3), k)  # with ties


def test_groups_that_are_there_are_found() -> None:
    """Clusters of 3, 4 and 5 records far apart: the best partition is known."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(30), np.tile([3, 4, 5], 10))
    V = 100.0 * rng.standard_normal((30, 4))[truth] + 0.01 * rng.standard_normal((len(truth), 4))
    order = rng.permutation(len(truth))
    labels = best(V[order], 3)
    assert len(set(zip(labels, truth[order], strict=True))) == 30 == len(set(labels))


def test_the_same_table_gives_the_same_labels_and_progress_counts() -> None:
    V = np.random.default_rng(2).standard_normal((120, 3))
    seen: list[tuple[str, int, int]] = []
    assert np.array_equal(best(V, 4), best(V, 4, lambda *told: seen.append(told)))
    counts = [(done, total) for stage, done, total in seen if stage == "improvement"]
    assert counts == [(i + 1, len(counts)) for i in range(len(counts))]


def test_the_labels_do_not_depend_on_numba() -> None:
    """The loops run by Python itself, in a process of its own, make the same partitions."""
    code = """
import numpy as np
from suffice.algorithms.partition.best import best
from suffice.algorithms.partition.mdav import mdav
from suffice.algorithms.partition.ranking import optimal
from suffice.algorithms.jit import COMPILED
rng = np.random.default_rng(5)
V, W = rng.standard_normal((24, 2)), rng.integers(0, 3, (400, 3)).astype(float)
print(COMPILED, [part.tolist() for part in (best(V, 3), mdav(W, 3), mdav(W, 3, compiled=True), optimal(V[:, 0], 3))])
"""
    said = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **off}, capture_output=True, text=True, check=True
        ).stdout
        for off in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    pytest.importorskip("numba")
    assert said[0].startswith("True")
    assert said[1].startswith("False")
    assert said[0].split(" ", 1)[1] == said[1].split(" ", 1)[1]


def test_one_column_is_parted_optimally() -> None:
    y = np.random.default_rng(3).exponential(size=50)
    assert np.array_equal(best(y[:, None], 3), optimal(y, 3))


def test_too_few_records_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="there are 2"):
        best(np.zeros((2, 2)), 3)


@needs_shared
@pytest.mark.parametrize("name", GOAL)
def test_below_mdav_in_every_cell_of_the_literature(name: str) -> None:
    V = standardised(shared(name))
    for k, loss in zip((3, 4, 5, 10), LOSS[name], strict=True):
        labels = best(V, k)
        assert np.bincount(labels).min() >= k
        assert information_loss(V, labels) < float(loss)
        assert k > 3 or information_loss(V, labels) <= GOAL[name]
