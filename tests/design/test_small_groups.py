"""Small groups joined or dropped, and small levels joined inside groups: counted, certified, verified."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import Ipso, MicroHybrid, Release, Resize, Roles, Rotate, Seed, protect, verify
from suffice.design.design import Design
from suffice.design.groups import by_groups, learnt
from suffice.design.levels import small
from suffice.design.small_groups import smallest_group
from suffice.errors import InputError, UsageError
from suffice.method.method import Method
from suffice.rows.memory import MemoryRows
from suffice.rows.rows import Block

SIZES = {"joined": 300, "b": 200, "c": 60, "d": 6, "e": 4}


@lru_cache
def table(seed: int = 1) -> pa.Table:
    """A town of 4 records beside one of 300; `size` has a level with one record in every large town."""
    rng = np.random.default_rng(seed)
    towns = rng.permutation(np.repeat(list(SIZES), list(SIZES.values())))
    n = len(towns)
    size = np.where(np.arange(n) % 2, "small", "large")
    for town in SIZES:
        size[np.flatnonzero(towns == town)[0]] = "giant"
    y = rng.gamma(2.0, size=(n, 2))
    part = rng.integers(0, 3, n)
    return pa.table(
        {
            "town": towns,
            "code": pa.array([list(SIZES).index(town) * 2 for town in towns], pa.uint8()),
            "far": towns == "e",
            "size": size,
            "part": part,
            "x": rng.normal(size=n),
            "y": y[:, 0],
            "z": y @ [0.5, 1.0],
        }
    )


def roles(groups: Any = ("town",), how: str = "join", **more: Any) -> Roles:
    return Roles(**{"confidential": ["y", "z"], "given": "x", "groups": groups, "small_groups": how, **more})


def made(asked: Roles, method: Method | None = None, data: Any = None) -> Release:
    return protect(table() if data is None else data, asked, method or Ipso(), seed=Seed.for_tests(5))


def blocking(release: Release) -> set[str]:
    return {finding.rule for finding in release.findings if finding.level in ("stop", "never")} - {"seed"}


def test_one_group_of_four_forbids_a_file_of_hundreds_and_joining_or_dropping_it_heals_that():
    found = {f.rule: f for f in made(roles(how="stop")).findings}["degrees-of-freedom"]
    assert found.level == "stop"
    assert found.numbers["groups"] == 2
    assert "small_groups" in found.remedy
    for how, groups, records in (("join", 3, 570), ("drop", 3, 560)):
        release = made(roles(how=how))
        assert not blocking(release)
        assert release.frame.num_rows == records
        assert release.assessment.groups[0].groups == groups
        assert release.certificate.holds
        assert verify(table(), release.frame, roles(how=how)).holds


def test_what_was_done_is_counted_and_the_released_label_is_said():
    joined, dropped = made(roles()), made(roles(how="drop"))
    note = "3 of 5 groups by town (70 of 570 records) joined to one, so that none has fewer than 12 records: "
    assert note + "released with town = joined 2" in joined.certificate.notes  # a town is called "joined"
    assert sorted(set(joined.frame["town"].to_pylist())) == ["b", "joined", "joined 2"]
    assert joined.frame["town"].to_pylist().count("joined 2") == 70  # 10 are too few: the next smallest joins them
    told = "2 of 5 groups by town (10 of 570 records) dropped: they have fewer than 12 records"
    assert told in dropped.certificate.notes
    assert told in verify(table(), dropped.frame, roles(how="drop")).certificate.notes


def test_a_release_without_the_rest_group_is_not_verified():
    release = made(roles())
    assert not verify(table(), release.frame, roles(how="drop")).holds
    moved = release.frame.set_column(0, "town", pa.array(np.roll(release.frame["town"].to_pylist(), 1)))
    assert not verify(table(), moved, roles()).holds


def test_whole_numbers_get_the_first_that_is_free_and_truth_values_become_text():
    frame = made(roles(["code", "far"])).frame
    assert frame.schema.field("code").type == pa.uint8()
    assert sorted(set(frame["code"].to_pylist())) == [0, 1, 2]
    assert sorted(set(frame["far"].to_pylist())) == ["false", "joined"]


KINDS = {
    "pandas": lambda t: t.to_pandas(),
    "categories": lambda t: t.to_pandas().astype({"town": "category"}),
    "polars": pl.from_arrow,
    "enum": lambda t: pl.from_arrow(t).with_columns(pl.col("town").cast(pl.Enum(list(SIZES)))),
    "dictionary": lambda t: t.set_column(0, "town", t["town"].dictionary_encode()),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["join", "drop"])
def test_every_kind_of_frame_and_a_file_give_the_same_release(kind: str, how: str, tmp_path: Path) -> None:
    asked = roles(["town", "far"], how, merge_below=5, given="C(size)")
    data = KINDS[kind](table())
    one = made(asked, data=data)
    assert type(one.frame) is type(data)
    path = tmp_path / "in.parquet"
    pq.write_table(table(), path)
    two = made(asked, data=path).frame
    seen = pd.DataFrame({name: list(one.frame[name]) for name in two.column_names}).astype({"town": str})
    if kind == "dictionary":
        seen = one.frame.to_pandas().astype({"town": str})
    pd.testing.assert_frame_equal(seen.astype({"far": str}), two.to_pandas().astype({"far": str, "town": str}))


def test_missing_cells_first_then_groups_then_patterns():
    data = table().to_pandas()
    rng = np.random.default_rng(2)
    data.loc[rng.random(len(data)) < 0.2, "z"] = np.nan
    data.loc[rng.random(len(data)) < 0.02, "x"] = np.nan
    for missing in ("drop", "patterns"):
        asked = roles(how="join", missing=missing, given="x" if missing == "drop" else "C(size)")
        release = made(asked, data=data)
        assert verify(data, release.frame, asked).holds
        assert [("joined to one" in n) for n in release.certificate.notes].count(True) == 1


def test_new_records_and_clusters_too():
    for method in (Resize(m=600), MicroHybrid(clusters="part"), Rotate()):
        asked = roles(given="") if isinstance(method, Resize) else roles(given="x")
        release = made(asked, method)
        assert release.certificate.holds
        assert set(release.frame["town"].to_pylist()) == {"b", "joined", "joined 2"}


def test_the_least_is_what_leaves_ten_degrees_of_freedom_unless_told():
    rows = MemoryRows(table())
    assert smallest_group(Design.learn(rows, roles())) == 2 + 10
    assert smallest_group(Design.learn(rows, roles(given="C(size)"))) == 3 + 10
    assert smallest_group(Design.learn(rows, roles(smallest_group=5))) == 5
    many = MemoryRows(table().append_column("street", pa.array(np.arange(570) // 5)))
    assert smallest_group(Design.learn(many, roles(given="C(street)"))) == 1 + 10  # absorbed: no columns of X
    told = made(roles(how="drop", smallest_group=5))
    assert told.frame.num_rows == 566
    assert "degrees-of-freedom" in blocking(told)


def test_a_group_of_just_enough_records_stays():
    assert small(np.array([12, 11, 30]), 12).tolist() == [True, True, False]
    assert not small(np.array([12, 12, 30]), 12).any()


def test_what_makes_no_sense_is_said():
    with pytest.raises(UsageError, match="Name `groups` as well"):
        Roles(confidential=["y"], small_groups="join")
    with pytest.raises(UsageError, match="join or drop"):
        Roles(confidential=["y"], groups=["town"], smallest_group=5)
    with pytest.raises(InputError, match="No record is left"):
        made(roles(how="drop", smallest_group=1000))


def cells(design: Design, rows: MemoryRows) -> list[int]:
    """Records of every level in every group, as X has them."""
    keys = by_groups(rows, design.groupings) * 100
    codes = next(iter(rows.map(lambda run: [design.cells(block) for block in run], design.columns, "")))[0]
    return np.unique(keys + codes, return_counts=True)[1].tolist()


@pytest.mark.parametrize("below", [2, 5, 40])
def test_levels_are_joined_in_every_group_by_itself(below: int) -> None:
    rows = MemoryRows(table().filter(pa.array([t in ("joined", "b", "c") for t in table()["town"].to_pylist()])))
    design = Design.learn(rows, roles(how="stop", given="C(size)", merge_below=below))
    assert min(cells(design, rows)) >= min(below, 30)
    assert any("joined, each in its group" in note for note in design.notes)
    assert "giant" not in " ".join(design.notes)
    assert min(cells(Design.learn(rows, roles(how="stop", given="C(size)")), rows)) == 1


def test_a_level_that_is_large_everywhere_is_left_as_it_is():
    rows = MemoryRows(table().filter(pa.array([t in ("joined", "b") for t in table()["town"].to_pylist()])))
    asked = roles(how="stop", given="C(part)", merge_below=5)
    assert Design.learn(rows, asked).notes == ()
    assert Design.learn(rows, asked).categories["part"].local is None


@pytest.mark.parametrize("method", [Ipso(), Rotate(), MicroHybrid(clusters="part", local="C(size)")])
def test_one_giant_in_a_group_stops_a_release_and_merge_below_heals_it(method: Method) -> None:
    given = "" if isinstance(method, MicroHybrid) else "C(size)"
    asked = roles(given=given)
    free = roles(given=given, merge_below=5)
    assert "leverage" in blocking(made(asked, method)) or isinstance(method, MicroHybrid)
    healed = made(free, method)
    assert "leverage" not in blocking(healed)
    assert healed.certificate.holds
    if not isinstance(method, MicroHybrid):
        assert verify(table(), healed.frame, free).holds


def test_and_inside_patterns_of_missing_cells(tmp_path: Path) -> None:
    data = table().to_pandas()
    data.loc[np.arange(len(data)) % 3 == 0, "z"] = np.nan
    data["size"] = np.where(data.index == 3, "giant", np.where(data.index % 2, "small", "large"))
    data.loc[[4, 5, 7, 8], "size"] = "giant"  # five in the file, one of them in a pattern
    given = {"groups": (), "how": "stop", "given": "C(size)", "missing": "patterns"}
    assert "leverage" in blocking(made(roles(**given), data=data))
    free = roles(**given, merge_below=4)
    healed = made(free, data=data)
    assert not blocking(healed)
    assert verify(data, healed.frame, free).holds
    path = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pandas(data), path)
    pd.testing.assert_frame_equal(made(free, data=path).frame.to_pandas(), healed.frame, check_dtype=False)


@pytest.mark.parametrize(
    "numbers", [[5, 6, 7, 8], [5, 6, 8, 9], [-3], [2**62, 2**62 + 1]], ids=["all", "gap", "one", "wide"]
)
def test_levels_are_found_by_their_numbers_and_no_others_are(numbers: list[int]) -> None:
    column = np.random.default_rng(1).permutation(np.repeat(numbers, 3))
    [category] = learnt(MemoryRows(pa.table({"g": column})), ["g"])
    assert np.array_equal(np.array(numbers)[category.codes(Block(0, {"g": column}))], column)
    for other in {numbers[0] - 1, numbers[-1] + 1, 7, -(2**63), 2**63 - 1} - {*numbers}:
        with pytest.raises(InputError, match="not learnt"):
            category.codes(Block(0, {"g": np.array([other])}))
