import os
import pickle
import sys
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather

import suffice.files.csv
from suffice.errors import FileError, InputError, SufficeError, UsageError, attempt
from suffice.files.format import Format
from suffice.files.kind import kind_by_suffix, kind_of, write_kind
from suffice.files.source import open_rows
from suffice.files.table import read_table
from suffice.files.writer import Writer, write_table
from suffice.rows.arrow import columns_of, kinds, not_numbers
from tests.places import SHARED, needs_shared

SECRET = "ACME 48151623"


def told(error: BaseException | None) -> str:
    """Everything that a traceback could print of an error."""
    return "" if error is None else f"{error} {error!r} {told(error.__cause__)} {told(error.__context__)}"


def refused(path: Path, expected: type[SufficeError] = InputError) -> str:
    with pytest.raises(expected) as caught:
        read_table(path)
    assert type(caught.value) is expected
    assert SECRET not in told(caught.value)
    return str(caught.value)


@pytest.fixture
def csv(tmp_path):
    def write(content: bytes | str, name: str = "firms.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# ---- files that are refused, with a sentence and an exit code


def test_exit_codes():
    assert (UsageError.exit_code, InputError.exit_code, FileError.exit_code) == (2, 3, 7)


def test_missing(csv, tmp_path):
    csv("a\n1\n")
    assert "no file 'frims.csv'. Did you mean 'firms.csv'?" in refused(tmp_path / "frims.csv", FileError)
    assert "no file 'x.csv'" in refused(tmp_path / "nowhere" / "x.csv", FileError)


def test_folders(tmp_path):
    assert "folder without .parquet files" in refused(tmp_path, FileError)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "part.parquet")
    assert kind_of(tmp_path) == "parquet"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="every file is readable to this user")
def test_unreadable(csv):
    path = csv("a\n1\n")
    path.chmod(0)
    assert "Permission denied" in refused(path, FileError)


