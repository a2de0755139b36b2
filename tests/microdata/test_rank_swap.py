"""Rank swapping: how far values go, what is kept, and that neither loops nor parts of a file change a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import Plan, RankSwap, Restore, Roles, Rotate, Seed, protect
from suffice.algorithms import swapping
from suffice.algorithms.swapping import partners, window_of
from suffice.errors import InfeasibleError, UsageError, count_of
from suffice.method.method import Method
from suffice.release.release import Release

ACCEPTED = dict.fromkeys(("seed", "residual-correlation", "canonical-correlation", "rank-linkage"), "a test")


def frame(n: int = 1000, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "g": rng.choice(["a", "b"], n),
            "x": x,
            "y": x + rng.normal(size=n),
            "z": np.exp(rng.normal(size=n)),
            "v": rng.poisson(2, n),
        }
    )


Y = ["y", "z", "v"]


def made(data: Any, method: Any, key: int = 1, **roles: Any) -> Release:
    return protect(data, Roles(**{"confidential": Y, **roles}), method, seed=Seed.for_tests(key), accept=ACCEPTED)


def far(before: pd.Series, after: pd.Series) -> int:
    """The longest way in ranks; equal values have all of theirs."""
    y, inorder = before.to_numpy(), np.sort(before.to_numpy())
    low, high = np.searchsorted(inorder, y, "left"), np.searchsorted(inorder, y, "right") - 1
    first, last = (np.searchsorted(inorder, after.to_numpy(), side) for side in ("left", "right"))
    return int(np.maximum(first - high, low - last + 1).max())


@pytest.mark.parametrize("n", [2, 3, 10, 257, 20_000])
@pytest.mark.parametrize("p", [0.001, 0.05, 0.5, 1.0])
def test_partners_are_mutual_within_reach_and_the_same_with_and_without_loops(
    n: int, p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, own = max(1, int(p * n)), np.arange(n)
    ranks = np.sort(np.random.default_rng(n).choice(3 * n, n, replace=False))
    for each in (own, ranks):
        results = []
        for compiled in (True, False):
            monkeypatch.setattr(swapping, "COMPILED", compiled)
            results.append(partners(each, window, np.random.default_rng(5)))
        assert np.array_equal(*results)
        pairs = results[0]
        assert np.array_equal(pairs[pairs], own)
        assert np.abs(each[pairs] - each).max() <= window
        alone = each[pairs == own]
        assert len(alone) < 2 or np.diff(alone).min() > window  # no two could have been partners


def test_ways_are_of_all_lengths() -> None:
    way = np.abs(partners(np.arange(50_000), 5000, np.random.default_rng(1)) - np.arange(50_000))
    assert np.abs(np.quantile(way, [0.25, 0.5, 0.75]) / 5000 - [0.25, 0.5, 0.75]).max() < 0.03


@pytest.mark.parametrize("p", [0.02, 0.3, 1.0])
def test_values_stay_and_no_one_goes_farther_than_p(p: float) -> None:
    release = made(frame(), RankSwap(p=p), given="x")
    after = release.aligned()
    for name in Y:
        assert sorted(after[name]) == sorted(frame()[name])
        assert 0 < far(frame()[name], after[name]) <= int(p * 1000)
    assert release.certificate.holds
    assert after["v"].dtype == frame()["v"].dtype
    assert any("found no partner" in remark for remark in release.done.remarks)


def test_groups_and_patterns_are_swapped_by_themselves() -> None:
    data = frame().assign(y=lambda each: each["y"].where(each.index % 5 > 0))
    release = made(data, RankSwap(p=0.2), groups=["g"], missing="patterns")
    assert release.certificate.holds
    after = release.aligned()
    assert (after["y"].isna() == data["y"].isna()).all()
    for _, own in data.groupby(["g", data["y"].isna()]).groups.items():
        assert sorted(after.loc[own, "z"]) == sorted(data.loc[own, "z"])
        assert far(data.loc[own, "z"], after.loc[own, "z"]) <= int(0.2 * len(own))


def test_a_group_too_small_for_p_is_refused_with_a_sentence() -> None:
    with pytest.raises(InfeasibleError, match="less than one rank"):
        made(frame(40), RankSwap(p=0.02))


@pytest.mark.parametrize("wrong", [1.5, -0.1, "much", True])
def test_p_is_a_share(wrong: object) -> None:
    with pytest.raises(UsageError, match="p must be a number in"):
        RankSwap(p=wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="Give one of them"):
        RankSwap(p=0.1, correlation=0.5)


@pytest.mark.parametrize("r", [0.9, 0.6, 0.3])
def test_a_correlation_is_reached_by_the_smallest_of_the_columns(r: float) -> None:
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.normal(size=20_000), "b": rng.uniform(size=20_000), "c": rng.gamma(2, size=20_000)})
    after = made(data, RankSwap(correlation=r), confidential=["a", "b", "c"]).aligned()
    assert abs(min(np.corrcoef(data[name], after[name])[0, 1] for name in data) - r) < 0.02


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_of_few_records_a_correlation_is_reached_on_average(seed: int) -> None:
    """Swaps differ much: the window is learnt from many of them."""
    y = np.sort(np.exp(np.random.default_rng(seed).normal(size=300)))
    z, window = (y - y.mean()) / y.std(), int(window_of([y], 0.5) * 300)
    kept = [np.mean(z * z[partners(np.arange(300), window, np.random.default_rng(key))]) for key in range(150)]
    assert abs(np.mean(kept) - 0.5) < 0.025


def test_of_even_ranks_the_window_is_known() -> None:
    """Partners of uniform values, at most p away: 1 - r is about 2 p^2 where ends are far."""
    assert abs(window_of([np.arange(8000.0)], 1 - 2 * 0.05**2) - 0.05) < 0.003


def test_a_file_dealt_to_parts_is_swapped_as_memory_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.rows.ranks.TOGETHER", 4000)  # three parts
    data = frame(9001)
    pq.write_table(pa.Table.from_pandas(data), tmp_path / "in.parquet", row_group_size=1234)
    one = made(data, RankSwap(p=0.1)).aligned()
    monkeypatch.setattr("suffice.rows.spool.HELD", 1500)  # sorted by dealing into ranges
    two = pa.table(made(tmp_path / "in.parquet", RankSwap(p=0.1)).aligned()).to_pandas()
    for name in Y:
        assert np.array_equal(one[name], two[name])
        assert sorted(one[name]) == sorted(data[name])
        assert 0 < far(data[name], one[name]) <= 900
    assert (one["y"] != data["y"]).mean() > 0.99


def test_equal_values_have_no_order_that_the_file_tells() -> None:
    """Of a sorted file with many zeros, those that get another value stand anywhere."""
    data = pd.DataFrame({"y": np.append(np.zeros(600), np.random.default_rng(1).gamma(2, size=400))})
    places = np.flatnonzero(made(data, RankSwap(p=0.2), confidential=["y"]).aligned()["y"].to_numpy()[:600])
    assert len(places) > 50
    assert abs(places.mean() - 300) < 80


@pytest.mark.parametrize("steps", [(Restore(),), (Restore(), Rotate(sweeps=2))], ids=["restore", "rotate"])
def test_what_follows_it_keeps_what_it_promises(steps: tuple[Method, ...]) -> None:
    bounds = {"z": (0, None)} if len(steps) > 1 else {}
    release = made(frame(), RankSwap(p=0.5).then(*steps), given="x", bounds=bounds)
    assert release.certificate.holds
    assert np.allclose(release.frame[Y].cov(), frame()[Y].cov(), rtol=1e-9, atol=1e-9)
    assert not bounds or release.frame["z"].min() >= 0


def test_a_plan_names_it() -> None:
    parts = ('[data]\npath = "a.csv"', '[roles]\nconfidential = ["y"]', '[[method]]\nname = "rank-swap"\np = 0.3')
    plan = Plan.parse("\n".join([*parts, '[release]\npath = "b.csv"']))
    assert plan.build_method() == RankSwap(p=0.3)


@pytest.mark.parametrize(("p", "n", "window"), [(0.29, 100, 29), (0.57, 700, 399), (1 / 49, 49, 1), (0.299, 100, 29)])
def test_a_share_of_the_records_is_so_many_ranks_whatever_its_last_bit(p: float, n: int, window: int) -> None:
    release = made(frame(n), RankSwap(p=p))
    assert any(f"up to {count_of(window, 'rank')} of {n:,}" in said for said in release.done.remarks)


def test_the_share_that_a_refusal_asks_for_is_enough() -> None:
    with pytest.raises(InfeasibleError) as refused:
        made(frame(49), RankSwap(p=0.001))
    made(frame(49), RankSwap(p=float(str(refused.value).split("Ask for p of ")[1].split()[0])))


def test_a_sum_that_does_not_survive_is_not_said_to_stay_true() -> None:
    data = frame(200).assign(sum=lambda each: each.y + each.z)
    for method, true in ((RankSwap(), False), (RankSwap().then(Restore()), True)):
        release = made(data, method, confidential=["y", "z", "sum"])
        after = release.aligned()
        assert np.allclose(after["sum"], after.y + after.z) == true
        (said,) = [each.message for each in release.findings if each.rule == "dependent-columns"]
        assert ("stays true" in said) == true
        assert ("not true of sum" in said) != true


@pytest.mark.parametrize("ranks", [np.arange(40), np.cumsum(np.random.default_rng(3).integers(1, 4, 40))])
def test_a_sweep_takes_each_in_turn_and_one_that_is_free_behind_it(ranks):
    """As Moore has it, written down once more; the same with and without compiled loops."""
    window, u = 7, np.random.default_rng(5).random(40)
    partner = np.arange(40)
    for i in range(40):
        free = [j for j in range(i + 1, 40) if partner[j] == j and ranks[j] - ranks[i] <= window]
        if partner[i] == i and free:
            other = free[int(u[i] * len(free))]
            partner[i], partner[other] = other, i
    assert np.array_equal(swapping.partners_behind(ranks, window, np.random.default_rng(5)), partner)
    plain = getattr(swapping._swept, "py_func", swapping._swept)
    assert np.array_equal(plain(ranks, window, u), partner)
