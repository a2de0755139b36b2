"""Many releases of the same records, averaged: hybrids come back, IPSO does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Blend, Ipso, RankSwap, ResidualCorrelation, Roles, Seed, Shuffle, protect
from suffice.algebra.decomposition import split
from suffice.errors import GuardError
from suffice.method.isometric import Isometric
from tests.attacks.victims import (
    confidential,
    linked,
    profile,
    public,
    residuals,
    roles,
    rules,
    uncertain,
    unguarded,
)
from tests.tolerances import CHANCE

N, K, MANY = 200, 2, 100


def averaged(method: Isometric) -> float:
    """What an average of many releases leaves uncertain."""
    frame, rng = profile(N, K), np.random.default_rng(1)
    X, Y = public(frame), confidential(frame)
    total = sum(split(method.solve(X, Y, rng.normal(size=(N, K))), X)[1] for _ in range(MANY))
    return uncertain(np.asarray(total), residuals(frame))


def test_a_hundred_hybrids_leave_five_percent() -> None:
    """sqrt((1 - d^2)/(1 - d^2 + m d^2)) = .0484 at d = .9; one release leaves 44 %."""
    assert averaged(ResidualCorrelation(d=0.9)) == pytest.approx(0.0484, rel=CHANCE / np.sqrt(2 * N))


def test_a_hundred_ipso_releases_leave_everything() -> None:
    assert averaged(Ipso()) > 1 - CHANCE**2 / (2 * N)


def test_shuffled_rows_are_put_in_order_first_through_a_public_column() -> None:
    frame = profile(N, K)
    released = [linked(unguarded(frame, ResidualCorrelation(d=0.9), key).frame, frame) for key in range(4)]
    total = np.asarray(sum(map(residuals, released)))
    expected = np.sqrt(0.19 / (0.19 + 4 * 0.81))
    assert uncertain(residuals(released[0]), residuals(frame)) == pytest.approx(np.sqrt(0.19))
    assert uncertain(total, residuals(frame)) == pytest.approx(expected, rel=CHANCE / np.sqrt(2 * N))


def test_the_ledger_stops_the_third_hybrid_but_not_the_third_ipso(tmp_path: Path) -> None:
    frame, key = profile(n=200, k=2), Seed.new_file(tmp_path / "key")
    for d, level in [(0.88, None), (0.89, "warn"), (0.9, "stop")]:
        release = protect(frame, roles(frame), ResidualCorrelation(d=d), seed=key)
        found = {finding.rule: finding for finding in release.findings}
        assert (found["repeated-release"].level if "repeated-release" in found else None) == level
        if level == "stop":
            with pytest.raises(GuardError, match="repeated-release") as caught:
                release.write(tmp_path / f"{d}.csv")
            assert caught.value.exit_code == 4
            assert not (tmp_path / f"{d}.csv").exists()
        else:
            release.write(tmp_path / f"{d}.csv")
    assert not protect(frame, roles(frame), Ipso(), seed=key).findings  # IPSO adds nothing to what is out


def test_the_same_release_written_again_is_one_release(tmp_path: Path) -> None:
    frame, key = profile(n=200, k=2), Seed.new_file(tmp_path / "key")
    for _ in range(3):
        release = protect(frame, roles(frame), ResidualCorrelation(d=0.6), seed=key)
        assert "repeated-release" not in {finding.rule for finding in release.findings}
        release.write(tmp_path / "out.csv", force=True)


def test_ipso_may_be_repeated(tmp_path: Path) -> None:
    frame, key = profile(n=200, k=2), Seed.new_file(tmp_path / "key")
    for number, given in enumerate(["x", "1", "x"]):
        release = protect(frame, roles(frame, given), Ipso(), seed=key)
        assert not release.findings
        release.write(tmp_path / f"{number}.csv")


@pytest.mark.parametrize("first", [Ipso(), ResidualCorrelation(d=0.1)], ids=lambda method: method.name)
def test_what_a_blend_brings_back_is_on_the_ledger(first: Isometric, tmp_path: Path) -> None:
    """The step before it is not what is released: neither its independence nor its correlation counts."""
    frame, key = profile(n=200, k=2), Seed.new_file(tmp_path / "key")
    seen = []
    for alpha in (0.6, 0.61):
        release = protect(frame, roles(frame), first.then(Blend(alpha=alpha)), seed=key)
        seen.append({finding.rule for finding in release.findings})
        release.write(tmp_path / f"{alpha}.csv")
    assert "residual-correlation" in seen[0]
    assert "repeated-release" in seen[1]


def test_ten_rank_swaps_give_half_of_the_values_and_the_ledger_stops_the_second(tmp_path: Path) -> None:
    """Of money with p = .1: values correlate with .3, since giants go elsewhere, and ranks with .98."""
    y = np.exp(1.5 * np.random.default_rng(1).normal(size=N))
    frame, own = pd.DataFrame({"x": np.arange(N) + 0.5, "y": y}), Roles(confidential=["y"], keep=["x"])

    def near(order: np.ndarray) -> float:
        return float((np.abs(np.sort(y)[order.argsort().argsort()] / y - 1) < 0.05).mean())

    swapped = [protect(frame, own, RankSwap(p=0.1), seed=Seed.for_tests(key)) for key in range(10)]
    ranks = [linked(release.frame, frame)["y"].rank().to_numpy() for release in swapped]
    assert near(sum(ranks, np.zeros(N))) > 0.35 > 2 * near(ranks[0])
    assert max(map(abs, swapped[0].assessment.resemblance.correlations)) < 0.7 < 0.97 < swapped[0].assessment.reach

    key = Seed.new_file(tmp_path / "key")
    protect(frame, own, RankSwap(p=0.1), seed=key).write(tmp_path / "1.csv")
    with pytest.raises(GuardError, match="repeated-release"):
        protect(frame, own, RankSwap(p=0.11), seed=key).write(tmp_path / "2.csv")
    assert "repeated-release" not in rules(protect(frame, own, Shuffle(), seed=key), "stop", "warn")
