"""Rank swapping falls to whoever knows how far values went: the records within reach in every column are few."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Blend, Ipso, Noise, RankSwap, Restore, ReverseMap, Roles, Seed, Shuffle, protect
from suffice.algebra.array import Array
from suffice.method.method import Method
from suffice.release.release import Release
from tests.attacks.victims import rules
from tests.places import SHARED, needs_shared


def money(n: int = 600, columns: int = 10, seed: int = 1) -> pd.DataFrame:
    """Log-normal amounts that are alike, as those of a firm are."""
    rng = np.random.default_rng(seed)
    Y = np.exp(rng.normal(size=(n, 1)) + rng.normal(size=(n, columns)))
    return pd.DataFrame({f"y{j}": Y[:, j] for j in range(columns)})


def released(frame: pd.DataFrame, method: Method, key: int = 1) -> Release:
    return protect(frame, Roles(confidential=list(frame)), method, seed=Seed.for_tests(key))


def ranks(values: Array, among: Array) -> tuple[Array, Array]:
    """The first and the last rank of each value: equal ones have all of theirs."""
    inorder = np.sort(among, axis=0)
    sides = [
        np.column_stack([np.searchsorted(y, v, side) for y, v in zip(inorder.T, values.T, strict=True)])
        for side in ("left", "right")
    ]
    return sides[0], sides[1] - 1


def found(frame: pd.DataFrame, release: Release, p: float) -> tuple[float, float, float]:
    """Shares of the records found: alone within p in every column, nearest in ranks, nearest in values."""
    Y, Ystar, n = frame.to_numpy(float), release.aligned()[list(frame)].to_numpy(float), len(frame)
    (low, high), (first, last) = ranks(Y, Y), ranks(Ystar, Y)
    window, own = int(p * n), np.arange(n)
    inside = np.ones((n, n), dtype=bool)
    far, wide = np.zeros((n, n)), np.zeros((n, n))
    for j in range(Y.shape[1]):
        inside &= (first[:, j] <= high[:, [j]] + window) & (last[:, j] >= low[:, [j]] - window)
        far += (low[:, [j]] + high[:, [j]] - first[:, j] - last[:, j]) ** 2
        wide += ((Y[:, [j]] - Ystar[:, j]) / Y[:, j].std()) ** 2
    alone = (inside.sum(axis=1) == 1) & inside[own, own]
    return float(alone.mean()), float((far.argmin(1) == own).mean()), float((wide.argmin(1) == own).mean())


def test_who_knows_p_finds_most_records_where_distances_find_few() -> None:
    release = released(money(), RankSwap(p=0.2))
    alone, linked, by_distance = found(money(), release, 0.2)
    assert alone > 0.3
    assert linked > 0.5
    assert by_distance < 0.3  # `linkage` alone would let it pass
    assert {"rank-intersection", "rank-linkage"} <= rules(release, "stop")
    assert "linkage" not in rules(release, "stop")


def test_exact_moments_behind_a_swap_hide_nothing() -> None:
    release = released(money(), RankSwap(p=0.1).then(Restore()))
    assert found(money(), release, 1.0)[1] > 0.3
    assert "rank-linkage" in rules(release, "stop")


@pytest.mark.parametrize("key", [1, 2, 3])
def test_the_remedy_heals(key: int) -> None:
    """Values that go half of the way, or fewer columns: nothing is found, nothing is stopped."""
    release = released(money(), RankSwap(), key)
    assert max(found(money(), release, 0.5)) < 0.05
    assert rules(release, "stop") == {"seed"}
    few = released(money(columns=2), RankSwap(p=0.3), key)
    assert rules(few, "stop") == {"seed"}


@pytest.mark.parametrize("most", [2000, 50])
def test_in_a_group_there_are_fewer_to_hide_among(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are public: who looks for a record in its own finds eight times as many as in the whole file.

    most: records that are sampled; a group of more is taken whole as well
    """
    monkeypatch.setattr("suffice.risk.sample.MOST", most)
    frame, groups = money(columns=3), np.arange(600) % 6
    roles = Roles(confidential=list(frame), groups=["g"])
    release, other = (
        protect(frame.assign(g=groups), roles, method, seed=Seed.for_tests(1))
        for method in (RankSwap(p=0.2), Shuffle())
    )
    after = release.aligned()[list(frame)]
    whole = found(frame, release, 1.0)[1]
    Y, Ystar = frame.to_numpy(float), after.to_numpy(float)
    far = np.full((600, 600), np.inf)
    for g in range(6):
        own = np.flatnonzero(groups == g)
        first, second = (np.array([ranks(A[own], Y[own])[0]]) for A in (Y, Ystar))
        far[np.ix_(own, own)] = ((first[0][:, None] - second[0][None]) ** 2).sum(axis=2)
    inside = float((far.argmin(1) == np.arange(600)).mean())
    assert inside > 0.1 > 0.05 > whole
    assert "rank-linkage" in rules(release, "stop")
    assert rules(other, "stop") == {"seed"}


