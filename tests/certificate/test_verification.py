"""verify(): any pair of files, whoever made the second one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice
from suffice import Ipso, Mixture, Restore, Roles, Rotate, Seed, protect, verify
from suffice.design.role import declared
from suffice.errors import InputError, UsageError
from suffice.files.draft import Draft

ROLES = Roles(confidential=["y", "z"], given="C(g) + x", weight="w", identifiers=["id"], keep=["when", "note"])


def frame(n: int = 300, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [f"unit {i}" for i in range(n)],
            "g": rng.choice(["a", "b", "c"], n),
            "x": rng.normal(size=n),
            "w": rng.gamma(2.0, 1.0, n),
            "y": rng.normal(size=n) + 100,
            "z": rng.normal(size=n),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D"),
            "note": rng.integers(0, 5, n),
        }
    )


def release(data: pd.DataFrame, roles: Roles = ROLES) -> pd.DataFrame:
    released: pd.DataFrame = protect(data, roles, Ipso(), seed=Seed.for_tests(1)).frame
    return released


def swapped(released: pd.DataFrame) -> pd.DataFrame:
    """Two records exchange a given value: every mean and variance of the given columns stays."""
    off = released.copy()
    other = int(np.flatnonzero(off["g"] != off.loc[0, "g"])[0])
    off.loc[[0, other], "g"] = off.loc[[other, 0], "g"].to_numpy()
    return off


def changed(column: str, row: int, by: float) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(released: pd.DataFrame) -> pd.DataFrame:
        off = released.copy()
        off.loc[row, column] += by
        return off

    return change


WRONG: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a confidential cell": changed("y", 3, 1e-6),
    "a given cell": changed("x", 3, 1e-9),
    "a weight": changed("w", 3, 1e-9),
    "a kept cell": changed("note", 3, 1),
    "a category": swapped,
    "a missing row": lambda released: released.drop(index=7),
    "a row twice": lambda released: pd.concat([released, released.head(1)], ignore_index=True),
    "rows of one column shifted": lambda released: released.assign(y=np.roll(released["y"], 1)),
    "another unit of measure": lambda released: released.assign(y=released["y"] * 1.001),
    "rounded": lambda released: released.round({"y": 3}),
}


def test_a_release_is_verified_whatever_its_order_or_kind(tmp_path: Path) -> None:
    data, released = frame(), release(frame())
    pq.write_table(pa.Table.from_pandas(data), tmp_path / "data.parquet", row_group_size=77)
    pq.write_table(pa.Table.from_pandas(released), tmp_path / "released.parquet", row_group_size=31)
    turned = released.sample(frac=1, random_state=1)[released.columns[::-1]]
    pairs = [
        (data, released),
        (data, turned),
        (pl.from_pandas(data), pa.Table.from_pandas(released)),
        (tmp_path / "data.parquet", released),
        (data, tmp_path / "released.parquet"),
        (str(tmp_path / "data.parquet"), tmp_path / "released.parquet"),
    ]
    for original, other in pairs:
        found = verify(original, other, ROLES)
        assert found.holds, found.text()
        assert found.findings == ()


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_seen(wrong: str, tmp_path: Path) -> None:
    data = frame()
    off = WRONG[wrong](release(data))
    found = verify(data, off, ROLES)
    assert not found.holds
    assert "NOT" in found.text()
    assert json.loads(found.to_json())["holds"] is False
    pq.write_table(pa.Table.from_pandas(off), tmp_path / "off.parquet")
    assert not verify(data, tmp_path / "off.parquet", ROLES).holds


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(20, 60),
    row=st.integers(0, 19),
    column=st.sampled_from(["x", "w", "y", "z", "note"]),
)
def test_any_cell_of_any_file(seed: int, n: int, row: int, column: str) -> None:
    data = frame(n, seed)
    released = release(data)
    assert verify(data, released, ROLES).holds
    assert not verify(data, changed(column, row, 1e-5 if column != "note" else 1)(released), ROLES).holds


def test_records_in_their_old_order_are_told() -> None:
    data = frame()
    aligned = protect(data, ROLES, Ipso(), seed=Seed.for_tests(1)).aligned()
    found = verify(data, aligned, ROLES)
    assert found.holds
    assert [finding.rule for finding in found.findings] == ["row-order"]
    nearly = aligned.iloc[[1, 0, *range(2, len(aligned))]]
    assert verify(data, nearly, ROLES).holds


def test_identifiers_and_unknown_columns_are_told() -> None:
    data = frame()
    found = verify(data, release(data).assign(id="unit 1", more=1.0), ROLES)
    assert {finding.rule: finding.level for finding in found.findings} == {
        "identifiers": "stop",
        "unknown-columns": "warn",
    }


def test_what_cannot_be_checked_is_listed() -> None:
    data = frame()
    unchecked = " ".join(verify(data, release(data), ROLES).unchecked)
    assert "when" in unchecked  # dates are kept as they are, and not compared
    assert "key" in unchecked
    plain = Roles(confidential=["y"])
    assert any("there are none" in each for each in verify(data, release(data, plain), plain).unchecked)


def test_an_approximate_release_is_not_verified_until_it_is_restored() -> None:
    data = frame()
    for method, holds in ((Mixture(0.5), False), (Mixture(0.5).then(Restore()), True)):
        released = protect(data, ROLES, method, seed=Seed.for_tests(1)).frame
        assert verify(data, released, ROLES).holds is holds


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [
        (lambda f: f.drop(columns="y"), "no column 'y'"),
        (lambda f: f.drop(columns="note"), "no column 'note'"),
        (lambda f: f.assign(y="text"), "'y' is not numeric"),
        (lambda f: f.assign(y=np.nan), "missing"),
    ],
)
def test_a_released_file_that_cannot_be_read_as_one(spoilt: Callable[[pd.DataFrame], pd.DataFrame], words: str) -> None:
    data = frame()
    with pytest.raises(InputError, match=words):
        verify(data, spoilt(release(data)), ROLES)


def test_an_unknown_level_in_the_released_file_is_not_named() -> None:
    data = frame()
    off = release(data)
    off.loc[4, "g"] = "somewhere secret"
    with pytest.raises(InputError) as told:
        verify(data, off, ROLES)
    assert "somewhere" not in str(told.value)


LIMITS = Roles(confidential=["y", "z"], given="x", bounds={"y": (0, None)}, edits=["z <= y"], integer=["y"])


def limited(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    y = np.rint(20 + 5 * rng.normal(size=n)).clip(1)
    return pd.DataFrame({"x": rng.normal(size=n), "y": y, "z": y * rng.uniform(0.1, 0.9, n)})


@pytest.mark.parametrize(
    ("cell", "broken"),
    [
        (None, set()),
        (("y", -30.0), {"limits", "whole"}),
        (("z", 1e3), {"limits", "mean", "covariance", "fit"}),
        (("y", 0.5), {"whole"}),
        (("y", 1.0), {"whole"}),
    ],
)
def test_bounds_edits_and_whole_numbers_are_checked(cell: tuple[str, float] | None, broken: set[str]) -> None:
    data = limited()
    released = protect(data, LIMITS, Rotate(sweeps=5), seed=Seed.for_tests(1)).frame
    if cell is not None:
        released.loc[3, cell[0]] += cell[1]
    found = verify(data, released, LIMITS)
    assert {claim.statistic for claim in found.certificate.claims if not claim.holds} == broken
    assert {"limits", "whole", "mean", "given"} <= {claim.statistic for claim in found.certificate.claims}
    assert found.holds == (not broken)


def test_what_was_not_named_is_listed_as_not_checked() -> None:
    data = limited()
    plain = Roles(confidential=["y", "z"], given="x")
    released = release(data, plain)
    assert "bounds, edits, whole numbers, groups, a weight: none was named" in verify(data, released, plain).unchecked
    named = replace(LIMITS, integer=())
    assert "whole numbers, groups, a weight: none was named" in verify(data, released, named).unchecked


def test_text_that_is_mostly_missing_is_no_misspelt_number() -> None:
    data = frame()
    data["work"] = np.where(np.arange(len(data)) % 10 == 0, "abroad", None)
    with pytest.raises(InputError, match="missing in"):
        verify(data, data, Roles(confidential=["work"]))


def test_confidential_categories_and_dates_are_compared_by_their_values() -> None:
    data = frame()
    roles = Roles(confidential=["y", "g", "when"], given="x", groups=["note"])
    rng = np.random.default_rng(3)
    released = protect(data, replace(roles, confidential=["y"], keep=["g", "when"]), Ipso(), seed=Seed.for_tests(1))
    dealt = released.frame.copy()
    for _, rows in dealt.groupby("note").groups.items():
        for name in ("g", "when"):
            dealt.loc[rows, name] = rng.permutation(dealt.loc[rows, name].to_numpy())
    found = verify(data, dealt, roles)
    assert found.holds, found.text()
    said = [claim.said for claim in found.certificate.claims if claim.statistic == "distribution"]
    assert said[0] == "distributions of g, when, value by value"
    assert said[1].endswith("in each of 5 groups by note")
    assert set(found.certificate.negative) == {"y"}
    other = dealt.assign(g=dealt["g"].where(dealt.index > 0, "somewhere secret"))
    off = verify(data, other, roles)
    assert not off.holds
    assert "somewhere" not in off.text() + off.to_json()
    only = Roles(confidential=["g"], given="x")
    assert verify(data, dealt, only).holds
    assert not verify(data, other, only).holds


def test_a_category_that_became_a_number_and_numbers_that_are_text_are_refused() -> None:
    data = frame()
    roles = Roles(confidential=["y", "g"], given="x")
    with pytest.raises(InputError, match="not of the kind"):
        verify(data, release(data, Roles(confidential=["y"], given="x", keep=["g"])).assign(g=1), roles)
    text = data.assign(z=["none", *map(str, data["z"][1:])])
    with pytest.raises(InputError, match="is text because of cells"):
        verify(text, text, Roles(confidential=["z"]))


def test_a_certificate_beside_the_file_must_be_of_it(tmp_path: Path) -> None:
    data, path = frame(), tmp_path / "out.csv"
    protect(data, ROLES, Ipso(), seed=Seed.for_tests(1), accept={"seed": "a test"}).write(path)
    found = verify(data, path, ROLES)
    assert found.passes
    assert not any("certified" in each for each in found.unchecked)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = verify(data, path, ROLES)
    assert found.holds
    assert not found.passes
    assert [finding.rule for finding in found.findings] == ["digest"]
    (tmp_path / "out.csv.certificate.json").write_text("{}")
    assert any("names no digest" in each for each in verify(data, path, ROLES).unchecked)
    (tmp_path / "out.csv.certificate.json").write_text("{")
    assert any("certificate.json cannot be read" in each for each in verify(data, path, ROLES).unchecked)
    (tmp_path / "out.csv.certificate.json").unlink()
    found = verify(data, path, ROLES)
    assert found.passes
    assert any("no certificate lies beside it" in each for each in found.unchecked)


def test_the_certificate_names_a_command_that_verifies(tmp_path: Path) -> None:
    """The words after the file's name are the roles again, however they were written."""
    hard = [
        LIMITS,
        ROLES,
        Roles(confidential=["y"], given=["x", "g"], bounds="observed-sign", keep=["note"], merge_below=3),
        Roles(confidential=["a, b", 'c"d'], bounds={"a, b": (-0.5, 1e6)}, groups=["g"], missing="patterns"),
    ]
    for roles in hard:
        words = roles.options("verify")
        given: dict[str, list[str]] = {}
        for option, word in zip(words[::2], words[1::2], strict=True):
            given.setdefault(option, []).append(word)
        told = {each.name: (each, given[each.option]) for each in declared(Roles) if each.option in given}
        parsed = {
            name: each.rule.parse(value if each.rule.words == list[str] else each.rule.words(value[0]), each.option)
            for name, (each, value) in told.items()
        }
        assert Roles(**parsed).canonical() == roles.canonical()
    data = frame()
    certificate = protect(data, ROLES, Ipso(), seed=Seed.for_tests(1), accept={"seed": "a\ntest"}).write(
        tmp_path / "out file.csv"
    )
    assert certificate.verify == (
        "suffice verify ORIGINAL 'out file.csv' --confidential y,z --given 'C(g) + x' --weight w --identifiers id "
        "--keep when,note"
    )
    told = json.loads((tmp_path / "out file.csv.certificate.json").read_text())
    assert told["digest"] == hashlib.sha256((tmp_path / "out file.csv").read_bytes()).hexdigest()
    assert told["file"] == "out file.csv"
    assert told["rows"] == 300
    assert told["weight"] == "w"
    assert told["accepted"] == {"seed": "a test"}
    assert told["program"] == f"suffice {suffice.__version__}"
    assert told["date"] == datetime.now(UTC).date().isoformat()
    assert set(told["negative"]) == {"y", "z"}
    assert "unweighted statistics" in told["not_promised"]
    weighted = [claim["sentence"] for claim in told["claims"] if claim["statistic"] in ("mean", "covariance", "fit")]
    assert len(weighted) == 3
    assert all("weighted by w" in sentence for sentence in weighted)
    assert "weighted by w" in told["summary"]
    for text in (told["summary"], told["verify"], "accepted finding seed: a test"):
        assert text.split(". ")[0] in certificate.text()


