"""The Parquet engine: the same rows in the same order, however the files are cut, and everything through buckets."""

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

from suffice import Ipso, Restore, Roles, Seed, protect
from suffice.errors import FileError, InputError
from suffice.rows.parquet import ParquetRows
from suffice.rows.rows import BLOCK
from tests.tolerances import ENGINE

ROLES = Roles(confidential=["y"], given="C(g) + x", keep=["when", "flag", "maybe", "amount"])


def table(n: int, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pa.table(
        {
            "x": x,
            "when": pa.array(rng.integers(0, 9999, n), pa.int32()).cast(pa.date32()),
            "g": pa.array(rng.choice(["a", "b", "c"], n)).dictionary_encode(),
            "y": (x + rng.normal(size=n)).astype(np.float32),
            "flag": x > 0,
            "maybe": pa.array([None if i % 3 else f"text {i}" for i in range(n)], pa.large_string()),
            "amount": pa.array(rng.integers(0, 10**6, n)).cast(pa.decimal128(21, 2)),
        }
    )


def written(data: pa.Table, path: Path, group: int = 1000) -> Path:
    pq.write_table(data, path, row_group_size=group)
    return path


def read(rows: ParquetRows, columns: list[str]) -> list[tuple[int, int]]:
    return [(block.start, len(block)) for run in rows.runs(columns) for block in run]


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 9000), min_size=1, max_size=4), group=st.integers(700, 20_000), run=st.integers(1, 3)
)
def test_blocks_are_cut_at_fixed_rows_however_the_files_are_cut(
    sizes: list[int], group: int, run: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    n = sum(sizes)
    values = np.arange(n, dtype=float)
    for i, (a, size) in enumerate(zip(np.cumsum([0, *sizes]), sizes, strict=False)):
        pq.write_table(pa.table({"x": values[a : a + size]}), folder / f"{i}.parquet", row_group_size=group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.rows.rows.RUN", run)
        rows = ParquetRows(folder)
        runs = list(rows.runs(["x"]))
    assert rows.n == n
    found = [block for each in runs for block in each]
    assert [block.start for block in found] == list(range(0, n, BLOCK))
    assert all(len(each) <= run for each in runs)
    if n:
        assert np.array_equal(np.concatenate([block.columns["x"] for block in found]), values)


def test_files_of_a_folder_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name, value in (("b", 2.0), ("a", 1.0), ("c", 3.0)):
        pq.write_table(pa.table({"x": [value]}), tmp_path / f"{name}.parquet")
    (tmp_path / "readme.txt").write_text("not data")
    (block,) = next(iter(ParquetRows(tmp_path).runs(["x"])))
    assert block.columns["x"].tolist() == [1.0, 2.0, 3.0]


def test_what_is_hidden_in_a_folder_is_not_data(tmp_path: Path) -> None:
    for name in ("a.parquet", ".a.parquet.partial.parquet", "_metadata.parquet"):
        pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / name)
    assert ParquetRows(tmp_path).n == 2


def test_files_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="File 2 of the folder"):
        ParquetRows(tmp_path)


def test_damaged_files_are_refused_without_a_cell(tmp_path: Path) -> None:
    path = written(table(5000), tmp_path / "a.parquet")
    data = bytearray(path.read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[4:footer] = b"\xff" * (footer - 4)
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match="damaged") as told:
        read(ParquetRows(path), ["x"])
    assert told.value.__cause__ is None
    path.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(InputError, match="footer"):
        ParquetRows(path)


