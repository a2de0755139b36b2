"""Trees to their least leaves."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algorithms.trees import tree
from suffice.algorithms.trees.tree import Tree, in_classes, in_fixed_point


def records(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    bins = np.column_stack([rng.integers(0, 30, n), rng.integers(0, 7, n)]).astype(np.uint8)
    return bins, bins[:, 0] + 40.0 * np.isin(bins[:, 1], [0, 3, 6]) + rng.normal(size=n)


def test_leaves_have_their_least_and_the_order_of_records_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    bins, y = records()
    found, leaf = Tree.grown(bins, [True, False], in_fixed_point(y), 10)
    assert np.array_equal(found.leaves(bins), leaf)
    counts = np.bincount(leaf)
    assert counts[counts > 0].min() >= 10
    assert counts.max() < 30
    turned = np.random.default_rng(1).permutation(len(y))
    monkeypatch.setattr(tree, "CELLS", 1)  # and one node at a time
    other = Tree.grown(bins[turned], [True, False], in_fixed_point(y[turned]), 10)[0]
    assert all(np.array_equal(getattr(found, name), getattr(other, name)) for name in ("column", "below", "left"))


def test_levels_without_an_order_are_told_apart_by_one_split() -> None:
    bins, y = records()
    found = Tree.grown(bins, [True, False], in_fixed_point(y), 10)[0]
    assert found.column[0] == 1
    assert np.flatnonzero(found.goes_left(0)).tolist() == [1, 2, 4, 5]
    classes = Tree.grown(bins[:, 1:], [False], in_classes((y > 38).astype(np.int64))[0], 10)[0]
    assert np.flatnonzero(classes.goes_left(0)).tolist() in ([1, 2, 4, 5], [0, 3, 6])


def test_the_best_split_is_found() -> None:
    bins, y = records(60)
    Y = in_fixed_point(y)
    cuts = [(bins[:, 0] <= cut) for cut in range(29)]
    gains = [
        len(a) * a.mean() ** 2 + len(b) * b.mean() ** 2
        for a, b in ((Y[c], Y[~c]) for c in cuts)
        if min(len(a), len(b)) >= 5
    ]
    left = Tree.grown(bins[:, :1], [True], Y, 5)[0].goes_left(0)[bins[:, 0]]
    assert len(Y[left]) * Y[left].mean() ** 2 + len(Y[~left]) * Y[~left].mean() ** 2 == pytest.approx(max(gains))


def test_copies_count_once() -> None:
    bins, y = np.repeat(np.arange(20, dtype=np.uint8), 10)[:, None], np.repeat(np.arange(20.0), 10)
    counted = np.tile([1.0] + [0.0] * 9, 20)
    every, once = (Tree.grown(bins, [True], in_fixed_point(y), 10, each)[0] for each in (None, counted))
    assert (every.column < 0).sum() == 20
    assert (once.column < 0).sum() == 2


def test_what_tells_no_more_than_chance_is_not_learnt() -> None:
    """A cut that was chosen beforehand lowers the sum of squares by one variance, where nothing is to be told."""
    rng = np.random.default_rng(5)
    bins, noise = rng.integers(0, 64, (2000, 3)).astype(np.uint8), rng.normal(size=2000)
    leaves = [
        (Tree.grown(bins, [True] * 3, in_fixed_point(noise), 10, gain=gain)[0].column < 0).sum() for gain in (0.0, 20.0)
    ]
    assert leaves[0] > 100
    assert leaves[1] == 1
    y = noise + 2 * (bins[:, 0] > 31)
    found = Tree.grown(bins, [True] * 3, in_fixed_point(y), 10, gain=20.0)[0]
    assert (found.column >= 0).sum() == 1
    assert found.goes_left(0)[:64].sum() == 32
    twice = np.repeat(np.arange(2000), 2)
    own = np.tile([1.0, 0.0], 2000)  # what stands there twice tells no more
    again = Tree.grown(bins[twice], [True] * 3, in_fixed_point(y[twice]), 10, own, gain=20.0)[0]
    assert np.array_equal(again.column, found.column)


@pytest.mark.parametrize("kind", ["numbers", "two", "three", "thirty"])
@pytest.mark.parametrize(("copies", "gain"), [(False, 0.0), (True, 0.0), (False, 2.0), (True, 2.0)])
def test_compiled_loops_give_the_same_tree(
    kind: str, copies: bool, gain: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    from suffice.algorithms.trees import compiled

    rng = np.random.default_rng(3)
    bins = np.column_stack([rng.integers(0, each, 1500) for each in (65, 4, 254, 12)]).astype(np.uint8)
    z = bins[:, 0] + 20 * rng.normal(size=1500) + 30 * np.isin(bins[:, 1], [0, 3])
    cuts = {"two": [40], "three": [20, 60], "thirty": np.linspace(-30, 120, 29)}
    y, classes = (in_fixed_point(z), 0) if kind == "numbers" else in_classes(np.digitize(z, cuts[kind]))
    counted = (rng.random(1500) < 0.7) * 1.0 if copies else None
    grown, leaves = [], []
    for loops in (lambda _: compiled, lambda _: None):
        monkeypatch.setattr(tree, "_loops", loops)
        found, leaf = Tree.grown(bins, [True, False, False, True], y, 5, counted, classes, gain)
        assert np.array_equal(found.leaves(bins), leaf)
        grown.append(found)
        leaves.append(leaf)
    for name in ("column", "below", "left"):
        assert np.array_equal(getattr(grown[0], name), getattr(grown[1], name)), name
    assert np.array_equal(*leaves)
    assert len(grown[0].column) > (30 if gain else 100)


@pytest.mark.parametrize("number", range(60))
def test_compiled_loops_give_the_same_tree_of_any_file(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """None, one or few records; no columns, or such of one bin; classes that nobody has; nobody who counts."""
    pytest.importorskip("numba")
    from suffice.algorithms.trees import compiled

    rng = np.random.default_rng(number)
    n, k = rng.choice([1, 2, 5, 30, 200, 900]), rng.choice([0, 1, 2, 6])
    widths = rng.integers(1, rng.choice([3, 8, 70, 255]) + 1, k)
    bins = rng.integers(0, widths, (n, k)).astype(np.uint8)
    ranked = [bool(each) for each in rng.random(k) < 0.5]
    z, count = rng.normal(size=n) + bins.sum(axis=1) % 3, rng.choice([0, 2, 3, 5, 20])
    y, classes = in_classes(np.digitize(z, np.linspace(-1, 3, count - 1))) if count else (in_fixed_point(z), 0)
    counted = (rng.random(n) < rng.choice([0.0, 0.7])) * 1.0 if number % 2 else None
    made = []
    for loops in (lambda _: compiled, lambda _: None):
        monkeypatch.setattr(tree, "_loops", loops)
        found, leaf = Tree.grown(bins, ranked, y, 1 + number % 11, counted, classes, float(number % 3))
        assert np.array_equal(found.leaves(bins), leaf)
        made.append((found.column, found.below, found.left, leaf))
    for one, other in zip(*made, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
