"""Moments within groups: a monoid whose sum is that of each group's rows, however the rows are cut or ordered."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.algebra import group_moments as cells
from suffice.algebra.array import Array
from suffice.algebra.group_moments import Cells, Grouping, GroupMoments, Pairs
from tests.tolerances import ENGINE

CUTS = st.lists(st.integers(1, 60), min_size=3, max_size=6)


def data(seed: int, n: int, groups: int, p: int = 3) -> tuple[Array, NDArray[np.uint64], Array]:
    rng = np.random.default_rng(seed)
    words = rng.integers(2**63, size=groups, dtype=np.uint64)[rng.integers(0, groups, n)]
    return rng.normal(size=(p, n)), words, rng.gamma(1.0, 1.0, n) * (rng.random(n) > 0.2)


def whole(p: int) -> Pairs:
    one, two = np.triu_indices(p)
    return Pairs.among(p, (one, two))


def close(one: GroupMoments, two: GroupMoments) -> None:
    assert (one.rows == two.rows).all()
    for a, b in ((one.weight, two.weight), (one.sums, two.sums), (one.products, two.products)):
        assert np.allclose(a, b, rtol=ENGINE, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), cuts=CUTS, groups=st.integers(1, 40), weighted=st.booleans(), room=st.booleans())
def test_cells_are_a_monoid(seed: int, cuts: list[int], groups: int, weighted: bool, room: bool) -> None:
    W, words, weight = data(seed, sum(cuts), groups)
    pairs, w = whole(3), weight if weighted else None

    def of(a: int, b: int) -> Cells:
        return Cells.of(W[:, a:b], Grouping.of(words[a:b]), None if w is None else w[a:b], pairs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "ROOM", 2**25 if room else 1)  # merged at the end, or at once
        parts = [of(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *cuts]))]
        left, right = reduce(add, parts), parts[0] + reduce(add, parts[1:])
        labels = np.unique(words)
        assert (left.labels == labels).all()
        assert (right.labels == labels).all()
        close(left.moments(labels, pairs), right.moments(labels, pairs))
        close(left.moments(labels, pairs), of(0, sum(cuts)).moments(labels, pairs))


@pytest.mark.parametrize("sizes", [[1, 1, 5], [3000, 2], [cells.FEW, 7], [cells.FEW + 1, 7]])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_group_has_the_moments_of_its_rows(sizes: list[int], weighted: bool) -> None:
    rng = np.random.default_rng(1)
    words = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    W, w = rng.normal(size=(2, len(words))), rng.gamma(1.0, 1.0, len(words)) if weighted else np.ones(len(words))
    found = Cells.of(W, Grouping.of(words), w if weighted else None, whole(2)).moments(np.arange(len(sizes)), whole(2))
    for g in range(len(sizes)):
        own, v = W[:, words == g], w[words == g]
        assert found.rows[g] == sizes[g]
        assert np.isclose(found.weight[g], v.sum(), rtol=ENGINE)
        assert np.allclose(found.mean[:, g], own @ v / v.sum(), rtol=ENGINE)
        second = (own * v) @ own.T / v.sum()
        one, two = np.triu_indices(2)
        assert np.allclose(found.second(one, two)[:, g], second[one, two], rtol=ENGINE)
        assert np.allclose(found.second(two, one)[:, g], second[one, two], rtol=ENGINE)


def test_the_largest_value_of_a_group_is_its_own() -> None:
    W, words, _ = data(3, 500, 20)
    parts = [Cells.of(W[:, a:b], Grouping.of(words[a:b])) for a, b in pairwise([0, 100, 101, 500])]
    found = reduce(add, parts)
    for g, label in enumerate(found.labels):
        assert (found.size[:, g] == np.abs(W[:, words == label]).max(axis=1)).all()


def test_a_group_without_a_record_or_without_weight_is_zero() -> None:
    W, words = np.ones((1, 4)), np.array([1, 1, 3, 3])
    found = Cells.of(W, Grouping.of(words), np.array([1.0, 1.0, 0.0, 0.0]), whole(1))
    moments = found.moments(np.array([1, 2, 3]), whole(1))
    assert moments.rows.tolist() == [2, 0, 0]
    assert moments.mean.tolist() == [[1.0, 0.0, 0.0]]
    assert moments.second(np.array([0]), np.array([0])).tolist() == [[1.0, 0.0, 0.0]]


def test_many_records_are_added_in_pairs() -> None:
    """One after the other, 2e5 squares lose about forty units of the last digit."""
    squares = np.random.default_rng(1).normal(size=200_000) ** 2
    true = float(squares.astype(np.longdouble).sum())
    groups = Grouping.of(np.zeros(len(squares), dtype=np.intp))
    eps = np.finfo(float).eps
    assert abs(groups.total(squares)[0] - true) <= 4 * eps * true
    one_by_one = float(np.bincount(groups.place, squares)[0])
    assert abs(one_by_one - true) > 4 * eps * true