def test_unreadable_for_any_user(csv, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = csv("a\n1\n")
    monkeypatch.setattr(Path, "open", denied)
    assert "firms.csv cannot be read: Permission denied" in refused(path, FileError)


@pytest.mark.parametrize(
    ("content", "name", "part"),
    [
        (b"", "x.csv", "is empty (0 bytes)"),
        (b"", "x.parquet", "is empty (0 bytes)"),
        (b"a,b\n", "x.csv", "column names and no records"),
        (b"a,b", "x.csv", "column names and no records"),
        (b"a,b\n\n\n", "x.csv", "column names and no records"),
        (b"\n\n", "x.csv", "does not begin with column names"),
        (pickle.dumps({"a": SECRET}), "x.pkl", "Python pickle"),
        (pickle.dumps({"a": SECRET}), "x.csv", "Python pickle"),
        (b"PK\x03\x04" + SECRET.encode(), "x.xlsx", "damaged or encrypted"),
        (b"PK\x03\x04" + SECRET.encode(), "x.csv", "zip archive"),
        (SECRET.encode(), "x.xlsx", "does not begin like one"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + SECRET.encode(), "x.xlsx", "damaged or encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + SECRET.encode(), "x.doc", "encrypted Office file"),
        (b"\x1f\x8b\x08" + SECRET.encode(), "x.csv.gz", "compressed with gzip"),
        (b"\x1f\x8b\x08" + SECRET.encode(), "x.csv", "compressed with gzip"),
        (b"FEA1" + SECRET.encode(), "x.feather", "Feather file of the first version"),
        (SECRET.encode(), "x.parquet", "does not begin like one"),
        (SECRET.encode(), "x.feather", "does not begin like one"),
        (b"ARROW1\0\0" + SECRET.encode(), "x.feather", "damaged"),
        (b"\xff\xff\xff\xff" + SECRET.encode(), "x.arrow", "damaged"),
        (SECRET.encode(), "x.sav", "cannot be read as .sav"),
        (SECRET.encode(), "x.dta", "cannot be read as .dta"),
        (SECRET.encode(), "x.xpt", "cannot be read as .xpt"),
        (SECRET.encode(), "x.por", "cannot be read as .por"),
        (SECRET.encode(), "x.sas7bdat", "cannot be read as .sas7bdat"),
        (f"a,b\n1,{SECRET}\n".encode("utf-16"), "x.csv", "UTF-16"),
        (f"a,b\n1,{SECRET}\n".encode("utf-16-le"), "x.csv", "NUL byte in line 1"),
        (f"a,b\n1,2\n3,{SECRET}\0\n".encode(), "x.csv", "NUL byte in line 3"),
        (f"a,b\n1,x\n2,{SECRET}\xe9\n".encode("latin-1"), "x.csv", "not UTF-8 in line 3."),
        (f"a,caf\xe9\n1,{SECRET}\n".encode("latin-1"), "x.csv", "not UTF-8 in line 1."),
        (f'a,b\n1,2\n3,"{SECRET}\n4,5\n'.encode(), "x.csv", "after line 2 a quotation mark is not closed"),
        (f"a,a,c\n1,2,{SECRET}\n".encode(), "x.csv", "'a' is there 2 times"),
        (f"a,,c,\n1,2,3,{SECRET}\n".encode(), "x.csv", "Column 2 has no name.\nColumn 4 has no name."),
        (b"48151623,7\n1,2\n", "x.csv", "does not begin with column names"),
    ],
)
def test_bad_files(csv, content, name, part):
    assert part in refused(csv(content, name))


def test_a_zip_bomb_is_not_opened(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", b"0" * 10_000_000)
    assert "zip archive" in refused(path)


def test_an_unknown_kind(csv):
    assert "kind of file is not known" in refused(csv("{}", "x.json"), UsageError)
    assert "Did you mean '.parquet'?" in refused(csv("{}", "x.parqet"), UsageError)


def test_parquet_is_left_to_its_engine(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x.parquet")
    assert kind_of(tmp_path / "x.parquet") == "parquet"
    assert "Parquet engine" in refused(tmp_path / "x.parquet", UsageError)


def test_ragged_rows_with_their_first_five_lines(csv):
    lines = ["a,b", "1,2", *[f"{SECRET}"] * 4, "3,4", f"1,2,{SECRET}", "5"]
    message = refused(csv("\n".join(lines)))
    assert "6 lines without the first line's 2 columns: lines 3, 4, 5, 6, 8 ..." in message


def test_ragged_after_a_cell_of_two_lines(csv):
    assert "lines 4\n" in refused(csv('a,b\n1,"x\ny"\n2\n3,4\n'))


def test_a_line_without_end(csv, monkeypatch):
    monkeypatch.setattr(suffice.files.csv, "LONGEST_LINE", 3_000_000)
    assert "Line 2 of firms.csv is longer" in refused(csv(b"a\n" + SECRET.encode() * 400_000))


def test_a_long_line_below_the_limit_is_read(csv):
    table, _ = read_table(csv(b"a,b\n1," + b"x" * 9_000_000 + b"\n2,y\n"))
    assert table["a"].to_pylist() == [1, 2]


# ---- files that are read


def test_one_and_two_records(csv):
    assert read_table(csv("a,b\n1,2\n"))[0].num_rows == 1
    assert read_table(csv("a,b\n1,2\n3,4"))[0].num_rows == 2


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfa,b\n1,x\n", b"a,b\r\n1,x\r\n", b"a,b\n\n1,x\n", b'"a","b"\n1,"x"\n']
)
def test_bom_crlf_empty_lines_and_quotes(csv, content):
    table, notes = read_table(csv(content))
    assert table.to_pylist() == [{"a": 1, "b": "x"}]
    assert notes == ()


def test_semicolons_and_decimal_commas(csv):
    table, notes = read_table(csv("a;b;c\n1,5;x;7\n-2,25;y;8\n"))
    assert table.to_pylist() == [{"a": 1.5, "b": "x", "c": 7}, {"a": -2.25, "b": "y", "c": 8}]
    assert notes == ("Read with ; between columns and decimal commas.",)


def test_semicolons_and_decimal_points(csv):
    table, notes = read_table(csv("a;b\n1.5;x\n"))
    assert table["a"].to_pylist() == [1.5]
    assert notes == ("Read with ; between columns and decimal points.",)


def test_codes_with_points_do_not_undo_decimal_commas(csv):
    """Activities such as 10.1, days such as 31.12 and thousands such as 1.234 beside amounts with decimal commas."""
    table, notes = read_table(csv("activity;day;amount\n10.1;31.12;2,5\n10.10;01.01;1,25\n"))
    assert table["activity"].to_pylist() == ["10.1", "10.10"]
    assert table["amount"].to_pylist() == [2.5, 1.25]
    assert notes[1:] == tuple(
        f"Column {name!r} has points beside decimal commas and is read as text." for name in ("activity", "day")
    )
    table, notes = read_table(csv("x;thousands\n10.1;1,234\n10.2;2,500\n"))  # these commas may be no decimal ones
    assert table["x"].to_pylist() == [10.1, 10.2]
    assert notes == ("Read with ; between columns and decimal points.",)


def test_a_semicolon_inside_a_quoted_name(csv):
    assert read_table(csv('"a;b;c;d",e\n1,2\n'))[0].column_names == ["a;b;c;d", "e"]


def test_tabs(csv):
    assert read_table(csv("a\tb,c\n1\tx\n", "x.tsv"))[0].column_names == ["a", "b,c"]
    assert read_table(csv("a\tb\n1\tx\n", "x.txt"))[0].column_names == ["a", "b"]


def test_missing_in_numbers_and_in_text(csv):
    table, _ = read_table(csv('a,b\n1,x\n,\nNA,NA\nNaN,NaN\nnan,nan\nnull,null\nNULL,"NULL"\n'))
    assert table["a"].to_pylist() == table["a"].to_pylist()[:1] + [None] * 6
    assert table["b"].to_pylist() == ["x"] + [None] * 6


def test_a_column_without_any_value_is_a_missing_number(csv):
    table, _ = read_table(csv("a,b\n1,\n2,NA\n"))
    assert kinds(table.schema)["b"] == "float"
    assert np.isnan(columns_of(table, ["b"])["b"]).all()


def test_codes_with_leading_zeros_stay_as_they_are(csv):
    table, notes = read_table(csv("region,x\n0301,0\n1103,0.5\n"))
    assert table["region"].to_pylist() == ["0301", "1103"]
    assert kinds(table.schema)["x"] == "float"
    assert notes == ("Column 'region' has leading zeros and is read as text.",)


def test_an_inch_sign_is_no_quotation_mark(csv):
    assert read_table(csv('a,b\n1,5" pipe\n'))[0]["b"].to_pylist() == ['5" pipe']


def test_a_cell_of_two_lines(csv):
    assert read_table(csv('a,b\n"x\ny",1\n'))[0]["a"].to_pylist() == ["x\ny"]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "=cmd", "a b", "é", "{{7*7}}"])
def test_hostile_names_are_only_names(csv, name):
    assert read_table(csv(f"{name},b\n1,2\n"))[0].column_names == [name, "b"]


def test_text_among_numbers_is_counted_and_placed(csv):
    table, _ = read_table(csv(f"x\n1\n2.5\n{SECRET}\n-1e-3\nNA\n12 000\n"))
    assert kinds(table.schema)["x"] == "category"
    trouble = not_numbers(table["x"].combine_chunks(), 0)
    assert (trouble.count, trouble.rows) == (2, (3, 6))


def test_dates_are_seen(csv):
    assert kinds(read_table(csv("d,t\n2020-01-31,2020-01-31 10:00:00\n"))[0].schema) == {
        "d": "date",
        "t": "date",
    }


@needs_shared
def test_every_shared_file_is_read():
    assert SHARED is not None
    paths = sorted((SHARED / "data").glob("*.csv"))
    assert paths
    for path in paths:
        table, _ = read_table(path)
        assert table.num_rows
        assert set(kinds(table.schema).values()) <= {"float", "integer", "category"}


# ---- columns


def test_kinds():
    types = {
        "float": [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(9, 2), pa.null()],
        "integer": [pa.int8(), pa.uint8(), pa.int64(), pa.uint64()],
        "category": [pa.bool_(), pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())],
        "date": [pa.date32(), pa.timestamp("us"), pa.time32("s"), pa.duration("s")],
        "other": [pa.binary(), pa.list_(pa.int8()), pa.struct([("a", pa.int8())])],
    }
    for kind, members in types.items():
        schema = pa.schema([(str(i), member) for i, member in enumerate(members)])
        assert set(kinds(schema).values()) == {kind}


