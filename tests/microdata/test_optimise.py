"""Post-masking optimisation: moments come near, linkage does not rise, limits hold, the key decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Noise, Optimise, Restore, Roles, Seed, Shuffle, protect
from suffice.algebra.array import Array, Flags
from suffice.algorithms.climbing import ClimbTarget, LinkCounts, climbed
from suffice.method.records import Records
from suffice.release.release import Release

Y = ["y", "z", "v"]


def frame(n: int = 400, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    return pd.DataFrame(np.exp(0.5 * common + 0.5 * rng.normal(size=(n, 3))), columns=Y).assign(
        g=rng.choice(["a", "b"], n)
    )


def made(method: Any, key: int = 1, **roles: Any) -> Release:
    return protect(frame(), Roles(**{"confidential": Y, **roles}), method, seed=Seed.for_tests(key))


def values(release: Release) -> Array:
    return np.asarray(release.aligned()[Y].to_numpy(float))


def off(A: Array, power: int = 2) -> float:
    """Moments of A against those of the file: means and covariances, or the higher ones of each column."""
    B = frame()[Y].to_numpy()
    Za, Zb = ((each - B.mean(axis=0)) / B.std(axis=0) for each in (A, B))
    if power == 2:
        return float(np.abs(Za.T @ Za - Zb.T @ Zb).max() / len(B) + np.abs(Za.mean(axis=0)).max())
    return float(np.abs((Za**power).mean(axis=0) - (Zb**power).mean(axis=0)).max())


def linked(A: Array, ranks: bool) -> int:
    B = frame()[Y].to_numpy()
    scaled = [(each - B.mean(axis=0)) / B.std(axis=0) for each in (B, A)]
    if ranks:
        pairs = [list(zip(each.T, B.T, strict=True)) for each in (B, A)]
        scaled = [np.column_stack([np.searchsorted(np.sort(b), a) for a, b in each]) for each in pairs]
    distance = ((scaled[0][:, None] - scaled[1][None]) ** 2).sum(axis=2)
    return int((np.diag(distance) <= distance.min(axis=1)).sum())


def climb(start: Array, batches: int = 150) -> Array:
    """From these very records, by the method itself."""
    records = Records(np.ones((len(start), 1)), start, frame()[Y].to_numpy(), started=True)
    return Optimise(batches=batches).mask(records, Seed.for_tests(1).derive()).Ystar


@pytest.mark.parametrize("mask", [Shuffle(), Noise(delta=0.5)], ids=lambda each: each.name)
def test_moments_come_near_and_no_more_records_are_linked(mask: Any) -> None:
    start = values(made(mask))
    end = climb(start)
    assert not np.array_equal(start, end)
    assert off(end) < 0.01 * off(start)
    for ranks in (False, True):
        assert linked(end, ranks) <= linked(start, ranks)  # all 400 records are those that are checked


@pytest.mark.parametrize(("by", "start"), [(0, 10), (1, 2)], ids=["distance", "rank"])
def test_a_batch_that_links_more_is_refused(by: int, start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a start drawn together, where few are linked: some would be on the way out, unless each batch is checked."""
    B = frame()[Y].to_numpy()
    near = B.mean(axis=0) + 0.05 * (B - B.mean(axis=0) + np.random.default_rng(start).normal(size=B.shape))
    before, found = linked(near, bool(by)), LinkCounts.found

    def blind(links: LinkCounts, Zstar: Array) -> tuple[Flags, Flags]:
        counts = found(links, Zstar)
        unseen = np.zeros_like(counts[0])
        return (unseen, counts[1]) if by == 0 else (counts[0], unseen)

    assert linked(climb(near), bool(by)) <= before
    monkeypatch.setattr(LinkCounts, "found", blind)
    assert linked(climb(near), bool(by)) > before


@pytest.mark.parametrize("key", [0, 1])
def test_a_start_with_next_to_no_links_is_no_dead_end(key: int) -> None:
    """Who hides another stays as well: with the others moving, .15 of the difference was left for the second key."""
    B = frame()[Y].to_numpy()
    start = B.mean(axis=0) + B.std(axis=0) * np.random.default_rng(2).normal(size=B.shape)
    assert linked(start, False) + linked(start, True) == 1
    draws, target = np.random.default_rng(key), ClimbTarget.of(B, 2, False)
    end, _, (before, after) = climbed(B, start, target, 300, draws, lambda Z: np.zeros(len(Z), bool), lambda _: True)
    assert after < 1e-4 * before
    assert linked(end, False) + linked(end, True) <= 1


def test_higher_moments_on_request() -> None:
    plain, four = (values(made(Optimise(batches=200, moments=word))) for word in ("two", "four"))
    assert off(four, 3) < 0.7 * off(plain, 3)


def test_alone_it_starts_from_random_records() -> None:
    release = made(Optimise(batches=150))
    assert off(values(release)) < 0.05
    assert max(abs(r) for r in release.assessment.resemblance.correlations) < 0.3
    assert "batches" in release.done.remarks[-1]


def test_limits_that_held_hold() -> None:
    release = made(Shuffle().then(Optimise(batches=60)), bounds=dict.fromkeys(Y, (0, None)), groups=["g"])
    assert values(release).min() >= 0
    assert not release.assessment.broken


def test_the_key_decides() -> None:
    one, again, other = (values(made(Optimise(batches=20), key)) for key in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_restore_is_there_at_once() -> None:
    assert off(values(made(Optimise(batches=20).then(Restore())))) < 1e-12
