"""Calvino's measures of a release made with a fixed key, against definitions written down once more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import suffice
from suffice.comparison.score import Score
from suffice.demo import firms

NAMES = ["turnover", "wages", "taxes"]


def plain_intervals(Y, Ystar, around):
    """A value is disclosed if it lies between those floor(n p / 100) ranks below and above the guess."""
    n, found = len(Y), []
    for y, z in zip(Y.T, Ystar.T, strict=True):
        inorder = sorted(range(n), key=lambda i: z[i])
        for i in range(n):
            rank = inorder.index(around[i])
            for w in (n * p // 100 for p in range(1, 11)):
                low, high = inorder[max(0, rank - w)], inorder[min(n - 1, rank + w)]
                found.append(z[low] <= y[i] <= z[high])
    return float(np.mean(found))


def test_parts_of_the_score_are_those_of_the_definitions():
    data = firms(90)
    roles = suffice.Roles(confidential=NAMES)
    release = suffice.protect(data, roles, "pca-mask", suffice.Seed.for_tests(4))
    asked = "distance-linkage interval-disclosure interval-disclosure-nearest skewness-bias kurtosis-bias"
    scores = release.assess(measures=[*asked.split(), "information-loss", "propensity-2"])
    Y, Ystar = (np.column_stack([np.asarray(frame[name]) for name in NAMES]) for frame in (data, release.aligned()))
    D = np.linalg.norm((Y[:, None] - Ystar[None]) / Y.std(axis=0), axis=2)
    nearest = D.argmin(axis=1)
    assert scores["distance-linkage"].value == pytest.approx((nearest == np.arange(90)).mean(), abs=1e-12)
    assert scores["interval-disclosure"].value == pytest.approx(plain_intervals(Y, Ystar, np.arange(90)), abs=1e-12)
    assert scores["interval-disclosure-nearest"].value == pytest.approx(plain_intervals(Y, Ystar, nearest), abs=1e-12)
    for name, of in (("skewness-bias", stats.skew), ("kurtosis-bias", lambda A: stats.kurtosis(A, fisher=False))):
        bias = np.mean(np.abs(of(Ystar) - of(Y)) / np.abs(of(Y)))
        assert scores[name].value == pytest.approx(bias, rel=1e-9)
    score = Score.of(Y, Ystar)
    parts = ("distance-linkage", 1), ("interval-disclosure-nearest", 1), ("information-loss", 1), ("propensity-2", 4)
    assert score.second == pytest.approx(np.mean([scores[name].value * times for name, times in parts]), rel=1e-9)


def ends(values, among):
    """The first and the last rank of every value; one between two ranks is half way."""
    first = np.array([[sum(v < y for v in ys) for y in zs] for ys, zs in zip(among.T, values.T, strict=True)]).T
    last = np.array([[sum(v <= y for v in ys) - 1 for y in zs] for ys, zs in zip(among.T, values.T, strict=True)]).T
    middle = (first + last) / 2
    return np.where(last < first, middle, first), np.where(last < first, middle, last)


@pytest.mark.parametrize("decimals", [9, 1])
def test_records_are_found_by_ranks_as_the_definitions_say(decimals):
    """With one decimal most values have equals."""
    rng = np.random.default_rng(7)
    Y = rng.normal(size=(80, 2))
    Ystar = np.round(Y + 0.02 * rng.normal(size=Y.shape), decimals)
    Y = np.round(Y, decimals)
    scores = suffice.assess(
        Y, Ystar, suffice.Roles(confidential=["x0", "x1"]), None, ["rank-linkage", "rank-intersection"], aligned=True
    )
    low, high = ends(Y, Y)
    linked, alone = [], []
    for among in (Y, Ystar):  # ranks among the original's values, and among the release's own
        first, last = ends(Ystar, among)
        squares = (((low + high)[:, None] - (first + last)[None]) ** 2).sum(axis=2)
        linked.append(np.mean([(d == d.min())[i] / (d == d.min()).sum() for i, d in enumerate(squares)]))
        ways = np.sort(np.maximum(np.maximum(first - high, low - last), 0), axis=0)
        for share in (1.0, 0.99, 0.95):
            reach = ways[int(np.ceil(share * 79))]
            inside = ((first[None] <= (high + reach)[:, None]) & (last[None] >= (low - reach)[:, None])).all(axis=2)
            alone.append(float(np.mean(inside.diagonal() & (inside.sum(axis=1) == 1))))
    assert scores["rank-linkage"].value == pytest.approx(max(linked))
    assert scores["rank-intersection"].value == max(alone) > 0


def test_ranks_are_near_within_a_fiftieth_of_them():
    """Of 100 values half went two ranks, which is near, and half three, which is not."""
    y, places = np.arange(100.0) ** 2 + 1, np.arange(100)
    places[:48] = places[:48].reshape(-1, 2, 2)[:, ::-1].ravel()
    places[48:96] = places[48:96].reshape(-1, 2, 3)[:, ::-1].ravel()
    score = suffice.assess(y[:, None], y[places][:, None], suffice.Roles(confidential=["x0"]), aligned=True)
    chance = (5 * 100 - 6) / 100  # near by chance: five ranks each, fewer at the ends
    assert score["rank-nearness"].value == pytest.approx((52 - chance) / (100 - chance))


def test_rank_correlations_are_spearmans():
    Y = np.round(np.random.default_rng(8).normal(size=(40, 2)), 1)
    Ystar = Y + np.random.default_rng(9).normal(size=Y.shape)
    score = suffice.assess(Y, Ystar, suffice.Roles(confidential=["x0", "x1"]), None, "digit-correlation", aligned=True)
    whole = max(abs(stats.spearmanr(y, z).statistic) for y in Y.T for z in Ystar.T)
    assert score["digit-correlation"].outcome.parts["whole"] == pytest.approx(whole, rel=1e-12)
