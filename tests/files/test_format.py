"""A release is written as the data were: dialect, encoding, labels, types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from suffice import Ipso, Plan, Roles, protect, verify
from suffice.errors import FileError, InputError, UsageError
from suffice.files.format import Format, in_encoding
from suffice.files.source import open_rows, read_back
from suffice.files.table import read_table
from suffice.files.writer import Writer

N = 80
TOWNS = ["Málaga", "Århus; old", 'the "Hook"', "Köln"]
rng = np.random.default_rng(8)
ROLES = Roles(confidential=["y"], given=["x"], keep=["town", "n"])


def table() -> pa.Table:
    x = rng.normal(1e3, 77, N)
    columns = {"town": TOWNS * (N // 4), "x": x, "y": 2 * x + rng.normal(0, 300, N), "n": rng.integers(0, 9, N)}
    return pa.table(columns)


def written(path: Path, form: Format, data: pa.Table) -> Path:
    writer = Writer(str(path), form)
    writer.write(data)
    writer.close()
    return path


FORMS = [
    Format("csv", ";", ","),
    Format("csv", ";", "."),
    Format("csv", ";", ",", "cp1252"),
    Format("csv", ",", ".", "latin-1"),
    Format("csv", ";", ",", "utf-16"),
    Format("csv", "\t", ".", "utf-16"),
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_release_has_the_dialect_and_the_encoding_of_the_data(tmp_path, form):
    data = table()
    path = written(tmp_path / "data.csv", form, data)
    release = protect(path, ROLES, Ipso(), encoding=form.encoding)
    assert release.frame.column_names == data.column_names
    out = tmp_path / "out.csv"
    release.write(out)
    assert Format.like(in_encoding(out, form.encoding), out) == form
    again = read_table(in_encoding(out, form.encoding))[0]
    assert again.equals(release.frame.cast(again.schema))
    assert verify(path, out, ROLES, encoding=form.encoding).holds
    text = out.read_text(form.encoding or "utf-8")
    assert text.splitlines()[0] == form.delimiter.join(data.column_names) or form.decimal == "."
    release.write(tmp_path / "out.tsv")
    assert "\t" in (tmp_path / "out.tsv").read_text(form.encoding or "utf-8")


def test_every_bit_comes_back_with_decimal_commas(tmp_path):
    bits = rng.integers(0, 2**63, 3000).view(np.float64)
    x = np.concatenate([[0.1, -0.0, 1e308, 5e-324, 1e22, 123456789.12345679], bits[np.isfinite(bits)]])
    data = pa.table(
        {"t": [None, "", "a;b", 'c"d', "e\nf", "NA"] + ["z"] * (len(x) - 6), "x": x, "k": np.arange(len(x))}
    )
    form = Format("csv", ";", ",")
    rows = read_back(str(written(tmp_path / "x.csv", form, data)), form, data.schema, 1)
    assert np.array_equal(rows.columns["x"].view(np.int64), x.view(np.int64))
    assert rows.columns["t"].to_pylist() == data["t"].to_pylist()
    assert np.array_equal(read_table(tmp_path / "x.csv")[0]["x"].to_numpy().view(np.int64), x.view(np.int64))


def test_an_encoding_without_a_letter_is_told(tmp_path):
    with pytest.raises(FileError, match="letters that latin-1 has not"):
        written(tmp_path / "x.csv", Format("csv", encoding="latin-1"), pa.table({"t": ["日本"]}))


@pytest.mark.parametrize("name", ["klingon", "rot13", "base64", "", "a\0"])
def test_an_encoding_that_there_is_not(tmp_path, name):
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(UsageError, match="encoding"):
        in_encoding(tmp_path / "x.csv", name)


def test_where_an_encoding_has_no_place(tmp_path):
    with pytest.raises(UsageError, match="for files of text"):
        protect(table(), ROLES, Ipso(), encoding="latin-1")
    protect(table(), ROLES, Ipso()).write(tmp_path / "x.parquet")
    with pytest.raises(UsageError, match="this kind of file says it"):
        in_encoding(tmp_path / "x.parquet", "latin-1")


def test_the_wrong_encoding_is_a_sentence(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("a,b\n1,\x81\n".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8 in line 2"):
        read_table(path)
    with pytest.raises(InputError, match="not cp1252"):
        read_table(in_encoding(path, "cp1252"))
    with pytest.raises(InputError, match="not utf-16"):
        read_table(in_encoding(path, "utf-16"))


def test_a_plan_names_the_encoding(tmp_path):
    written(tmp_path / "data.csv", Format("csv", encoding="latin-1"), table())
    plan = Plan.of(
        {
            "data": {"path": "data.csv", "encoding": "latin-1"},
            "roles": {"confidential": ["y"], "given": ["x"], "keep": ["town"]},
            "release": {"path": "out.csv"},
        },
        tmp_path,
    )
    assert Plan.parse(plan.to_toml(), tmp_path) == plan
    plan.run()
    assert "Köln" in (tmp_path / "out.csv").read_text("latin-1")


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_a_missing_given_category_is_written_and_read_back(tmp_path, kind):
    """A level of its own in memory, an empty cell in the file."""
    region = [None if i % 4 == 0 else "north" if i % 2 else "south" for i in range(N)]
    y = np.where(np.arange(N) % 5 == 1, np.nan, rng.normal(size=N))
    data = pa.table({"region": region, "y": y, "z": rng.normal(size=N)})
    roles = Roles(confidential=["y", "z"], given="C(region)", missing="patterns")
    release = protect(data, roles, Ipso())
    certificate = release.write(tmp_path / f"out.{kind}")
    assert certificate.holds
    rows = open_rows(tmp_path / f"out.{kind}", 1, None)
    assert rows.gather(["region"])["region"].null_count == N // 4


def labelled(path: Path, **more) -> Path:
    pandas, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    frame = pandas.DataFrame(
        {
            "id": np.arange(N).astype(np.int32),
            "sex": rng.integers(1, 3, N).astype(np.int8),
            "age": rng.integers(18, 90, N).astype(np.int16),
            "score": rng.integers(0, 2000, N).astype(np.int16),
            "income": rng.normal(3e4, 4e3, N),
            "town": ["a", "b"] * (N // 2),
        }
    )
    names = {"sex": "Sex of person", "income": "Income, year", "score": "Score", "id": "Secret name", "town": "Town"}
    values = {"sex": {1: "male", 2: "female", 9: "not told"}, "score": {0: "none"}, "id": {0: "Ms Smith"}}
    write = pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta
    write(frame, path, column_labels=names, variable_value_labels=values, **more)
    return path


@pytest.mark.parametrize("source", ["sav", "dta"])
@pytest.mark.parametrize("target", ["sav", "dta", "xpt"])
def test_labels_and_types_of_statistical_files_are_carried_through(tmp_path, source, target):
    pyreadstat = pytest.importorskip("pyreadstat")
    data = labelled(tmp_path / f"in.{source}")
    roles = Roles(
        confidential=["income", "score"], given=["age"], keep=["sex", "town"], identifiers=["id"], integer=["score"]
    )
    protect(data, roles, Ipso()).write(tmp_path / f"o.{target}")
    read = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta, "xpt": pyreadstat.read_xport}[target]
    _, told = read(tmp_path / f"o.{target}")
    assert told.column_names_to_labels["sex"] == "Sex of person"
    assert told.column_names_to_labels["income"] == "Income, year"
    assert b"Ms Smith" not in (tmp_path / f"o.{target}").read_bytes()
    assert b"Secret name" not in (tmp_path / f"o.{target}").read_bytes()
    if target != "xpt":
        assert told.variable_value_labels["sex"] == {1: "male", 2: "female", 9: "not told"}
        assert told.variable_value_labels["score"] == {0: "none"}
    if source == target == "dta":
        types = {name: told.readstat_variable_types[name] for name in ("sex", "age", "score", "income")}
        assert types == {"sex": "int32", "age": "int32", "score": "int32", "income": "double"}
    if source == target == "sav":
        assert told.original_variable_types["sex"] == pyreadstat.read_sav(data)[1].original_variable_types["sex"]
