"""Who meets whom: records alike along a direction, told in the same way by both kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algorithms.rotation import compass
from suffice.algorithms.rotation.compass import Compass, along, bins
from suffice.algorithms.rotation.dealing import Dealer, deal, given_order, near_order
from suffice.algorithms.rotation.trigonometry import lg, signed_lg
from tests.algorithms.rotation.cases import skewed
from tests.tolerances import CHANCE


def skew(n: int, k: int, seed: int = 1) -> np.ndarray:
    return np.exp(2 * np.random.default_rng(seed).standard_normal((n, k)))


def test_the_logarithm_of_bits_rises_and_is_off_by_less_than_a_tenth() -> None:
    v = np.exp(np.linspace(0, 700, 100_001))
    assert (np.diff(lg(v)) > 0).all()
    assert np.abs(lg(v) - np.log2(v)).max() < 0.09


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 50), k=st.integers(1, 4), seed=st.integers(0, 2**32), power=st.integers(-300, 290))
def test_both_kernels_tell_the_same_place(n: int, k: int, seed: int, power: int) -> None:
    compiled = pytest.importorskip("suffice.algorithms.rotation.compiled")
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((n, k)) * 10.0**power
    Y[rng.random((n, k)) < 0.2] = 0.0
    needle = Compass.of(Y)
    factor = rng.standard_normal(k) * needle.weight
    assert np.isfinite(factor).all()
    assert (along(Y, needle.scale, factor) == compiled.along(Y, needle.scale, factor)).all()


def test_blocks_of_records_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    Y, needle, factor = skew(1000, 3), Compass.of(skew(1000, 3)), np.array([1.0, -0.5, 0.3])
    whole = along(Y, needle.scale, factor)
    monkeypatch.setattr(compass, "RECORDS", 7)
    assert (along(Y, needle.scale, factor) == whole).all()


def test_one_column_is_in_order_up_to_its_bins() -> None:
    Y = skew(5000, 1)
    order = Compass.of(Y).order(Y, np.random.default_rng(3))
    place = bins(along(Y, Compass.of(Y).scale, np.ones(1)))[order].astype(np.int64)
    assert (np.sort(order) == np.arange(5000)).all()
    assert len({tuple(np.sign(np.diff(place)[np.diff(place) != 0]))}) == 1
    assert abs(np.argmax(Y[order]) - 2500) > 2490  # the largest record meets the next largest ones


def test_records_of_one_bin_are_in_random_order() -> None:
    Y, rng = np.ones((600, 2)), np.random.default_rng(1)
    needle = Compass.of(Y)
    after = np.mean([np.corrcoef(needle.order(Y, rng), np.arange(600))[0, 1] for _ in range(20)])
    assert abs(after) * np.sqrt(600 * 20) < CHANCE


def test_a_constant_column_has_no_say() -> None:
    Y = skew(200, 2)
    wide = np.column_stack([Y, np.full(200, 0.1), np.zeros(200)])
    assert (Compass.of(wide).weight[2:] == 0).all()
    assert (Compass.of(wide).weight[:2] == Compass.of(Y).weight).all()


def test_near_groups_are_nearer_than_random_ones_in_every_column() -> None:
    task = skewed(3000, 3)
    spread = {}
    for kind in ("near", "random", "far"):
        rng, dealer = np.random.default_rng(5), Dealer.of(task, kind, "free")
        groups = np.vstack([dealer.groups(task.Y, sweep, rng) for sweep in range(1, 21)])
        spread[kind] = np.log1p(task.Y)[groups].var(axis=1).mean(axis=0)
    assert (spread["near"] < 0.9 * spread["random"]).all()
    assert (spread["far"] > 1.05 * spread["random"]).all()


def test_the_key_decides_and_directions_change() -> None:
    Y, needle = skew(300, 3), Compass.of(skew(300, 3))
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    assert (near_order(Y, needle, first) == near_order(Y, needle, second)).all()
    assert (near_order(Y, needle, first) != near_order(Y, needle, np.random.default_rng(2))).any()


@given(strata=st.lists(st.integers(0, 4), min_size=1, max_size=60), size=st.integers(1, 5))
def test_all_who_can_be_dealt_are(strata: list[int], size: int) -> None:
    labels = np.array(strata, dtype=np.uint8)
    groups = deal(np.random.default_rng(1).permutation(len(labels)), size, labels)
    assert (labels[groups] == labels[groups][:, :1]).all()
    assert len(np.unique(groups)) == groups.size == sum(size * (count // size) for count in np.bincount(labels))


def test_strata_are_numbered_in_few_bytes() -> None:
    task = skewed(40, 2)
    Y = task.Y.copy()
    Y[:20, 0] = 0.0
    pools = Dealer.of(type(task)(task.X, Y, Y), "near", "kept").pools
    assert pools[0].strata is not None
    assert pools[0].strata.dtype == np.uint8


def test_given_columns_say_as_much_as_confidential_ones_about_who_is_alike() -> None:
    Y, X = skew(2000, 3), np.hstack([np.ones((2000, 1)), np.random.default_rng(5).normal(size=(2000, 2))])
    needle, rng = Compass.of(Y, X), np.random.default_rng(6)
    assert needle.pull[0] == 0  # the same for all
    L = np.column_stack([signed_lg(y, scale) for y, scale in zip(Y.T, needle.scale, strict=True)]) * needle.weight
    A, B = L @ rng.standard_normal((3, 500)), (X * needle.pull) @ rng.standard_normal((3, 500))
    assert 0.8 < B.var(axis=0).mean() / A.var(axis=0).mean() < 1.25
    apart = [np.abs(np.diff(X[needle.order(Y, rng), 1])).mean() for _ in range(20)]
    alone = [np.abs(np.diff(X[Compass.of(Y).order(Y, rng), 1])).mean() for _ in range(20)]
    assert np.mean(apart) < 0.95 * np.mean(alone)


def test_who_meets_whom_by_given_columns_is_random_and_alike_by_turns() -> None:
    task = skewed(400, 2, given=1)
    X, found = task.X, Compass.of(task.Y, task.X)
    random, alike = (given_order(found, sweep, np.random.default_rng(7)) for sweep in (0, 4))
    assert random.tolist() == np.random.default_rng(7).permutation(400).tolist()
    near = [np.abs(np.diff(X[order, 1])).mean() for order in (random, alike)]
    assert near[1] < near[0] / 5