def test_every_value_leaves_and_that_is_said() -> None:
    """Who is known to be the largest is told by the largest value, whatever record it stands with."""
    frame = money(columns=2)
    release = released(frame, RankSwap())
    assert release.frame["y0"].max() == frame["y0"].max()
    assert "giants" in rules(release, "warn")
    frame.loc[7, "y0"] = 1e6  # one railway
    assert "dominance" in rules(released(frame, RankSwap()), "stop")


@needs_shared
@pytest.mark.parametrize(("p", "expected", "distances"), [(0.1, 0.91, 0.48), (0.2, 0.72, 0.12)])
def test_tarragona(p: float, expected: float, distances: float) -> None:
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / "Tarragona.csv")
    release = released(frame, RankSwap(p=p))
    alone, linked, by_distance = found(frame, release, p)
    assert abs(alone - expected) < 0.05
    assert linked > 0.6
    assert abs(by_distance - distances) < 0.05
    assert {"rank-intersection", "rank-linkage"} <= rules(release, "stop")


@needs_shared
def test_the_swap_of_another_program_is_none() -> None:
    """A file that is said to be swapped by 10 %: ranks went up to 99 %, so nothing is compared with it."""
    assert SHARED is not None
    before, after = (
        pd.read_csv(SHARED / file).to_numpy(float)[:, -13:]
        for file in ("data/Tarragona.csv", "reference/sdcmicro_rankSwap_P10.csv")
    )
    (low, high), (first, last) = ranks(before, before), ranks(after, before)
    assert np.maximum(first - high, low - last).max() > 0.95 * len(before)


@pytest.mark.parametrize("method", [Shuffle(), Ipso().then(ReverseMap())], ids=lambda method: method.name)
def test_restore_gives_the_first_column_back_and_is_stopped(method: Method) -> None:
    """Its mean and variance are right already: every value leaves, the largest among them."""
    frame = money(300, 3)
    release = released(frame, method.then(Restore()))
    assert np.allclose(np.sort(release.frame["y0"]), np.sort(frame["y0"]), rtol=1e-9)
    assert "giants" in rules(release, "stop")


def linked_by_ranks(frame: pd.DataFrame, release: Release) -> float:
    before, after = (each[list(frame)].rank().to_numpy() for each in (frame, release.aligned()))
    distance = ((before[:, None] - after) ** 2).sum(axis=2)
    return float((distance.argmin(axis=1) == np.arange(len(frame))).mean())


def test_factors_keep_ranks() -> None:
    """Of heavy tails distances in values are those of giants, and find 12 %; every other record is found by ranks."""
    frame = money(400, 13, seed=3) ** 1.4
    release = released(frame, Noise("multiplicative", 0.5))
    assert linked_by_ranks(frame, release) > 0.4
    assert "linkage" not in rules(release, "stop")
    assert "rank-linkage" in rules(release, "stop")
    assert "rank-linkage" in rules(released(frame, Blend(money(400, 13, seed=4), 0.7, "multiplicative")), "stop")


def test_a_release_is_ranked_by_itself_as_well() -> None:
    """Wide factors lead beyond the original's values, whose ranks then say little: own ranks find twice as many."""
    frame = money(600, 13)
    release = released(frame, Noise("multiplicative", 2.0))
    assert found(frame, release, 1.0)[1] < 0.05 < 0.08 < linked_by_ranks(frame, release)
    assert "rank-linkage" in rules(release, "stop")


def test_factors_that_lead_far_pass() -> None:
    frame = money(400, 2, seed=3)
    release = released(frame, Noise("multiplicative"))
    assert linked_by_ranks(frame, release) < 0.03
    assert not {"rank-linkage", "rank-intersection"} & rules(release, "stop")
