"""The better partition: sizes, never worse than MDAV, the goals on the literature's files."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

from suffice.algorithms.partition.best import best
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
    E = V - V.mean(axis=0)
    assert sse(E, labels) <= sse(E, mdav(V, k)) * (1 + 1e-9) + 1e-12 * len(V)


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