def test_a_file_that_changes_between_two_passes_is_refused(tmp_path: Path) -> None:
    path = written(table(100), tmp_path / "a.parquet")
    rows = ParquetRows(path)
    read(rows, ["x"])
    written(table(100, seed=2), path)
    with pytest.raises(FileError, match="changed while"):
        read(rows, ["x"])


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
@pytest.mark.parametrize("companion", [False, True], ids=["alone", "with a companion"])
def test_every_type_of_column_goes_through_many_buckets(
    kind: str, companion: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.rows.shuffle.BUCKET", 2500)
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    data = table(2 * BLOCK + 500)
    path = written(data, tmp_path / "in.parquet")
    beside = written(table(2 * BLOCK + 500, seed=2), tmp_path / "beside.parquet", 3333)
    method: Any = Restore(candidate=beside) if companion else Ipso()
    release = protect(path, ROLES, method, seed=Seed.for_tests(1), accept={"seed": "a test"})
    out = tmp_path / f"out.{kind}"
    assert release.write(out).holds
    shown = release.frame
    assert shown.column_names == data.column_names
    held = protect(data, ROLES, method, seed=Seed.for_tests(1)).frame
    for name in data.column_names:
        if name == "y":
            assert np.abs(shown["y"].to_numpy() - held["y"].to_numpy()).max() <= ENGINE
        else:
            given = data.schema.field(name).type
            plain = given.value_type if pa.types.is_dictionary(given) else given  # levels nobody has must not leave
            assert shown.schema.field(name).type == plain
            assert shown[name].to_pylist() == held[name].to_pylist()
    if kind == "parquet":
        back = pq.read_table(out)
        assert back["y"].to_pylist() == shown["y"].to_pylist()
        assert back["maybe"].to_pylist() == shown["maybe"].to_pylist()
    leftover = {each.name for each in tmp_path.iterdir()}
    papers = {f"out.{kind}.certificate.{each}" for each in ("json", "html")}
    assert leftover == {"in.parquet", "beside.parquet", f"out.{kind}", *papers}


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A fold holds a few runs at a time: Arrow's own count of bytes says so."""
    n = 40 * BLOCK
    path = tmp_path / "long.parquet"
    with pq.ParquetWriter(path, pa.schema([("x", pa.float64())])) as writer:
        for _ in range(40):
            writer.write_table(pa.table({"x": np.random.default_rng(1).normal(size=BLOCK)}), row_group_size=BLOCK)
    rows = ParquetRows(path, threads=2)
    before, most = pa.total_allocated_bytes(), 0

    def of(block: Any) -> Any:
        nonlocal most
        most = max(most, pa.total_allocated_bytes() - before)
        return np.array([len(block)])

    assert rows.fold(of, ["x"], "reading").item() == n
    assert most < 8 * BLOCK * 16 * 8  # eight runs of 16 blocks, of the file's 40 blocks fewer than held by two copies


def test_progress_ends_at_all_rows(tmp_path: Path) -> None:
    path = written(table(BLOCK + 5), tmp_path / "a.parquet")
    seen: list[tuple[str, int, int]] = []
    protect(path, ROLES, Ipso(), progress=lambda *call: seen.append(call), threads=2)
    assert {stage for stage, _, _ in seen} >= {"reading", "folding", "mapping"}
    for stage in {stage for stage, _, _ in seen}:
        calls = [(done, n) for each, done, n in seen if each == stage]
        assert max(calls) == ((4, 4) if stage == "judging" else (BLOCK + 5, BLOCK + 5))


def test_files_without_rows(tmp_path: Path) -> None:
    path = written(table(0), tmp_path / "empty.parquet")
    with pytest.raises(InputError, match="no records"):
        protect(path, ROLES, Ipso())


def test_a_frame_of_nothing_but_confidential_columns(tmp_path: Path) -> None:
    data = table(300).select(["y"])
    path = written(data, tmp_path / "y.parquet", 77)
    roles = Roles(confidential=["y"])
    one, two = (protect(source, roles, Ipso(), seed=Seed.for_tests(1)).frame for source in (data, path))
    assert np.abs(one["y"].to_numpy() - two["y"].to_numpy()).max() <= ENGINE
    three = protect(data.to_pandas(), roles, Ipso(), seed=Seed.for_tests(1)).frame
    assert isinstance(three, pd.DataFrame)
    assert np.abs(one["y"].to_numpy() - three["y"].to_numpy()).max() <= ENGINE