def test_of_two_files_nothing_is_said_of_how_one_was_made() -> None:
    """A copy of the original without its weight was called new records, none of which stands for an old one."""
    data = frame().assign(y=np.random.default_rng(1).normal(size=300))
    found = verify(data, data[["y"]].sample(frac=1, random_state=1), Roles(confidential=["y"], weight="w"))
    assert found.certificate.same_rows is None
    assert found.certificate.summary.startswith("The release has 300 records. NOT everything")
    assert "copies" in {each.rule for each in found.findings}


def test_whole_numbers_do_not_let_other_columns_go() -> None:
    """Rounding moves what is rounded, by what rounding can: all else is as it was, or it is said."""
    rng, n = np.random.default_rng(1), 400
    a = rng.uniform(50, 100, n)
    data = pd.DataFrame({"a": a, "b": (2 * a + rng.uniform(1, 50, n)).round()})  # what is shuffled follows no longer
    asked = Roles(confidential=["a", "b"], integer=["b"])
    released = protect(data, asked, Ipso()).frame
    assert verify(data, released, asked).holds
    assert not verify(data, released.assign(a=released["a"] * 1.001), asked).holds
    assert not verify(data, released.assign(b=(released["b"] * 3).round()), asked).holds
    shuffled = released["b"].sample(frac=1, random_state=1).to_numpy()
    assert not verify(data, data.assign(a=data["a"].to_numpy()[::-1], b=shuffled), asked).passes