def test_numbers_without_nulls_are_not_copied():
    x = np.arange(5.0)
    assert np.shares_memory(columns_of(pa.table({"x": x}), ["x"])["x"], x)


def test_columns_for_a_block():
    table = pa.table(
        {
            "i": pa.array([1, None]),
            "d": pa.array([Decimal("1.25"), None]),
            "h": pa.array(np.array([1, 2], np.float16)),
            "b": [True, None],
            "c": pa.array(["x", None]).dictionary_encode(),
            "k": pa.array([7, 8]).dictionary_encode(),
            "l": pa.array(["x", "y"], pa.large_string()),
        }
    )
    for rows in (table, table.to_batches()[0], pa.concat_tables([table.slice(0, 1), table.slice(1)])):
        columns = columns_of(rows, table.column_names)
        assert np.array_equal(columns["i"], [1, np.nan], equal_nan=True)
        assert np.array_equal(columns["d"], [1.25, np.nan], equal_nan=True)
        assert np.array_equal(columns["h"], [1, 2])
        assert np.array_equal(columns["k"], [7, 8])
        assert [columns[name].to_pylist() for name in "bcl"] == [["true", None], ["x", None], ["x", "y"]]
        assert all(columns[name].type == pa.string() for name in "bcl")


# ---- writing

