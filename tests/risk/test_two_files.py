"""Risks that are measured on two whole files: linkage, intervals, and whether releases remember."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.risk.distance_linkage import distance_linkage
from suffice.risk.interval_disclosure import interval_disclosure, nearest
from suffice.risk.memory import Memory, aligned, average_correlation, permuted, unaligned

N = 200


def two(d: float, seed: int = 1) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    Y, new = rng.normal(size=(N, 3)) * [1, 10, 100], rng.normal(size=(N, 3)) * [1, 10, 100]
    return Y, d * Y + np.sqrt(1 - d * d) * new


def plain_linkage(Y: Array, Ystar: Array) -> float:
    found = 0.0
    for i, y in enumerate(Y):
        distance = np.sqrt((((Ystar - y) / Y.std(axis=0)) ** 2).sum(axis=1))
        ties = np.flatnonzero(np.isclose(distance, distance.min()))
        found += (i in ties) / len(ties)
    return found / len(Y)


def plain_intervals(Y: Array, Ystar: Array, near: bool) -> float:
    inside = []
    for i, y in enumerate(Y):
        centre = i
        if near:
            centre = int(np.argmin((((Ystar - y) / Y.std(axis=0)) ** 2).sum(axis=1)))
        for j, value in enumerate(y):
            ranked = sorted(Ystar[:, j])
            place = ranked.index(Ystar[centre, j])
            for p in range(1, 11):
                width = int(len(Y) * p / 100)
                low, high = ranked[max(0, place - width)], ranked[min(len(Y) - 1, place + width)]
                inside.append(low <= value <= high)
    return float(np.mean(inside))


@pytest.mark.parametrize("d", [0.0, 0.5, 0.9, 0.99])
def test_both_are_those_of_plain_loops(d: float):
    Y, Ystar = two(d)
    assert distance_linkage(Y, Ystar) == pytest.approx(plain_linkage(Y, Ystar))
    assert interval_disclosure(Y, Ystar) == pytest.approx(plain_intervals(Y, Ystar, near=False))
    assert interval_disclosure(Y, Ystar, nearest(Y, Ystar)) == pytest.approx(plain_intervals(Y, Ystar, near=True))


def test_ties_share_a_link():
    Y, _ = two(0.0)
    groups = np.repeat(Y[::4], 4, axis=0)  # four released records for each of 50
    assert distance_linkage(Y, groups) == pytest.approx(plain_linkage(Y, groups))
    assert distance_linkage(Y, np.zeros_like(Y)) == pytest.approx(1 / N)


def test_copies_are_disclosed_and_strangers_by_chance():
    Y, other = two(0.0)
    assert distance_linkage(Y, Y) == interval_disclosure(Y, Y) == 1
    chance = np.mean([min(N, i + w + 1) - max(0, i - w) for w in range(2, 21, 2) for i in range(N)]) / N
    assert interval_disclosure(Y, other) == pytest.approx(chance, abs=0.03)
    assert distance_linkage(Y, other) <= 4 / N


def test_a_walk_that_remembers_ranks_the_original_first():
    releases = [two(0.4, 1)[0] * 0.4 + two(0.0, 100 + i)[1] * np.sqrt(1 - 0.16) for i in range(20)]
    Y = two(0.0)[0]
    found = Memory.of_releases(Y, releases, aligned)
    assert (found.rank, found.of) == (1, 21)
    assert found.p < 0.05
    assert found.apart < 0.95
    assert average_correlation(Y, releases) > 0.8
    assert permuted(Y, releases, 99) == 0.01


def test_a_walk_that_has_forgotten_ranks_it_anywhere():
    releases = [two(0.0, 100 + i)[1] for i in range(20)]
    ranks = [Memory.of_releases(two(0.0, i)[0], releases, unaligned).rank for i in range(1, 9)]
    assert 4 < np.mean(ranks) < 18
    assert permuted(two(0.0)[0], releases, 99) > 0.01
    assert abs(average_correlation(two(0.0)[0], releases)) < 0.2


def test_the_order_of_records_hides_nothing():
    """Whole records handed on: nothing is left row by row, all by nearest neighbours."""
    Y, rng = two(0.0)[0], np.random.default_rng(9)
    releases = [Y[rng.permutation(N)] + 0.3 * two(0.0, i)[1] for i in range(20)]
    assert Memory.of_releases(Y, releases, unaligned).rank == 1
    assert Memory.of_releases(Y, releases, unaligned).apart < 0.9
    assert Memory.of_releases(Y, releases, aligned).apart == pytest.approx(1, abs=0.06)
