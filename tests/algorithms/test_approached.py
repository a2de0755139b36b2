"""Exchanges among records of one pattern bring sums nearer, and change no pattern's count."""

from __future__ import annotations

import numpy as np

from suffice.algorithms.selection import approached


def test_sums_come_near_and_patterns_stay():
    rng = np.random.default_rng(1)
    pattern, features = rng.integers(5, size=1500), rng.gamma(2.0, size=(1500, 6))
    places = rng.permutation(1500)[:300]
    target = features[rng.permutation(1500)[:300]].sum(axis=0)
    found = approached(places, pattern, features, target, rng)
    assert np.array_equal(np.bincount(pattern[found]), np.bincount(pattern[places]))
    assert len(np.unique(found)) == 300
    before, after = (np.abs(features[each].sum(axis=0) - target).max() for each in (places, found))
    assert after < before / 20
    assert 100 < len(np.intersect1d(found, places)) < 300


def test_nothing_to_exchange_leaves_them():
    places = np.arange(3)
    found = approached(places, np.arange(3), np.eye(3), np.full(3, 9.0), np.random.default_rng(1))
    assert sorted(found.tolist()) == [0, 1, 2]
