"""Divisions: every record in one group, every group handed out once and in order, in memory or through files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Roles
from suffice.design.design import Design
from suffice.design.groups import by_groups
from suffice.errors import InputError
from suffice.files.source import open_rows
from suffice.protection.strata import Strata, boxes
from suffice.rows.rows import Rows

ROLES = Roles(confidential=["y", "z"], given="t", groups=["g", "h"], missing="patterns")


def frame(n: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"g": rng.choice(["a", "b", "long name"], n), "h": rng.integers(-2, 2, n)})
    data = data.assign(t=rng.choice(["u", "v"], n), y=np.arange(n) + 0.5, z=rng.normal(size=n))
    data.loc[rng.random(n) < 0.3, "z"] = np.nan
    return data


def divided(source: Any, roles: Roles = ROLES) -> tuple[Rows, Strata]:
    rows = open_rows(source, 1, None)
    division = Strata.of(rows, Design.learn(rows, roles))
    assert division is not None
    return rows, division


@settings(max_examples=30, deadline=None)
@given(n=st.integers(60, 300), seed=st.integers(0, 2**31))
def test_records_are_in_one_group_where_all_columns_and_holes_agree(n: int, seed: int) -> None:
    data = frame(n, seed)
    _, division = divided(data)
    keys = list(zip(data["g"], data["h"], data["z"].isna(), strict=True))
    pairs = {*zip(keys, division.labels.tolist(), strict=True)}
    assert len(pairs) == len(set(keys)) == division.count
    for (_, _, gone), label in pairs:
        assert division.confidential[label] == (("y",) if gone else ("y", "z"))


def test_the_order_of_rows_does_not_number_groups_anew() -> None:
    data = frame(200)
    turned = data.sample(frac=1, random_state=1)
    one, two = divided(data)[1].labels, divided(turned.reset_index(drop=True))[1].labels
    assert np.array_equal(one[turned.index], two)


def test_without_groups_and_holes_there_is_no_division() -> None:
    rows = open_rows(frame(50), 1, None)
    roles = Roles(confidential=["y"])
    assert Strata.of(rows, Design.learn(rows, roles)) is None
    assert by_groups(rows, ()).tolist() == [0] * 50


@pytest.mark.parametrize("together", [1, 40, 100, 2**20])
@pytest.mark.parametrize("source", ["memory", "parquet"])
def test_every_group_is_handed_out_once_with_its_rows_in_order(
    source: str, together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = frame(9_000)
    monkeypatch.setattr("suffice.protection.strata.TOGETHER", together)
    pq.write_table(pa.Table.from_pandas(data), tmp_path / "in.parquet", row_group_size=777)
    rows, division = divided(data if source == "memory" else tmp_path / "in.parquet")
    seen = []
    chunks = division.chunks(rows, ("y", "g", "h", "t", "z"))
    for number, places, cut in (each for chunk in chunks for each in chunk):
        part = cut()
        assert (division.labels[places] == number).all()
        assert (np.diff(places) > 0).all()
        blocks = [block for run in part.runs(("y", "g")) for block in run]
        assert np.array_equal(np.concatenate([block.columns["y"] for block in blocks]), places + 0.5)
        assert {value for block in blocks for value in block.columns["g"].to_pylist()} == {*data["g"][places]}
        assert part.n == len(places)
        assert dict(part.kinds) == dict(rows.kinds)
        seen.append(number)
    assert sorted(seen) == list(range(division.count))


@settings(max_examples=100, deadline=None)
@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=40), most=st.integers(1, 120))
def test_groups_share_a_file_while_they_fit_in_memory(sizes: list[int], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.protection.strata.TOGETHER", most)
        box = boxes(np.array(sizes))
    assert box[0] == 0
    assert set(np.diff(box).tolist()) <= {0, 1}  # neighbours, none left out
    held = np.bincount(box, weights=sizes)
    assert all(total <= most or (box == number).sum() == 1 for number, total in enumerate(held))
    assert all(one + sizes[int(np.flatnonzero(box == i + 1)[0])] > most for i, one in enumerate(held[:-1]))


def test_two_records_a_group_are_the_least_on_average() -> None:
    data = frame(100).assign(firm=np.arange(100) // 2)
    roles = Roles(confidential=["y"], groups=["firm"])
    assert divided(data, roles)[1].count == 50
    with pytest.raises(InputError, match="There are 51 groups by firm in 100 records") as told:
        divided(data.assign(firm=[*data["firm"][:-1], 77]), roles)
    assert "identifiers" in str(told.value)