HARD = [
    0.1,
    1 / 3,
    -0.0,
    1e308,
    1e-320,
    5e-324,
    1.7976931348623157e308,
    2.0**60 + 2**10,
    1e22,
    123456789.12345679,
]


@pytest.mark.parametrize("kind", ["csv", "tsv", "feather", "parquet", "sav", "dta"])
def test_every_bit_comes_back(tmp_path, kind):
    bits = np.random.default_rng(3).integers(0, 2**63, 2000).view(np.float64)
    x = np.concatenate([HARD, bits[np.isfinite(bits) & (bits < 8e307)]])
    x = x[x < 8e307] if kind in ("sav", "dta") else x  # which keep the largest floats for missing values
    path = tmp_path / f"x.{kind}"
    write_table(pa.table({"x": x, "t": ['é, "q"'] * len(x)}), path, kind)
    table = pq.read_table(path) if kind == "parquet" else read_table(path)[0]
    assert np.array_equal(table["x"].to_numpy().view(np.int64), x.view(np.int64))
    assert set(table["t"].to_pylist()) == {'é, "q"'}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_csv_keeps_every_digit(values):
    with tempfile.TemporaryDirectory() as folder:
        write_table(pa.table({"x": [0.5, *values]}), Path(folder) / "x.csv", "csv")
        again = read_table(Path(folder) / "x.csv")[0]["x"].to_numpy()
    assert np.array_equal(again.view(np.int64), np.array([0.5, *values]).view(np.int64))


def test_sas_transport_keeps_ordinary_numbers(tmp_path):
    x = np.random.default_rng(3).normal(size=500)
    write_table(pa.table({"x": x}), tmp_path / "x.xpt", "xpt")
    assert np.array_equal(read_table(tmp_path / "x.xpt")[0]["x"].to_numpy(), x)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no nameless files here")
@pytest.mark.parametrize("kind", ["csv", "feather", "parquet", "sav", "dta", "xpt"])
def test_nameless_files(kind):
    with tempfile.TemporaryFile() as file:
        write_table(pa.table({"x": [1.5, 2.5]}), f"/proc/self/fd/{file.fileno()}", kind)
        assert os.fstat(file.fileno()).st_size > 0


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_whole_numbers_and_missing_text_of_statistical_files(tmp_path, kind):
    table = pa.table({"g": [1, 2, 3], "x": [1.5, None, 2.0], "t": ["a", None, "b"]})
    write_table(table, tmp_path / f"x.{kind}", kind)
    again, _ = read_table(tmp_path / f"x.{kind}")
    assert kinds(again.schema) == {"g": "integer", "x": "float", "t": "category"}
    assert again.to_pylist() == table.to_pylist()


def test_value_labels_are_told(tmp_path):
    pandas, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    frame = pandas.DataFrame({"g": [1.0, 2.0]})
    pyreadstat.write_sav(frame, tmp_path / "x.sav", variable_value_labels={"g": {1.0: "one", 2.0: "two"}})
    assert "Value labels of 1 column:" in read_table(tmp_path / "x.sav")[1][0]


