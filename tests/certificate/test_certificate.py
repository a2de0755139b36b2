"""The certificate tells the truth: it fails when a cell is altered, holds when none is, and holds no value."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import (
    Fitted,
    Ipso,
    IpsoA,
    IpsoB,
    Release,
    ResidualCorrelation,
    Restore,
    Roles,
    Romm,
    Seed,
    protect,
    verify,
)
from suffice.errors import FileError, NotPreservedError, UsageError
from suffice.files.writer import Writer
from suffice.method.isometric import Isometric
from tests.tolerances import ALGEBRA
from tests.truth import EPS, ratios

ROLES = Roles(confidential=["y1", "y2"], given="C(g) + x", keep=["note"])
ACCEPTED = dict.fromkeys(["seed", "explained-columns", "nearness"], "y1 is nearly a function of x here")


def frame(n: int = 500, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "g": rng.choice(["one", "two"], n),
            "y1": 1234.5678 + 10 * x + rng.normal(size=n),
            "x": x,
            "note": rng.integers(0, 9, n),
            "y2": rng.gamma(2.0, 1.0, n) - x,
        }
    )


def parquet(folder: Path, data: pd.DataFrame) -> Path:
    path = folder / "input.parquet"
    pq.write_table(pa.Table.from_pandas(data, preserve_index=False), path, row_group_size=97)
    return path


def made(source: Any, method: Isometric | None = None, **more: Any) -> Release:
    return protect(source, ROLES, method or Ipso(), accept=ACCEPTED, seed=Seed.for_tests(1), **more)


def altering(monkeypatch: pytest.MonkeyPatch, column: str, by: float) -> None:
    """The writer puts one cell wrong."""
    write = Writer.write

    def wrong(self: Writer, table: pa.Table) -> None:
        values = table.column(column).to_numpy().copy()
        values[len(values) // 2] += by
        write(self, table.set_column(table.schema.get_field_index(column), column, pa.array(values)))

    monkeypatch.setattr(Writer, "write", wrong)


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "feather"])
@pytest.mark.parametrize("path", [False, True], ids=["frame", "path"])
@pytest.mark.parametrize("column", ["y1", "y2", "x"])
def test_one_altered_cell_and_no_file_is_left(
    kind: str, path: bool, column: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source: Any = parquet(tmp_path, frame()) if path else frame()
    release = made(source)
    altering(monkeypatch, column, 1e-6 * frame()[column].std())
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(NotPreservedError, match="DOES NOT HOLD") as told:
        release.write(out / f"release.{kind}")
    assert told.value.exit_code == 6
    assert list(out.iterdir()) == []
    assert "1234" not in str(told.value)


def test_an_altered_cell_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "release.parquet"
    made(frame()).write(target)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    altering(monkeypatch, "y1", 1e-6)
    with pytest.raises(NotPreservedError):
        made(frame(seed=2)).write(target, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "feather", "arrow"])
@pytest.mark.parametrize("source", ["pandas", "polars", "path"])
def test_what_is_written_is_what_is_shown(kind: str, source: str, tmp_path: Path) -> None:
    data: Any = {"pandas": frame, "polars": lambda: pl.from_pandas(frame()), "path": lambda: parquet(tmp_path, frame())}
    release = made(data[source]())
    certificate = release.write(tmp_path / f"release.{kind}")
    assert certificate.holds
    assert "written" in certificate.source
    assert release.certificate is certificate
    readers: dict[str, Any] = {
        "parquet": pd.read_parquet,
        "csv": pd.read_csv,
        "tsv": lambda p: pd.read_csv(p, sep="\t"),
    }
    back = readers.get(kind, pd.read_feather)(tmp_path / f"release.{kind}")
    shown = release.frame if isinstance(release.frame, pd.DataFrame) else release.frame.to_pandas()
    assert list(back.columns) == list(shown.columns) == ["g", "y1", "x", "note", "y2"]
    for name in shown.columns:
        one, two = back[name].to_numpy(), shown[name].to_numpy()
        if one.dtype.kind == "f" and kind in ("csv", "tsv"):  # pandas' own reader is good to the last digit or so
            assert np.allclose(one, two, rtol=4 * EPS, atol=0)
        else:
            assert (one == two).all()
    saved = json.loads((tmp_path / f"release.{kind}.certificate.json").read_text())
    assert saved["holds"] is True


@pytest.mark.parametrize("method", [Ipso(), IpsoA(), IpsoB(), Fitted(), Romm(lam=0.3), ResidualCorrelation(0.3)])
def test_claims_are_what_the_method_promises_and_the_rest_is_said(method: Isometric) -> None:
    certificate = made(frame(), method).certificate
    assert {claim.statistic for claim in certificate.claims} == {*method.kept, "given"}
    for statistic in {"mean", "covariance", "fit"} - {*method.kept}:
        assert any(each.startswith(f"{statistic} ") for each in certificate.not_promised)
    assert any("shapes" in each for each in certificate.not_promised)
    assert any("note" in each for each in certificate.not_promised)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(12, 200), size=st.floats(-13, 0), column=st.sampled_from(["y1", "y2"]))
def test_errors_are_those_of_extended_precision(seed: int, n: int, size: float, column: str) -> None:
    """Neither too kind nor too strict: whatever a cell is off by, claim and truth agree."""
    data = frame(n, seed)
    released = made(data).frame
    released.loc[n // 2, column] += 10.0**size * data[column].std()
    said = {claim.statistic: claim for claim in verify(data, released, ROLES).certificate.claims}
    X, Xstar = (np.column_stack([each["g"] == "one", each["x"]]).astype(float) for each in (data, released))
    Y, Ystar = (each[["y1", "y2"]].to_numpy() for each in (data, released))
    for statistic, true in ratios(X, Y, Xstar, Ystar).items():
        assert abs(said[statistic].ratio - true) <= 3 + 1e-6 * true
        assert said[statistic].holds == (said[statistic].ratio <= ALGEBRA)


@pytest.mark.parametrize("at", [0.0, 1e9])
@pytest.mark.parametrize("column", ["x", "c", "zero", "y", "same", "none", "w"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_any_column_that_is_off_is_seen(at: float, column: str, weight: str | None) -> None:
    rng = np.random.default_rng(1)
    n = 3000
    data = pd.DataFrame(
        {"x": rng.normal(size=n) + at, "c": 3.7, "zero": 0.0, "y": rng.normal(size=n) + at, "same": 0.1}
    )
    data = data.assign(none=0.0, w=rng.gamma(2.0, 1.0, n))
    roles = Roles(confidential=["y", "same", "none"], given=["x", "c", "zero"], weight=weight)
    released = protect(data, roles, Ipso(), seed=Seed.for_tests(1)).frame
    assert verify(data, released, roles).certificate.holds
    if column not in released:
        return
    for rows in (slice(None), slice(5, 5), slice(5, n)):
        off = released.copy()
        off.loc[rows, column] += max(1e-6, 1e-5 * at / 1e3)
        assert not verify(data, off, roles).certificate.holds


def values(data: pd.DataFrame) -> list[str]:
    """Every number of the file as it may be printed, in full or shortened."""
    numbers = data.select_dtypes("float").to_numpy().ravel()
    return [f"{number:.6g}" for number in numbers] + [repr(float(number)) for number in numbers]


def test_no_form_of_the_certificate_holds_a_value(tmp_path: Path) -> None:
    data = frame(40)
    data.loc[3, "g"] = "the only one"
    release = made(data)
    release.write(tmp_path / "release.csv") if not any(f.blocks for f in release.findings) else None
    certificate = release.certificate
    done = release.done
    parts = [release, done, done.strata[0], done.profile, done.profile.spread, done.released, done.original]
    parts += [release.rows, done.aligned, done.leaving, release.seed, release.assessment, *done.seen.values()]
    told = [certificate.text(), str(certificate), repr(certificate), certificate.to_json(), certificate._repr_html_()]
    verification = verify(data, release.frame, ROLES)
    told += [
        verification.text(),
        verification.to_json(),
        repr(verification),
        *map(repr, parts),
        *map(repr, release.findings),
    ]
    words = " ".join(told)
    assert "the only one" not in words
    found = set(re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", words))
    shown = [value for value in (*values(data), *values(release.frame)) if value in found and len(value) > 4]
    assert shown == []


def test_the_certificate_is_json_even_where_it_fails() -> None:
    data = frame()
    released = made(data).frame
    released["y1"] = np.nan_to_num(released["y1"]) * 3
    released["x"] = 0.5
    found = json.loads(verify(data, released, ROLES).to_json())

    def constant(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    assert found["holds"] is False
    json.loads(verify(data, released, ROLES).certificate.to_json(), parse_constant=constant)


def test_html_escapes_hostile_names() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    data = frame().rename(columns={"y1": hostile, "note": "</script>"})
    roles = Roles(confidential=[hostile], given=["x"], keep=["</script>"])
    page = protect(data, roles, Ipso(), seed=Seed.for_tests(1)).certificate._repr_html_()
    assert "<img" not in page
    assert "</script>" not in page


def test_a_large_release_is_not_shown_but_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path, frame())
    monkeypatch.setattr("suffice.release.release.LARGEST", 500 * 5 * 8 - 1)
    release = made(path)
    with pytest.raises(UsageError, match="500 rows x 5 columns"):
        _ = release.frame
    assert release.certificate.holds
    assert release.write(tmp_path / "out.parquet").holds
    monkeypatch.setattr("suffice.release.release.LARGEST", 500 * 5 * 8)
    assert made(path).frame.num_rows == 500


@pytest.mark.parametrize("how", ["replaced", "touched", "gone"])
def test_an_input_that_changed_meanwhile_is_refused(how: str, tmp_path: Path) -> None:
    path = parquet(tmp_path, frame())
    release = made(path)
    if how == "replaced":
        parquet(tmp_path, frame(seed=9))
    elif how == "touched":
        path.write_bytes(path.read_bytes())
    else:
        path.unlink()
    for act in (lambda: release.write(tmp_path / "out.parquet"), lambda: release.frame, release.aligned):
        with pytest.raises(FileError):
            act()
    assert not (tmp_path / "out.parquet").exists()
    assert not (tmp_path / "out.parquet.certificate.json").exists()


def test_a_companion_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path, beside = parquet(tmp_path, frame()), tmp_path / "candidate.parquet"
    pq.write_table(pa.Table.from_pandas(frame(seed=2)), beside)
    release = made(path, Restore(candidate=beside))
    pq.write_table(pa.Table.from_pandas(frame(seed=3)), beside)
    with pytest.raises(FileError):
        release.write(tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_a_release_does_not_change_its_input() -> None:
    data, untouched = frame(), frame()
    made(data)
    assert data.equals(untouched)
    array = np.asfortranarray(untouched[["x", "y1"]].to_numpy())
    again = array.copy()
    protect(array, Roles(confidential=["x1"], given=["x0"]), Ipso(), seed=Seed.for_tests(1))
    assert np.array_equal(array, again)


def test_records_of_weight_zero_are_records_of_the_file() -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"y": rng.normal(size=200), "w": np.r_[np.zeros(5), np.full(195, 2.0)]})
    release = protect(data, Roles(confidential=["y"], weight="w"), Ipso())
    assert release.certificate.rows == len(release.frame) == 200
    assert verify(data, release.frame, Roles(confidential=["y"], weight="w")).certificate.rows == 200


def test_another_number_of_rows_is_not_kept() -> None:
    """Records twice over have the same means and covariances."""
    data = pd.DataFrame({"y": np.random.default_rng(1).normal(size=50)})
    certificate = protect(data, Roles(confidential=["y"]), Ipso()).certificate
    assert certificate.holds
    other = replace(certificate, same_rows=False)
    assert not other.holds
    assert "NOT KEPT: the number of rows" in other.text()
