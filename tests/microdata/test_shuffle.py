"""Reverse mapping and shuffling: the values of every column as they were, in the order of new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import Ipso, Microaggregate, Restore, ReverseMap, Roles, Rotate, Seed, Shuffle, protect
from suffice.errors import UsageError
from suffice.method.method import Method
from suffice.microdata.shuffle import positive
from suffice.release.release import Release
from tests.attacks.victims import rules

Y = ["y", "z", "v"]


def frame(n: int = 2000, seed: int = 1) -> pd.DataFrame:
    """Skewed money that a number and a region tell in part, and whole numbers."""
    rng = np.random.default_rng(seed)
    g, x, common = rng.choice(["a", "b", "c"], n), rng.normal(size=n), rng.normal(size=n)
    y = np.exp(x + (g == "a") + 0.7 * common + 0.5 * rng.normal(size=n))
    return pd.DataFrame({"g": g, "x": x, "y": y, "z": common + rng.normal(size=n), "v": rng.poisson(np.exp(0.5 * x))})


def made(data: Any, method: Any, key: int = 1, **roles: Any) -> Release:
    return protect(data, Roles(**{"confidential": Y, **roles}), method, seed=Seed.for_tests(key))


@pytest.mark.parametrize("method", [Shuffle(), Ipso().then(ReverseMap())], ids=lambda each: each.name)
def test_values_stay_and_no_record_is_followed(method: Method) -> None:
    release = made(frame(), method, given="C(g) + x")
    after = release.aligned()
    for name in Y:
        assert sorted(after[name]) == sorted(frame()[name])
    assert release.certificate.holds
    assert next(claim.statistic for claim in release.certificate.claims if claim.promised) == "distribution"
    assert rules(release, "stop") == {"seed"}


def test_shuffling_keeps_rank_correlations_and_what_is_given_tells() -> None:
    data = frame()
    release = made(data, Shuffle(), given="C(g) + x")
    before, after = (each[["x", *Y]].corr("spearman") for each in (data, release.frame))
    assert np.abs(before - after).to_numpy().max() < 0.04
    means = [np.log(each["y"]).groupby(each["g"]).mean() for each in (data, release.frame)]
    assert (means[0] - means[1]).abs().max() < 0.15
    assert means[0].max() - means[0].min() > 0.8
    plain = made(data, Ipso().then(ReverseMap()), given="C(g) + x").frame[["x", *Y]].corr("spearman")
    assert np.abs(before - plain).to_numpy().max() > 0.06  # linear scores of skewed money keep them less well
    residuals = [pd.Series(data["z"]), pd.Series(release.aligned()["z"])]
    assert abs(np.corrcoef(*residuals)[0, 1]) < 0.1


def test_whole_numbers_leave_as_such() -> None:
    assert made(frame(), Shuffle()).frame["v"].dtype == frame()["v"].dtype


def test_a_frame_of_ones_own_is_mapped_back() -> None:
    data = frame(300)
    masked = data[Y] + np.random.default_rng(2).normal(size=(300, 3)) * data[Y].std().to_numpy()
    after = made(data, ReverseMap(candidate=masked)).aligned()
    for name in ("y", "z"):
        order = np.argsort(masked[name].to_numpy())
        assert np.array_equal(after[name].to_numpy()[order], np.sort(data[name]))


def test_it_needs_something_to_start_from() -> None:
    with pytest.raises(UsageError, match="reverse-map needs a masked data set"):
        made(frame(100), ReverseMap())
    with pytest.raises(UsageError, match="has a data set already"):
        Ipso().then(ReverseMap(candidate=frame()))


def test_equal_masked_values_are_ordered_at_random() -> None:
    """Groups of alike records share a value: which of them gets which of the original ones is chance."""
    data = frame(600).sort_values("y", ignore_index=True)
    after = [made(data, Microaggregate(k=20).then(ReverseMap()), key).aligned()["y"].to_numpy() for key in (1, 2)]
    assert (after[0] != after[1]).mean() > 0.8
    assert np.array_equal(np.sort(after[0]), np.sort(after[1]))


@pytest.mark.parametrize("steps", [(Restore(),), (Restore(), Rotate(sweeps=2))], ids=["restore", "rotate"])
def test_what_follows_keeps_what_it_promises(steps: tuple[Method, ...]) -> None:
    bounds = {"z": (-9, None)} if len(steps) > 1 else {}
    release = made(frame(500), Shuffle().then(*steps), given="x", bounds=bounds)
    assert release.certificate.holds
    assert np.allclose(release.frame[Y].cov(), frame(500)[Y].cov(), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("method", [Shuffle(), Ipso().then(ReverseMap())], ids=lambda each: each.name)
def test_groups_and_patterns_keep_their_own_values(method: Method) -> None:
    data = frame(900).assign(y=lambda each: each["y"].where(each.index % 4 > 0))
    release = made(data, method, groups=["g"], given="x", missing="patterns")
    assert release.certificate.holds
    after = release.aligned()
    for own in data.groupby(["g", data["y"].isna()]).groups.values():
        assert sorted(after.loc[own, "z"]) == sorted(data.loc[own, "z"])


def test_a_file_dealt_to_parts_is_shuffled_as_memory_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.rows.ranks.TOGETHER", 4000)  # three parts
    data = frame(9001)
    pq.write_table(pa.Table.from_pandas(data), tmp_path / "in.parquet", row_group_size=1234)
    one = made(data, Shuffle(), given="x").aligned()
    monkeypatch.setattr("suffice.rows.spool.HELD", 1500)  # sorted by dealing into ranges
    two = pa.table(made(tmp_path / "in.parquet", Shuffle(), given="x").aligned()).to_pandas()
    for name in Y:
        assert np.array_equal(one[name], two[name])
        assert sorted(one[name]) == sorted(data[name])
    assert np.abs(one[Y].corr("spearman") - data[Y].corr("spearman")).to_numpy().max() < 0.03


def test_correlations_that_are_none_are_made_some() -> None:
    impossible = np.array([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1.0]])
    W, raised = positive(impossible)
    assert raised == 1
    assert np.linalg.eigvalsh(W.T @ W).min() >= 0
