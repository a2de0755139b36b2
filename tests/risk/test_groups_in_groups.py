"""Smaller groups inside groups, and residuals about the means of groups, against plain loops over all records."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import MicroHybrid, Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, split
from suffice.protection.steps import SAMPLED
from suffice.risk.dominance import Concentration
from suffice.risk.group_summary import GroupTables
from suffice.risk.nesting import Nesting
from suffice.risk.residuals import ResidualPair
from suffice.rows.derived import RELEASED
from tests.tolerances import ENGINE


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_dimensions_that_smaller_groups_leave(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    large, small = rng.integers(0, 5, 60).astype(np.uint64), rng.integers(0, 9, 60).astype(np.uint64)
    ends = [0, *sorted(cuts), 60]
    parts = [Nesting.of(large[a:b], small[a:b]) for a, b in pairwise(ends) if b > a]
    expected = [
        (large == one).sum() - 3 * len({*small[large == one].tolist()}) - 2 for one in sorted({*large.tolist()})
    ]
    assert Nesting.together(parts).left(3, 2).tolist() == expected


def test_what_waits_is_merged_before_it_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GroupTables, "room", 20)
    rng = np.random.default_rng(1)
    words, Y = rng.integers(0, 12, 500), rng.integers(-9, 9, (500, 2)).astype(float)
    pending, most = GroupTables((Concentration.of(words[:10], Y[:10]),)), 0
    for first in range(10, 500, 10):
        pending += GroupTables((Concentration.of(words[first : first + 10], Y[first : first + 10]),))
        most = max(most, sum(len(part.groups) for part in pending.parts))
    whole, found = Concentration.of(words, Y), Concentration.together(pending.parts)
    assert most <= 12 + 20
    for name in ("groups", "sizes", "total", "squares", "first", "second"):
        assert np.array_equal(getattr(found, name), getattr(whole, name))


def plainly(frame: pd.DataFrame, Ystar: Array, by: str) -> tuple[Array, Array]:
    """Residuals of every record beside the means of groups and x."""
    Y = frame[["y0", "y1"]].to_numpy()
    centred = [pd.DataFrame(A).groupby(frame[by].to_numpy()).transform(lambda a: a - a.mean()) for A in (Y, Ystar)]
    x = frame[["x"]] - frame[["x"]].groupby(frame[by]).transform("mean")
    E, Estar = (split(A.to_numpy() / Y.std(axis=0), x.to_numpy())[1] for A in centred)
    return E, Estar


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_residuals_about_the_means_of_clusters(
    kind: str, offset: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, n = np.random.default_rng(4), 20_000
    frame = pd.DataFrame({"c": rng.integers(0, 900, n), "x": rng.normal(size=n)})
    frame["y0"] = offset + frame["x"] + rng.normal(size=n) + frame["c"]
    frame["y1"] = frame["y0"] * 1e-3 + rng.normal(size=n)
    data: Any = frame
    if kind == "parquet":
        data = tmp_path / "in.parquet"
        pq.write_table(pa.Table.from_pandas(frame), data)
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    method = MicroHybrid(clusters="c", local="x")
    done = protect(data, Roles(confidential=["y0", "y1"]), method, Seed.for_tests(1)).done
    pair = ResidualPair.of(done, method)
    gathered = done.aligned.gather([RELEASED + "y0", RELEASED + "y1"])
    E, Estar = plainly(frame, np.column_stack(list(gathered.values())), "c")
    small, whole = np.hstack([pair.E, pair.Estar]), np.hstack([E, Estar])
    assert np.allclose(small.T @ small, whole.T @ whole, rtol=0, atol=max(ENGINE, 1e-15 * offset) * n * 100)
    assert gqr(pair.E).rank == 2
    some = done.stream.generator("sample").permutation(n)[:SAMPLED]
    ((before, after),) = pair.sample
    tolerance = max(ENGINE, 1e-15 * offset) * 100
    assert np.abs(before - E[some]).max() < tolerance
    assert np.abs(after - Estar[some]).max() < tolerance


@pytest.mark.parametrize("groups", [[], ["g"]])
def test_what_is_constant_in_clusters_has_no_residual_and_rounding_is_none(groups: list[str]) -> None:
    rng, n = np.random.default_rng(3), 600
    frame = pd.DataFrame({"c": np.arange(n) // 10, "g": np.arange(n) // 100, "y": rng.lognormal(0, 2, n)})
    frame["flat"] = rng.normal(size=60)[frame["c"]] * 1e3
    method = MicroHybrid(clusters="c")
    release = protect(frame, Roles(confidential=["y", "flat"], groups=groups), method, Seed.for_tests(3))
    pair = ResidualPair.of(release.done, method)
    assert pair.E.any(axis=0).tolist() == pair.Estar.any(axis=0).tolist() == [True, False]
    assert release.assessment.freedom.residual_rank == 1