@pytest.mark.parametrize("named", range(5))
def test_a_forced_write_that_is_killed_leaves_the_old_files_the_new_ones_or_what_verify_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: int
) -> None:
    """Killed when `named` of certificate, page, report and release have their names, and without a way out."""
    data, path, report, old = frame(), tmp_path / "out.csv", tmp_path / "report.html", b""
    for key in (1, 2):
        release = protect(data, ROLES, Ipso(), seed=Seed.for_tests(key), accept={"seed": "a test"})
        if key == 2:
            _killed_after(named, monkeypatch)
        try:
            release.write(path, force=True, report=report)
        except KeyboardInterrupt:
            assert named < 4
        else:
            assert key == 1 or named == 4
        old = old or path.read_bytes()
    rules = [finding.rule for finding in verify(data, path, ROLES).findings]
    assert rules == ([] if named in (0, 4) else ["digest"])
    assert (path.read_bytes() == old) == (named < 4)


def _killed_after(named: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name, left = Draft.name, iter(range(named))

    def killed(draft: Draft) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        name(draft)

    monkeypatch.setattr(Draft, "name", killed)
    monkeypatch.setattr(Draft, "withdraw", lambda _: True)


OTHER = ["rank-swap:p=0.6", "shuffle", "microaggregate:k=9", "pca-mask", "microaggregate-noise", "ipso"]


@pytest.mark.parametrize("method", OTHER)
@pytest.mark.parametrize("columns", [["y", "z"], ["y"]], ids=len)
def test_the_command_of_a_certificate_compares_what_the_method_keeps(method: str, columns: list[str]) -> None:
    data, roles = frame(), Roles(confidential=columns, keep=["x"] if len(columns) > 1 else [])
    release = protect(data, roles, method, seed=Seed.for_tests(1))
    _, _, named = release.certificate.verify.partition(" --keeps ")
    assert bool(named) == (method != "ipso")
    found = verify(data, release.frame, roles, keeps=named.split(",") if named else None)
    assert found.holds, found.text()
    other = release.frame.assign(y=release.frame["y"] * 1.1)
    assert not verify(data, other, roles, keeps=named.split(",") if named else None).holds


def test_what_is_to_be_compared_is_named_rightly() -> None:
    for wrong in (["means"], []):
        with pytest.raises(UsageError, match="compared by: mean, covariance, fit, third-moment, distribution"):
            verify(frame(), frame(), ROLES, keeps=wrong)


def test_what_cannot_be_compared_with_new_records_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    files = [tmp_path / "old.csv", tmp_path / "new.csv"]
    for file, n in zip(files, (60, 90), strict=True):
        pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n)}).to_csv(file, index=False)
    for keeps in ("distribution", "third-moment"):
        with pytest.raises(UsageError):
            verify(*files, Roles(confidential=["x", "y"]), keeps=[keeps])


def test_of_new_records_fits_alone_cannot_be_asked_for():
    data = pd.DataFrame(np.random.default_rng(3).normal(size=(60, 2)), columns=["wages", "turnover"])
    with pytest.raises(UsageError, match="means and covariances"):
        verify(data, data[:40], Roles(confidential=["wages", "turnover"]), keeps=["fit"])