def test_without_the_extra(csv, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    assert "pip install 'suffice[stats]'" in refused(csv("x", "x.sav"), UsageError)


def test_dictionaries_in_csv(tmp_path):
    table = pa.table({"g": pa.array(["a", "b", None]).dictionary_encode(), "x": [1.5, 2.5, 3.5]})
    write_table(table, tmp_path / "x.csv", "csv")
    assert read_table(tmp_path / "x.csv")[0].to_pylist() == table.to_pylist()


@pytest.mark.parametrize("kind", ["csv", "sav"])
def test_a_type_that_cannot_be_written(tmp_path, kind):
    table = pa.table({"x": [[SECRET]], "y": [{"a": SECRET}]})
    with pytest.raises(FileError, match="cannot be written as") as caught:
        write_table(table, tmp_path / "x", kind)
    assert SECRET not in told(caught.value)


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_truth_and_spans_of_time_have_no_like_in_statistical_files(tmp_path, kind):
    table = pa.table({"flag": [True, False], "span": pa.array([1, 2], pa.duration("s")), "x": [1.5, 2.5]})
    with pytest.raises(FileError, match="flag, span"):
        write_table(table, tmp_path / "x", kind)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("kind", ["csv", "feather", "parquet", "sav"])
def test_a_folder_that_is_not_there(tmp_path, kind):
    with pytest.raises(FileError):
        write_table(pa.table({"x": [1.5]}), tmp_path / "nowhere" / "x", kind)


@pytest.fixture
def little_room():
    """A file may not grow beyond 20 kB: what a full disk does, without one."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kind", ["csv", "feather", "parquet", "sav", "dta", "xpt"])
def test_a_full_disk_is_told_and_the_target_not_unlinked(tmp_path, kind, little_room):
    target = tmp_path / "x"
    target.touch()
    before = target.stat().st_ino
    with pytest.raises(FileError, match=r"Writing failed|disk is full"):
        write_table(pa.table({"x": np.random.default_rng(5).normal(size=20_000)}), target, kind)
    assert target.stat().st_ino == before


def test_kinds_that_cannot_be_written(tmp_path):
    for kind in ("sas7bdat", "por", "xlsx"):
        with pytest.raises(UsageError):
            write_table(pa.table({"x": [1.5]}), tmp_path / "x", kind)


def test_kind_by_suffix():
    assert [kind_by_suffix(f"a.{end}") for end in ("PARQUET", "txt", "arrow", "zsav")] == [
        "parquet",
        "csv",
        "feather",
        "sav",
    ]


def test_what_the_name_of_an_output_asks_for():
    asked = {"a.PARQUET": "parquet", "a.pq": "parquet", "a.txt": "csv", "a.tsv": "tsv", "a.arrow": "feather"}
    asked |= {f"a.{kind}": kind for kind in ("csv", "feather", "sav", "dta", "xpt")}
    assert {name: write_kind(name) for name in asked} == asked
    for name in ("a", "a.", ".csv", "a.docx", "a.zsav", "a.por", "a.sas7bdat"):
        with pytest.raises(UsageError, match="no known kind of file"):
            write_kind(name)


@pytest.mark.parametrize("kind", ["csv", "tsv", "feather", "parquet", "sav", "dta", "xpt"])
def test_pieces_are_one_file(tmp_path, kind):
    table = pa.table({"x": [1.5, 2.5, 3.25], "t": pa.array(["a", "b", "a"])})
    write_table(table, tmp_path / f"whole.{kind}", kind)
    writer = Writer(str(tmp_path / f"pieces.{kind}"), Format.plain(kind))
    writer.write(table[:2])
    writer.write(table[2:])
    writer.close()
    read = pq.read_table if kind == "parquet" else lambda path: read_table(path)[0]
    pieces, whole = (read(tmp_path / f"{name}.{kind}") for name in ("pieces", "whole"))
    assert pieces.to_pylist() == whole.to_pylist() == table.to_pylist()


@pytest.mark.parametrize("error", [MemoryError(SECRET), pa.ArrowMemoryError(f"malloc of size {SECRET} failed")])
@pytest.mark.parametrize("name", ["x.feather", "x.parquet"])
def test_a_parser_that_finds_no_memory_is_one_sentence(tmp_path, monkeypatch, error, name):
    """A damaged file may ask for what no machine has."""
    path = tmp_path / name
    (pq.write_table if name == "x.parquet" else feather.write_feather)(pa.table({"a": [1.0, 2.0]}), path)

    def starving(*_, **__):
        raise error

    monkeypatch.setattr(pa.ipc, "open_file", starving)
    monkeypatch.setattr(pq, "ParquetFile", starving)
    with pytest.raises(FileError) as caught:
        open_rows(path, 1, None)
    assert "not enough memory to read the data, or a file is damaged" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


def test_text_that_says_unavailable_is_no_lack_of_memory():
    assert attempt(lambda: pa.scalar("unavailable").cast(pa.float64())) is None
