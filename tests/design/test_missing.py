"""Missing cells: refused with names and counts, dropped, or kept as patterns; and all of it is said."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Ipso, Release, Restore, Roles, Rotate, Seed, cli, protect, verify
from suffice.algebra.array import Flags
from suffice.design.missing import Patterns
from suffice.errors import InputError, NotPreservedError, UsageError
from suffice.plan.plan import Plan
from tests.places import SHARED, needs_shared
from tests.tolerances import ALGEBRA, ENGINE
from tests.truth import ratios

Y = ["y", "z", "v"]
ROLES = Roles(confidential=Y, given="x", missing="patterns")
STATISTICS = ("mean", "covariance", "fit")
LARGE = {"": 120, "y": 40, "z v": 30, "y z v": 3}
"""Columns that are missing, and in how many records."""


def holed(patterns: dict[str, int] = LARGE, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = sum(patterns.values())
    x = rng.normal(size=n)
    data = pd.DataFrame({"x": x, "t": rng.choice(["a", "b"], n), "g": rng.choice(["north", "south"], n)})
    data["y"], data["z"] = 10 + 3 * x + rng.normal(size=n), rng.gamma(2.0, 1.0, n) + 1234.5
    data["v"], data["w"] = np.rint(50 + 9 * rng.normal(size=n)), rng.choice([0.5, 1.0, 2.5], n)
    for rows, missing in zip(np.split(rng.permutation(n), np.cumsum([*patterns.values()])[:-1]), patterns, strict=True):
        data.loc[rows, missing.split()] = np.nan
    return data


def made(source: Any, roles: Roles = ROLES, method: Any = None, key: int = 1, **more: Any) -> Release:
    return protect(source, roles, method or Ipso(), seed=Seed.for_tests(key), **more)


def named(data: Any) -> pd.DataFrame:
    return data if isinstance(data, pd.DataFrame) else data.to_pandas()


def pattern(data: pd.DataFrame) -> pd.Series:
    return data[Y].isna().astype(int).astype(str).agg("".join, axis=1)


def worst(data: pd.DataFrame, released: pd.DataFrame, weighted: bool = False, by: list[str] | None = None) -> float:
    """The largest ratio in any pattern, by code that knows nothing of patterns."""
    found = []
    keys = [
        pd.concat([pattern(each), *(each[name] for name in by or [])], axis=1).agg("|".join, axis=1)
        for each in (data, released)
    ]
    assert sorted(keys[0]) == sorted(keys[1])  # as many records of each
    for key in set(keys[0]):
        parts = [each[own == key] for each, own in zip((data, released), keys, strict=True)]
        there = [name for name in Y if parts[0][name].notna().all()]
        arrays = [part[names].to_numpy(dtype=float) for part in parts for names in (["x"], there)]
        weights = [part["w"].to_numpy() if weighted else None for part in parts]
        found += ratios(*arrays, *weights).values() if there else [0.0]
    return max(found)


def off(one: Any, two: Any) -> float:
    a, b = named(one)[Y].to_numpy(dtype=float), named(two)[Y].to_numpy(dtype=float)
    assert np.array_equal(np.isnan(a), np.isnan(b))
    return float(np.nanmax(np.abs(a - b) / np.nanstd(b, axis=0)))


def to_parquet(data: pd.DataFrame, folder: Path) -> Path:
    pq.write_table(pa.Table.from_pandas(data, preserve_index=False), folder / "in.parquet", row_group_size=33)
    return folder / "in.parquet"


# error


@pytest.mark.parametrize("engine", ["pandas", "parquet"])
def test_unless_told_missing_cells_are_an_error_with_names_counts_and_places(engine: str, tmp_path: Path) -> None:
    data = holed()
    source = data if engine == "pandas" else to_parquet(data, tmp_path)
    with pytest.raises(InputError) as told:
        made(source, replace(ROLES, missing="error"))
    for name in Y:
        count, first = data[name].isna().sum(), np.flatnonzero(data[name].isna())[0] + 1
        assert f"{name}: missing in {count} records, first in rows {first}, " in str(told.value)
    assert "1234" not in str(told.value)


@pytest.mark.parametrize("missing", ["drop", "patterns"])
@pytest.mark.parametrize("engine", ["pandas", "parquet"])
def test_an_infinite_cell_is_an_error_with_its_place_in_the_file(missing: str, engine: str, tmp_path: Path) -> None:
    """Not its place among the records that are left."""
    data = holed({"": 100})
    data.loc[[3, 4, 5], "y"], row = np.nan, 50
    data.loc[row, ["y", "z"]] = [1.0, np.inf]
    with pytest.raises(InputError, match=f"z: infinite in 1 record, first in row {row + 1}"):
        made(data if engine == "pandas" else to_parquet(data, tmp_path), replace(ROLES, missing=missing))


# drop


def test_dropped_records_are_counted_in_the_certificate(tmp_path: Path) -> None:
    data, roles = holed(), replace(ROLES, missing="drop")
    release = made(data, roles)
    assert release.certificate.holds
    note = "73 of 193 records dropped because of missing cells (y 43, z 33, v 33)"
    assert note in release.certificate.text()
    whole = data.dropna().reset_index(drop=True)
    assert len(release.frame) == len(whole) == 120
    assert worst(whole, release.frame) <= ALGEBRA
    assert off(made(to_parquet(data, tmp_path), roles).frame, release.frame) <= ENGINE
    assert verify(data, release.frame, roles).holds


def test_a_missing_given_cell_drops_a_record_and_an_unused_one_does_not() -> None:
    data = holed({"": 100})
    data.loc[[3, 5], "x"] = np.nan
    data.loc[7, "t"] = None
    data.loc[9, "g"] = None
    assert len(made(data, replace(ROLES, missing="drop")).frame) == 98
    assert len(made(data, replace(ROLES, missing="drop", given="x + C(t)", groups=["g"])).frame) == 96
    assert len(made(data, replace(ROLES, missing="drop", keep=["t"])).frame) == 98


def test_nothing_is_dropped_of_a_complete_file() -> None:
    data = holed({"": 100})
    released = made(data, replace(ROLES, missing="drop"))
    assert not any("dropped because" in note for note in released.certificate.notes)
    assert len(released.frame) == 100
    with pytest.raises(InputError, match="No record is left"):
        made(data.assign(v=np.nan), replace(ROLES, missing="drop"))


@pytest.mark.parametrize("missing", ["drop", "patterns"])
@pytest.mark.parametrize("engine", ["pandas", "parquet"])
def test_a_companion_loses_the_same_records(missing: str, engine: str, tmp_path: Path) -> None:
    data = holed({"": 60, "y": 30, "z": 3})
    beside = holed({"": 93}, seed=2)[Y]
    pq.write_table(pa.Table.from_pandas(beside), tmp_path / "beside.parquet")
    source, candidate = (
        (data, beside) if engine == "pandas" else (to_parquet(data, tmp_path), tmp_path / "beside.parquet")
    )
    release = made(source, replace(ROLES, missing=missing), Restore(candidate=candidate))
    kept = data[data["z"].notna() & (data["y"].notna() | (missing == "patterns"))]
    assert release.certificate.holds
    assert worst(kept, named(release.frame)) <= ALGEBRA
    with pytest.raises(InputError, match="The candidate has 92 rows and the data 93"):
        made(data, replace(ROLES, missing=missing), Restore(candidate=beside[1:]))


# patterns


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "parquet", "feather"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_each_pattern_keeps_its_statistics_and_its_holes(engine: str, weighted: bool, tmp_path: Path) -> None:
    data, roles = holed(), replace(ROLES, weight="w" if weighted else None)
    table = pa.Table.from_pandas(data, preserve_index=False)
    feather.write_feather(table, str(tmp_path / "in.feather"))
    source: dict[str, Any] = {
        "pandas": data,
        "polars": pl.from_arrow(table),
        "pyarrow": table,
        "parquet": to_parquet(data, tmp_path),
        "feather": tmp_path / "in.feather",
    }
    release = made(source[engine], roles)
    assert release.certificate.holds, release.certificate.text()
    levels = {
        claim.statistic for claim in release.certificate.claims if claim.level.endswith("pattern of missing cells")
    }
    assert levels == {*STATISTICS}
    assert worst(data, named(release.frame), weighted) <= ALGEBRA
    assert (pattern(named(release.aligned())) == pattern(data)).all()
    assert off(release.frame, made(data, roles).frame) <= ENGINE
    moved = np.abs(named(release.aligned())[Y].to_numpy() - data[Y].to_numpy())
    assert (np.nanmedian(moved, axis=0) > 0.1).all()


def test_holes_are_null_in_every_frame_and_file(tmp_path: Path) -> None:
    data = holed()
    polars = made(pl.from_pandas(data)).frame
    assert [polars[name].null_count() for name in Y] == [data[name].isna().sum() for name in Y]
    assert not any(polars[name].is_nan().any() for name in Y)
    for source in (data, to_parquet(data, tmp_path)):
        release = made(source, accept={"seed": "a test"})
        for kind in ("csv", "parquet", "feather", "dta"):
            path = tmp_path / f"out.{kind}"
            assert release.write(path, force=True).holds
            assert verify(data, path, ROLES).holds
        assert pq.read_table(tmp_path / "out.parquet")["y"].null_count == 43
        assert feather.read_table(str(tmp_path / "out.feather"))["y"].null_count == 43
        lines = (tmp_path / "out.csv").read_text().splitlines()
        assert sum(",," in line or line.endswith(",") for line in lines) == 73
        assert not any("nan" in line.lower() for line in lines)
        assert pd.read_stata(tmp_path / "out.dta")["y"].isna().sum() == 43


def test_whole_numbers_and_bounds_in_patterns() -> None:
    data = holed()
    whole = data.assign(v=data["v"].astype("Int64"))
    roles = replace(ROLES, integer=["v"], bounds={"z": (0, None)}, edits=["v <= z"])
    for source in (whole, pl.from_pandas(whole)):
        release = made(source, roles, Rotate(sweeps=3))
        assert release.certificate.holds
        released = named(release.frame)
        v = released["v"].dropna()
        assert (v == v.round()).all()
        assert (released["z"].dropna() >= 0).all()
        assert released["v"].isna().sum() == 33


def test_patterns_inside_groups(tmp_path: Path) -> None:
    data, roles = holed({"": 120, "y": 60, "z v": 60, "y z v": 3}), replace(ROLES, groups=["g"])
    release = made(data, roles)
    assert release.certificate.holds
    assert worst(data, release.frame, by=["g"]) <= ALGEBRA
    assert any("by g and pattern of missing cells" in claim.level for claim in release.certificate.claims)
    assert off(made(to_parquet(data, tmp_path), roles).frame, release.frame) <= ENGINE
    assert "north" not in release.certificate.text() + repr(release.findings)


def test_one_pattern_that_is_off_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = holed()
    release = made(data, accept={"seed": "a test"})
    off_ = release.frame.copy()
    off_.loc[off_["y"].isna() & off_["z"].notna(), "z"] += 1e-9
    assert not verify(data, off_, ROLES).holds
    monkeypatch.setitem(release._state, "frame", off_)
    with pytest.raises(NotPreservedError):
        release.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_records_without_any_value_stay_and_count_nowhere() -> None:
    data = holed({"": 60, "y z v": 1})
    release = made(data)
    assert release.frame[Y].isna().all(axis=1).sum() == 1
    found = {finding.rule for finding in release.findings if finding.level != "warn"}
    assert found <= {"seed", "repeated-release", "domain"}
    with pytest.raises(InputError, match="No pattern of 10 records and more has a value of y, z, v"):
        made(data[data["y"].isna()])
    with pytest.raises(InputError, match="No pattern of 10 records and more has a value of z"):
        made(data.assign(z=np.nan))


# Patterns with few records


def test_a_small_pattern_joins_the_largest_that_contains_its_holes() -> None:
    data = holed({"": 100, "y": 4, "y z": 40, "y v": 60, "z v": 30})
    release = made(data)
    found = pattern(release.aligned()).value_counts().to_dict()
    assert found == {"000": 100, "110": 40, "101": 64, "011": 30}
    note = (
        "4 patterns of missing cells, each protected by itself; of those with fewer than 10 records 4 records joined "
    )
    assert note + "another (4 cells blanked) and 0 dropped" in release.certificate.text().replace("\n", " ")
    assert verify(data, release.frame, ROLES).holds


def test_a_small_pattern_that_fits_nowhere_is_dropped(tmp_path: Path) -> None:
    data = holed({"": 100, "y": 4, "z v": 30})
    release = made(data)
    assert len(release.frame) == 130
    assert "0 records joined another (0 cells blanked) and 4 dropped" in release.certificate.text()
    kept = data[~(data["y"].isna())]
    assert worst(kept, release.frame) <= ALGEBRA
    assert off(made(to_parquet(data, tmp_path)).frame, release.frame) <= ENGINE
    assert verify(data, release.frame, ROLES).holds


@pytest.mark.parametrize(("count", "kept"), [(9, 0), (10, 10)])
def test_the_threshold_unless_told(count: int, kept: int) -> None:
    data = holed({"": 100, "y": count})
    assert made(data).frame["y"].isna().sum() == kept


@pytest.mark.parametrize(("count", "kept"), [(13, 0), (14, 14)])
def test_the_threshold_grows_with_the_given_columns(count: int, kept: int) -> None:
    """rank X + k + 2 = 9 + 3 + 2."""
    data = holed({"": 200, "y": count})
    data["many"] = np.random.default_rng(1).permutation(np.arange(len(data)) % 8).astype(str)
    assert made(data, replace(ROLES, given="x + C(many)")).frame["y"].isna().sum() == kept


@pytest.mark.parametrize(("least", "kept"), [(5, 6), (6, 6), (7, 0), (2, 6)])
def test_the_threshold_can_be_set(least: int, kept: int) -> None:
    data = holed({"": 100, "y": 6})
    release = made(data, replace(ROLES, smallest_pattern=least))
    assert release.frame["y"].isna().sum() == kept
    assert f"fewer than {least} records" in release.certificate.text()
    assert release.done.stream.digest() != made(data).done.stream.digest()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"smallest_pattern": 1}, "must be a whole number, 2 or more"),
        ({"smallest_pattern": True}, "must be a whole number, 2 or more"),
        ({"smallest_pattern": "10"}, "must be a whole number, 2 or more"),
        ({"smallest_pattern": 20, "missing": "drop"}, "Name missing = patterns"),
        ({"missing": "impute"}, "must be one of error, drop, patterns"),
    ],
)
def test_bad_requests(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        replace(ROLES, **changes)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 80),
    k=st.integers(1, 5),
    least=st.integers(2, 12),
    groups=st.integers(1, 3),
)
def test_laws_of_patterns(seed: int, n: int, k: int, least: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    absent, group = rng.random((n, k)) < rng.random(), rng.integers(0, groups, n).astype(np.int32)
    found = Patterns.within(group, absent, least)
    assert not (absent & ~found.holes).any()  # holes only grow
    assert not found.blanked(absent)[~found.kept].any()
    assert found.kept[absent.all(axis=1)].all()  # without a value there is nothing to protect
    for each in range(groups):
        here = (group == each) & found.kept
        holes, counts = np.unique(found.holes[here], axis=0, return_counts=True)
        assert (counts[~holes.all(axis=1)] >= least).all()
        assert not any(_contained(absent[i], holes) for i in np.flatnonzero((group == each) & ~found.kept))
    large = np.array([(absent[group == group[i]] == absent[i]).all(axis=1).sum() >= least for i in range(n)])
    assert np.array_equal(found.holes[large], absent[large])  # a large pattern stays as it is
    assert found.kept[large].all()


def _contained(holes: Flags, among: Flags) -> bool:
    """Whether some pattern, not that of records without any value, has all of these holes."""
    return any(not (holes & ~other).any() and not other.all() for other in among)


# Missing given cells


def test_a_missing_category_is_a_level_of_its_own_and_a_missing_number_an_error() -> None:
    data = holed()
    data.loc[data.index % 7 == 1, "t"] = None
    with pytest.raises(InputError, match="t: missing in 28 records"):
        made(data.fillna(dict.fromkeys(Y, 1.0)), replace(ROLES, given="x + C(t)", missing="error"))
    release = made(data, replace(ROLES, given="x + C(t)"))
    assert release.certificate.holds
    gone = [named(each)["t"].isna() for each in (data, release.frame)]
    for own, name in [(own, name) for own in (pattern(data).unique()) for name in Y]:
        means = [
            each.loc[rows & (pattern(each) == own), name].mean()
            for each, rows in zip((data, release.frame), gone, strict=True)
        ]
        assert np.isnan(means).all() or np.isclose(*means, rtol=1e-12)
    data.loc[5, "x"] = np.nan
    with pytest.raises(InputError, match="x: missing in 1 record, first in row 6"):
        made(data)
    data.loc[5, ["x", "g"]] = [0.0, None]
    with pytest.raises(InputError, match="g: missing in 1 record, first in row 6"):
        made(data, replace(ROLES, groups=["g"]))


# An ordinary survey


@needs_shared
def test_the_patterns_of_a_social_survey() -> None:
    """SD2011: all 14 numeric columns have 44 patterns, 31 of them with fewer than 10 records."""
    assert SHARED is not None
    data = pd.read_csv(SHARED / "data" / "SD2011.csv")
    numeric = list(data.select_dtypes("number"))
    counts = data[numeric].isna().value_counts()
    assert (len(numeric), len(counts), (counts < 10).sum()) == (14, 44, 31)
    roles = Roles(confidential=numeric, missing="patterns")
    release = protect(data, roles, Ipso(), seed=Seed.for_tests(1))
    assert release.certificate.holds
    assert "fewer than 17 records 106 records joined another (207 cells blanked) and 38 dropped" in str(
        release.certificate.text()
    )
    assert {f.rule: f.level for f in release.findings if f.level in ("stop", "never")} == {"seed": "stop"}
    final = release.frame[numeric].isna().value_counts()
    assert (len(final), final.min() >= 17, final.sum()) == (8, True, 4962)
    assert verify(data, release.frame, roles).holds


# The command line and plans


def test_on_the_command_line_and_in_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = holed({"": 100, "y": 6, "z": 30})
    monkeypatch.chdir(tmp_path)
    data.to_csv("in.csv", index=False)

    def suffice(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out + said.err

    roles = ["--confidential", "y,z,v", "--given", "x"]
    request = ["protect", "in.csv", "-o", "out.csv", "--method", "ipso", *roles]
    code, said = suffice(*request)
    assert (code, "y: missing in 6 records" in said) == (3, True)
    assert not Path("out.csv").exists()
    code, said = suffice(*request, "--missing", "patterns", "--smallest-pattern", "6")
    assert code == 4  # six records have four degrees of freedom: stopped
    code, said = suffice(*request, "--missing", "patterns")
    assert (code, "and 6 dropped" in said) == (0, True)
    assert pd.read_csv("out.csv")["z"].isna().sum() == 30
    assert suffice("verify", "in.csv", "out.csv", *roles, "--missing", "patterns")[0] == 0
    assert suffice(*request, "--missing", "drop", "--force")[0] == 0
    assert len(pd.read_csv("out.csv")) == 100
    assert suffice(*request, "--missing", "patterns", "--smallest-pattern", "1")[0] == 2
    plan = Plan.of(
        {
            "data": {"path": "in.csv"},
            "roles": {"confidential": Y, "missing": "patterns", "smallest_pattern": 30},
            "method": [{"name": "ipso"}],
            "release": {"path": "again.csv"},
        }
    )
    assert Plan.parse(plan.to_toml()) == plan
    assert plan.roles.build().smallest_pattern == 30


def test_an_edit_says_nothing_of_a_record_that_lacks_a_cell() -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.uniform(50, 100, 400), "b": rng.uniform(1, 20, 400)})
    data.loc[:79, "a"] = np.nan
    release = protect(data, Roles(confidential=["a", "b"], missing="patterns", edits=["b <= a"]))
    assert "limits" not in {finding.rule for finding in release.findings}
    assert release.certificate.holds
