"""Everything that can be wrong with a file, its columns or its statistics, through the command that a user types.

Each case: what is in the folder, what is asked, how it ends, words that must be said. After a failure nothing is left
and no cell of the file is in any message.
"""

from __future__ import annotations

import datetime
import json
import os
import pickle
import stat
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import suffice
from suffice import Ipso, Roles, Seed, cli, protect
from suffice.errors import InputError, SufficeError, UsageError

N = 60
SECRET = "Ms Smith 48151623"
KEY = "5afe3c91d07be2486fa51d93c4780e6b5afe72d1890bcf3e64a75d2c18f09be3"


def columns(**changes: Any) -> dict[str, Any]:
    """60 firms: two numbers that go together, one that does not, a region; some columns changed or added."""
    rng = np.random.default_rng(20)
    x = rng.normal(1000, 100, N).round(4)
    region = ["north", "south"] * (N // 2)
    made = {"region": region, "x": x, "y": (2 * x + rng.normal(0, 400, N)).round(4)}
    return {**made, "z": rng.normal(5000, 700, N).round(4), **changes}


def spoilt(name: str, value: Any, row: int = 3) -> dict[str, Any]:
    """The same firms, one cell of a column replaced."""
    values = list(columns()[name])
    values[row] = value
    return columns(**{name: values})


def text(of: dict[str, Any] | None = None, separator: str = ",") -> str:
    made = columns() if of is None else of
    lines = [separator.join(made), *(separator.join(map(str, row)) for row in zip(*made.values(), strict=True))]
    return "\n".join(lines) + "\n"


def parquet(of: dict[str, Any] | pa.Table) -> bytes:
    file = BytesIO()
    pq.write_table(of if isinstance(of, pa.Table) else pa.table(of), file)
    return file.getvalue()


def not_utf8() -> pa.Array:
    places = pa.py_buffer(np.arange(N + 1, dtype=np.int32))
    return pa.StringArray.from_buffers(N, places, pa.py_buffer(b"\xff" * N))


def bomb() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", bytes(30_000_000))
    return file.getvalue()


@dataclass(frozen=True)
class Case:
    """The first file is the data; `asks` follows `suffice protect DATA -o out.csv`."""

    files: dict[str, bytes | str | Callable[[], bytes]]
    asks: Sequence[str] = ("--confidential", "y", "--given", "x")
    code: int = 3
    said: Sequence[str] = ()
    output: str = "out.csv"


def csv(content: bytes | str, *said: str, code: int = 3) -> Case:
    return Case({"firms.csv": content}, code=code, said=said)


def asked(asks: str, *said: str, code: int, of: dict[str, Any] | None = None) -> Case:
    """A request about good columns; a space separates words."""
    return Case({"firms.parquet": lambda: parquet(columns() if of is None else of)}, asks.split(), code, said)


def of_y(values: Any, *said: str, code: int = 3) -> Case:
    return asked("--confidential y --given x", *said, code=code, of=columns(y=values))


def of_x(values: Any, *said: str, code: int = 3) -> Case:
    return asked("--confidential y --given x", *said, code=code, of=columns(x=values))


SPAN = np.arange(N) * 1.0
NOISE = np.random.default_rng(4).normal(size=N)

FILES = {
    "missing": Case({}, code=7, said=["no file 'firms.csv'"]),
    "missing, and one nearly so named": Case({"firms.csv": text()}, code=7, said=["Did you mean 'firms.csv'?"]),
    "0 bytes": csv(b"", "firms.csv is empty (0 bytes)"),
    "header only": csv(b"x,y\n", "column names and no records"),
    "header only, Parquet": Case(
        {"f.parquet": lambda: parquet(pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.float64())}))},
        said=["column names and no records"],
    ),
    "1 record": csv("x,y\n15.25,217.125\n", "1 record", "no override", code=4),
    "2 records": csv("x,y\n15.25,217.125\n17.5,333.625\n", "2 records", "no override", code=4),
    "UTF-16": csv(text().encode("utf-16"), "UTF-16", "save it as UTF-8"),
    "UTF-16 without a mark": csv(text().encode("utf-16-le"), "NUL byte in line 1"),
    "invalid bytes": csv(text().encode() + b"caf\xe9,1,2,3\n", "not UTF-8 in line 62."),
    "NUL bytes": csv(text().encode() + b"\0,1,2,3\n", "NUL byte in line 62"),
    "ragged rows": csv(text() + f"{SECRET},1\n" * 7, "7 lines", "4 columns", "lines 62, 63, 64, 65, 66 ..."),
    "unclosed quote": csv(text() + f'"{SECRET},1,2,3\n', "after line 61 a quotation mark is not closed"),
    "no header": csv("1.5,2.5\n3.5,4.5\n", "does not begin with column names"),
    "zip bomb": Case({"firms.csv": bomb}, said=["zip archive"]),
    "encrypted xlsx": Case(
        {"firms.xlsx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + SECRET.encode()}, said=["damaged or encrypted"]
    ),
    "corrupt Parquet footer": Case(
        {"f.parquet": lambda: parquet(columns())[:-20] + b"\xff" * 16 + b"PAR1"}, said=["footer is missing or damaged"]
    ),
    "cut Parquet": Case({"f.parquet": lambda: parquet(columns())[:500]}, said=["footer is missing or damaged"]),
    "damaged Parquet pages": Case(
        {"f.parquet": lambda: (b := parquet(columns()))[:60] + b"\xff" * 400 + b[460:]}, said=["pages cannot be read"]
    ),
    "pickle": Case({"firms.csv": lambda: pickle.dumps([SECRET])}, said=["Python pickle, which can run code"]),
    "gzip": csv(b"\x1f\x8b\x08" + SECRET.encode(), "compressed with gzip"),
    "unknown kind": Case({"firms.docx": SECRET}, code=2, said=["kind of file is not known"]),
    "text that is not UTF-8, Parquet": asked(
        "--confidential y --given C(region)", "'region'", "not UTF-8", code=3, of=columns(region=not_utf8())
    ),
}

COLUMNS = {
    "duplicate names": csv(text().replace("x,y,z", "x,y,y"), "'y' is there 2 times"),
    "duplicate names, Parquet": Case(
        {"f.parquet": lambda: parquet(pa.Table.from_arrays([pa.array(SPAN)] * 2, names=["y", "y"]))},
        said=["'y' is there 2 times"],
    ),
    "empty name": csv(text().replace("x,y,z", "x,y,"), "Column 4 has no name"),
    "empty name, Parquet": Case(
        {"f.parquet": lambda: parquet(pa.Table.from_arrays([pa.array(SPAN)] * 3, names=["x", "y", ""]))},
        said=["Column 3 has no name"],
    ),
    "name not in the file": asked(
        "--confidential turnovr --given emplyees",
        "no column 'turnovr'. Did you mean 'turnover'?",
        "no column 'emplyees'. Did you mean 'employees'?",
        code=3,
        of={"turnover": SPAN, "employees": SPAN},
    ),
    "one column in two roles": asked("--confidential y --given y", "'y' has more than one role", code=2),
    "code in a formula": Case(
        {"firms.csv": text()},
        ["--confidential", "y", "--given", "{__import__('os').system('true')}"],
        2,
        ["which is not accepted"],
    ),
    "text among numbers": csv(text(spoilt("y", SECRET)), "'y'", "not numbers: 1 record, first in row 4."),
    "much text among numbers": csv(
        text(columns(y=[SECRET if i % 9 == 4 else i for i in range(N)])), "7 records, first in rows 5, 14, 23, 32, 41"
    ),
    "text among weights": Case(
        {"firms.csv": text(spoilt("z", SECRET))},
        ["--confidential", "y", "--weight", "z"],
        said=["The weight 'z' is not numeric", "'z' is text", "first in row 4"],
    ),
    "text among given numbers": csv(text(spoilt("x", SECRET)), "'x' is text", "first in row 4", "with C()"),
    "text under a logarithm": Case(
        {"firms.csv": text(spoilt("x", SECRET))},
        ["--confidential", "y", "--given", "log(x)"],
        said=["log() of 'x'", "first in row 4"],
    ),
    "numbers stored as text": csv(text(columns(y=[f"{i:05d}" for i in range(N)])), "stored as text"),
    "text alone": csv(text(columns(y=[f"{SECRET}{i}" for i in range(N)])), "'y' is text", "protects numbers"),
    "dates": of_y([datetime.date(2020, 1, 1)] * N, "'y' holds dates", "a year, an age"),
    "given dates": of_x([datetime.date(2020, 1, 1)] * N, "'x' holds dates"),
    "booleans": of_y([True, False] * 30, "'y' is text, categorical or boolean"),
    "lists": of_y([[1.5]] * N, "'y' is of a kind that is not a number"),
    "a category with one record": asked(
        "--confidential y --given C(region)", "leverage", "1 record of 60", "no override", "merge_below", code=4,
        of=spoilt("region", SECRET),
    ),
    "an identifier among the categories": asked(
        "--confidential y --given C(id)", "leverage: 60 records of 60", "no override", code=4,
        of=columns(id=np.arange(N) + 48151623),
    ),
    "NaN": of_y(spoilt("y", np.nan)["y"], "y: missing in 1 record, first in row 4"),
    "NaN, CSV": csv(text(spoilt("y", "NaN")), "y: missing in 1 record, first in row 4"),
    "inf": of_y(spoilt("y", np.inf)["y"], "y: infinite in 1 record, first in row 4"),
    "given -inf": of_x(spoilt("x", -np.inf)["x"], "x: infinite in 1 record, first in row 4"),
    "missing category": asked(
        "--confidential y --given C(region)", "region: missing in 1 record", code=3, of=spoilt("region", None)
    ),
    "all missing": of_y(np.full(N, np.nan), "y: missing in 60 records"),
    "all missing, CSV": csv(text(columns(y=[""] * N)), "y: missing in 60 records"),
    "all missing, no type": of_y(pa.nulls(N), "y: missing in 60 records"),
    "near-constant": of_y(1e9 + NOISE * 1e-6, "Too few digits", "y"),
    "near-constant, to the last bit": of_y(np.where(SPAN % 2, 1.0, np.nextafter(1.0, 2.0)), "Too few digits"),
    "near-constant whole numbers": of_y((10**15 + np.arange(N) % 2).astype(np.int64), "Too few digits"),
    "beyond 2^53": of_y((2**53 + 1 + 2 * np.arange(N)).astype(np.int64), "beyond 2^53 in 60 records", "identifier?"),
    "beyond 2^63": of_y(pa.array([2**63 + i for i in range(N)], pa.uint64()), "beyond 2^53"),
    "1e308": of_y(spoilt("y", 1e308)["y"], "too large to be squared", "y"),
    "given 1e308": of_x(spoilt("x", 1e308)["x"], "too large to be squared", "x"),
    "1e-320": of_y(SPAN * 1e-320, "too small to be squared", "y"),
    "1e-200": of_y(NOISE * 1e-200, "too small to be squared", "y"),
    "given 1e-200": of_x(NOISE * 1e-200, "too small to be squared", "x"),
    "offset 1e12": of_y(1e12 + NOISE, "Too few digits", "Subtract an offset"),
    "outside the domain": asked(
        "--confidential y --given log(q)", "log(q): outside the domain in 30 records", code=3, of=columns(q=SPAN - 29.5)
    ),
}  # fmt: skip

STATISTICS = {
    "n <= rank(X)": asked("--confidential y --given C(g)*x", "0 degrees of freedom", "no override", code=4,
                          of={"g": list("abc") * 2, "x": SPAN[:6] ** 2, "y": NOISE[:6]}),
    "nu = 1": asked("--confidential y --given x", "1 degree of freedom", "up to a sign", "no override", code=4,
                    of={"x": SPAN[:3] ** 2, "y": NOISE[:3]}),
    "nu = 4": asked("--confidential y --given x", "4 degrees of freedom", "--accept degrees-of-freedom", code=4,
                    of={"x": SPAN[:6], "y": NOISE[:6]}),
    "confidential equals given": asked("--confidential y --given c", "y: an exact function", code=4,
                                       of=columns(c=columns()["y"])),
    "explained": asked("--confidential c --given x", "c: an exact function", "released unchanged", code=4,
                       of=columns(c=3 * columns()["x"] + 7)),
    "one of two explained": asked("--confidential c,y --given x", "c: an exact function", code=4,
                                  of=columns(c=3 * columns()["x"] + 7)),
    "negative weights": asked("--confidential y --weight w", "w: negative in 1 record, first in row 4", code=3,
                              of=columns(w=np.where(SPAN == 3, -1.25, 1.0))),
    "missing weights": asked("--confidential y --weight w", "w: missing in 1 record, first in row 4", code=3,
                             of=columns(w=np.where(SPAN == 3, np.nan, 1.0))),
    "weights all zero": asked("--confidential y --weight w", "weights add up to 0", code=3, of=columns(w=SPAN * 0)),
    "weights without end": asked("--confidential y --weight w", "too large to be squared", code=3,
                                 of=columns(w=np.where(SPAN == 3, 1e300, 1.0))),
    "different in records of weight zero alone": asked(
        "--confidential y --weight w", "records of weight zero alone", code=3,
        of=columns(y=np.where(SPAN == 3, 48151.623, 7.0), w=np.where(SPAN == 3, 0.0, 1.0))),
    "d above 1": asked("--confidential y --method residual-correlation --param d=1.5", "d must be", "[-1, 1]", code=2),
    "d below -1": asked("--confidential y --method score-correlation --param d=-1.5", "d must be", "[-1, 1]", code=2),
    "d not a number": asked("--confidential y --method score-correlation --param d=nan", "d must be", code=2),
    "d = (.9, .2)": asked(
        "--confidential y,c --given x --method residual-correlation --param d=.9,.2", "largest feasible alpha", code=5,
        of=columns(c=columns()["y"] + NOISE)),
    "d for too few": asked("--confidential y,z --method residual-correlation --param d=.5,.5,.5", "d", code=2),
    "lam = 0": asked("--confidential y --method romm --param lam=0", "lam must be a number above 0", code=2),
    "neither lam nor correlation": asked("--confidential y --method romm", "give either lam or correlation", code=2),
    "a candidate of other length": Case(
        {"firms.csv": text(), "other.csv": "y\n1.5\n"},
        ["--confidential", "y", "--method", "restore", "--param", "candidate=other.csv"], 3,
        ["candidate has 1 rows", "60"]),
    "a candidate without the column": Case(
        {"firms.csv": text(), "other.csv": text().replace("x,y,z", "x,q,z")},
        ["--confidential", "y", "--method", "restore", "--param", "candidate=other.csv"], 3,
        ["candidate lacks numeric columns 'y'"]),
    "a candidate with gaps": Case(
        {"firms.csv": text(), "other.csv": text(spoilt("y", ""))},
        ["--confidential", "y", "--method", "restore", "--param", "candidate=other.csv"], 3,
        ["candidate has missing or infinite values"]),
    "a guessable key": Case({"firms.csv": text(), "key": "42"}, ["--confidential", "y", "--key-file", "key"], 2,
                            ["at least 128 bits", "suffice key new"]),
    "no key file": asked("--confidential y --key-file nowhere", "key file cannot be read", code=7),
}  # fmt: skip

OUTPUTS = {
    "output = input": Case({"firms.csv": text()}, code=2, said=["The output is the data"], output="firms.csv"),
    "output = input, by force": Case(
        {"firms.csv": text()}, ["--confidential", "y", "--force"], 2, ["The output is the data"], "./firms.csv"
    ),
    "output exists": Case({"firms.csv": text(), "out.csv": "old"}, code=7, said=["out.csv exists", "--force"]),
    "output is a folder": Case({"firms.csv": text(), "out.csv/part": "old"}, code=7, said=["out.csv is a folder"]),
    "output = key": Case(
        {"firms.csv": text(), "key.csv": KEY}, ["--confidential", "y", "--key-file", "key.csv", "--force"], 2,
        ["The output is the key"], "key.csv",
    ),
    "output = candidate": Case(
        {"firms.csv": text(), "mask.csv": text(columns(y=NOISE))},
        ["--confidential", "y", "--method", "restore", "--param", "candidate=mask.csv", "--force"], 2,
        ["The output is a companion file"], "mask.csv",
    ),
    "report = certificate": Case(
        {"firms.csv": text()}, ["--confidential", "y", "--report", "out.csv.certificate.json"], 2,
        ["The report is the certificate"],
    ),
    "data = page of the certificate": Case(
        {"out.csv.certificate.html": lambda: parquet(columns())}, ["--confidential", "y", "--force"], 2,
        ["The certificate's page is the data: out.csv.certificate.html", "never overwritten"],
    ),
    "data = certificate": Case(
        {"out.csv.certificate.csv": text()}, ["--confidential", "y", "--force", "--report", "out.csv.certificate.csv"],
        2, ["The report is the data"],
    ),
    "key = certificate": Case(
        {"firms.csv": text(), "out.csv.certificate.json": KEY},
        ["--confidential", "y", "--key-file", "out.csv.certificate.json", "--force"], 2,
        ["The certificate is the key: out.csv.certificate.json", "never overwritten"],
    ),
    "candidate = page of the certificate": Case(
        {"firms.csv": text(), "out.csv.certificate.html": text(columns(y=NOISE))},
        ["--confidential", "y", "--method", "restore", "--param", "candidate=out.csv.certificate.html", "--force"], 2,
        ["The certificate's page is a companion file"],
    ),
    "report = ledger": Case(
        {"firms.csv": text(), "key": KEY, "key.ledger": ""},
        ["--confidential", "y", "--key-file", "key", "--force", "--report", "key.ledger"], 2,
        ["The report is the ledger"],
    ),
    "report = ledger to be": Case(
        {"firms.csv": text(), "key": KEY}, ["--confidential", "y", "--key-file", "key", "--report", "key.ledger"], 2,
        ["The report is the ledger"],
    ),
    "report in no folder": Case(
        {"firms.csv": text()}, ["--confidential", "y", "--report", "nowhere/report.html"], 7,
        ["the folder does not exist"],
    ),
    "report is a folder": Case(
        {"firms.csv": text(), "report/part": ""}, ["--confidential", "y", "--report", "report", "--force"], 7,
        ["report is a folder"],
    ),
    "a page that cannot be written": Case(
        {"firms.csv": text(), "out.csv.certificate.html/part": ""}, ["--confidential", "y", "--force"], 7,
        ["out.csv.certificate.html is a folder"],
    ),
    "a path without end": Case(
        {"firms.csv": text()}, code=2, said=["longer than file names can be"], output="o" * 5000 + ".csv"
    ),
    "folder missing": Case({"firms.csv": text()}, code=7, said=["the folder does not exist"], output="nowhere/out.csv"),
    "kind unknown": Case({"firms.csv": text()}, code=2, said=["no known kind of file"], output="out.docx"),
    "a workbook": Case({"firms.csv": text()}, code=2, said=["read and not written", ".csv"], output="out.xlsx"),
    "a column that CSV cannot hold": asked(
        "--confidential y --given x --keep l", "cannot be written as csv", "Write Parquet", code=7,
        of=columns(l=[[48151, 623]] * N),
    ),
}  # fmt: skip

FACES = {
    "unknown option": asked("--confidential y --wieght z", "--wieght", "--weight", code=2),
    "seed 42": asked("--confidential y --seed 42", "No such option: --seed", code=2),
    "unknown method": asked("--confidential y --method ipsso", "Did you mean 'ipso'?", code=2),
    "unknown parameter": asked("--confidential y --method romm --param lamda=1", "Did you mean 'lam'?", code=2),
    "unknown rule": asked("--confidential y --accept levrage=why", "Did you mean 'leverage'?", code=2),
    "no reason": asked("--confidential y --accept leverage=", "Write --accept leverage=REASON", code=2),
    "no threads": asked("--confidential y --threads 0", "--threads", code=2),
    "no column": asked("--given x", "--confidential", code=2),
}

REFUSED = {**FILES, **COLUMNS, **STATISTICS, **OUTPUTS, **FACES}


@dataclass(frozen=True)
class Ended:
    """What a command said, and what it left in the folder beside what was there."""

    code: int
    out: str
    err: str
    left: set[str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    monkeypatch.chdir(tmp_path)

    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    def command(case: Case, *words: str) -> Ended:
        for name, content in case.files.items():
            made = content() if callable(content) else content
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(made.encode() if isinstance(made, str) else made)
            Path(name).chmod(0o600)
        before = everything()
        data = next(iter(case.files), "firms.csv")
        data = "frims.csv" if any("Did you mean 'firms.csv'" in said for said in case.said) else data
        monkeypatch.setattr(sys, "argv", ["suffice", "protect", data, "-o", case.output, *case.asks, *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        after = everything()
        assert {name: after.get(name) for name in before} == before, "a file of the user was changed"
        return Ended(int(end.value.code or 0), said.out, said.err, set(after) - set(before))

    return command


UNSAID = {f"{value:.4f}".rstrip("0") for name in "xyz" for value in columns()[name]}
UNSAID |= {SECRET, "48151", "217.125", "333.625"}
"""Cells of the files above, none of which could be a count."""


@pytest.mark.parametrize("label", REFUSED)
def test_refused(run, label):
    case = REFUSED[label]
    ended = run(case)
    assert ended.code == case.code, ended.err
    for part in case.said:
        assert part in ended.err
    assert ended.left == set()
    assert ended.out == "" or ended.code == 4  # what a guard stops may be looked at
    for cell in UNSAID:
        assert cell not in ended.err + ended.out
    assert "Traceback" not in ended.err
    assert "Unexpected" not in ended.err
    assert str(Path.cwd()) not in ended.err


@pytest.mark.parametrize("label", [label for label in REFUSED if label not in FACES])
def test_refused_as_json_too(run, label):
    """The one document on stdout says the same."""
    case = REFUSED[label]
    ended = run(case, "--json")
    error = json.loads(ended.out)["error"]
    assert error["exit_code"] == case.code == ended.code
    for part in case.said:
        assert part in error["message"]


TAKEN = {
    "BOM": csv("\ufeff" + text()),
    "CRLF": csv(text().replace("\n", "\r\n")),
    "semicolon and decimal comma": csv(text(separator=";").replace(".", ","), "; between columns and decimal commas"),
    "hostile names": Case(
        {"firms.csv": text().replace("x,y,z", "<script>,=cmd,z")},
        ["--confidential", "=cmd", "--given", "`<script>`"],
        said=["spreadsheet may run as a formula: '=cmd'"],
    ),
    "constant": of_y(np.full(N, 7.125), "constant, kept as they are: y"),
    "constant beside others": asked(
        "--confidential y,z", "constant, kept as they are: y", code=0, of=columns(y=np.full(N, 7.125))
    ),
    "given constant": of_x(np.full(N, 7.125), "1 of 2 (dependent: x)"),
    "one 1e-320": of_y(spoilt("y", 1e-320)["y"]),
    "-0.0": of_y(np.where(SPAN % 2, -0.0, SPAN), "domain: Negative values"),
    "nothing but -0.0": of_y(np.full(N, -0.0), "constant, kept as they are: y"),
    "scales 1e-8 and 1e12": asked("--confidential y --given x", code=0, of=columns(y=NOISE * 1e-8, x=SPAN * 1e12)),
    "scales 1e12 and 1e-8": asked("--confidential y --given x", code=0, of=columns(y=NOISE * 1e12, x=SPAN * 1e-8)),
    "offset 1e6": of_y(1e6 + NOISE),
    "offset 1e9": of_y(1e9 + NOISE, "precision: y", "Subtract an offset"),
    "given offset 1e12": of_x(1e12 + SPAN),
    "float32": asked(
        "--confidential y --given x", code=0, of=columns(y=NOISE.astype(np.float32), x=SPAN.astype(np.float32))
    ),
    "decimals": of_y([Decimal(f"{i * i}.25") for i in range(N)]),
    "whole numbers": of_y(np.arange(N) ** 2),
    "collinear X": asked("--confidential y --given x+c", "2 of 3 (dependent: c)", code=0,
                         of=columns(c=2 * columns()["x"])),
    "Y3 = Y1 + Y2": asked("--confidential y,z,s --given x", "s is a combination of y and z", "stays true", code=0,
                          of=columns(s=columns()["y"] + columns()["z"])),
    "identical records": asked("--confidential y --given x", code=0,
                               of={name: list(values[:6]) * 10 for name, values in columns().items()}),
    "weight zero": asked("--confidential y --given x --weight w", "zero-weights: 1 record", code=0,
                         of=columns(w=np.where(SPAN == 3, 0.0, 1.0))),
    "a column without values, kept": asked("--confidential y --keep q", code=0, of=columns(q=pa.nulls(N))),
    "a category that CSV knows by other names": asked("--confidential y --given region --keep t", code=0,
                                                      of=columns(region=["NA", "a,\n\""] * 30, t=["", "null"] * 30)),
}  # fmt: skip


@pytest.mark.parametrize("label", TAKEN)
def test_taken(run, label):
    """Unusual and fine: released, certified, and said where a user should know."""
    case = TAKEN[label]
    ended = run(case)
    assert ended.code == 0, ended.err
    for part in case.said:
        assert part in ended.out
    assert ended.err == ""
    assert ended.left == {"out.csv", "out.csv.certificate.json", "out.csv.certificate.html"}
    assert json.loads(Path("out.csv.certificate.json").read_text())["holds"]


def test_y3_is_still_y1_plus_y2(run):
    run(TAKEN["Y3 = Y1 + Y2"])
    out = pd.read_csv("out.csv")
    assert np.abs(out["s"] - out["y"] - out["z"]).max() < 1e-9
    assert not np.isin(out["y"], columns()["y"]).any()


def test_a_constant_is_kept_to_the_last_digit(run):
    run(of_y(np.full(N, 0.1 + 0.2), code=0))
    assert {line.split(",")[1] for line in Path("out.csv").read_text().splitlines()[1:]} == {repr(0.1 + 0.2)}


def test_a_running_number_is_asked_about(run):
    """An identifier among the numbers."""
    ended = run(asked("--confidential y --given number", code=0, of=columns(number=np.arange(N) + 4815)))
    assert ended.code == 0
    assert "number is a running number" in ended.out
    assert "identifiers" in ended.out


def test_ages_are_no_running_number(run):
    ages = np.sort(np.r_[20, 79, np.random.default_rng(0).integers(20, 80, N - 2)])
    assert "running number" not in run(asked("--confidential y --given age", code=0, of=columns(age=ages))).out


# ---- what only a process or an operating system can show


def test_a_folder(run, monkeypatch, capsys):
    Path("empty").mkdir()
    monkeypatch.setattr(sys, "argv", ["suffice", "protect", "empty", "-o", "out.csv", "--confidential", "y"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 7
    assert "empty is a folder without .parquet files" in capsys.readouterr().err


def test_an_output_in_the_folder_that_is_read(run, monkeypatch, capsys):
    Path("parts").mkdir()
    Path("parts/a.parquet").write_bytes(parquet(columns()))
    monkeypatch.setattr(sys, "argv", ["suffice", "protect", "parts", "-o", "parts/b.parquet", "--confidential", "y"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert "lies in the folder of the data" in capsys.readouterr().err
    assert os.listdir("parts") == ["a.parquet"]


def test_a_pipe_cannot_be_read_twice(run, monkeypatch, capsys):
    os.mkfifo("pipe.csv")
    monkeypatch.setattr(sys, "argv", ["suffice", "protect", "pipe.csv", "-o", "out.csv", "--confidential", "y"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 7
    assert "cannot be read twice" in capsys.readouterr().err


def test_unreadable(run, monkeypatch):
    """A superuser reads everything, so the refusal is made here."""

    def denied(path: Path, *_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("suffice.files.kind.path_of", type("Denied", (type(Path()),), {"open": denied}))
    ended = run(csv(text()))
    assert ended.code == 7
    assert "firms.csv cannot be read: Permission denied" in ended.err
    assert ended.left == set()


def test_a_key_that_others_can_read(run):
    Path("key").write_text(KEY)
    Path("key").chmod(stat.S_IRUSR | stat.S_IRGRP)
    ended = run(Case({"firms.csv": text()}, ["--confidential", "y", "--key-file", "key"]))
    assert ended.code == 2
    assert "can be read by others" in ended.err
    assert KEY not in ended.err


@pytest.mark.slow
def test_a_line_of_100_mb(run):
    with open("long.csv", "wb") as file:
        file.write(text().encode())
        for _ in range(101):
            file.write(b"7" * 1_000_000)
    ended = run(Case({}), "--quiet")
    assert ended.code == 7
    os.rename("long.csv", "firms.csv")
    ended = run(Case({}), "--quiet")
    assert ended.code == 3
    assert "Line 62 of firms.csv is longer than 100 MB" in ended.err


# ---- from Python

ROLES = Roles(confidential=["y"], given="x")


@pytest.mark.parametrize("seed", ["42", 42, b"42", KEY])
def test_a_seed_is_a_seed(seed):
    with pytest.raises(UsageError, match="is no Seed") as caught:
        protect(pd.DataFrame(columns()), ROLES, Ipso(), seed=seed)
    assert "42" not in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "NoneType is not a table"),
        ([[1.0, 2.0]], "list is not a table"),
        (np.zeros(3), "two-dimensional"),
        (np.array([["a", "b"]]), "numeric"),
        (pd.DataFrame([[1.0, 2.0]], columns=["y", "y"]), "not unique"),
        (pd.DataFrame([[1.0, 2.0]], columns=[0, 1]), "must be text"),
        (pd.DataFrame({"x": [1.0], "y": [{"a": SECRET}]}), "not a number"),
        (pd.DataFrame({"x": [1.0, 2.0], "y": [SECRET, 1.0]}, dtype=object), "not a number"),
        (pd.DataFrame({"x": [], "y": []}), "no records"),
        (pd.DataFrame({"x": [1.0], "y": [1 + 2j]}), "not a number"),
        (pl.DataFrame({"x": [1.0, 2.0], "y": [None, None]}), "missing in 2 records"),
        (pd.DataFrame({"x": [1.0, 2.0], "y": [None, None]}), "missing in 2 records"),
        (pd.DataFrame({"x": [1, 2], "y": pd.array([1, None], dtype="Int64")}), "missing in 1 record"),
    ],
)
def test_frames(data, said):
    with pytest.raises(InputError, match=said) as caught:
        protect(data, ROLES, Ipso())
    assert SECRET not in told(caught.value)


def test_roles_and_methods_are_what_they_are():
    with pytest.raises(UsageError, match="is no Roles"):
        protect(pd.DataFrame(columns()), {"confidential": ["y"]}, Ipso())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is not a method"):
        protect(pd.DataFrame(columns()), ROLES, 7)  # type: ignore[arg-type]


def told(error: BaseException | None) -> str:
    """Everything that a traceback could print of an error."""
    return "" if error is None else f"{error} {error!r} {told(error.__cause__)} {told(error.__context__)}"


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_damage_anywhere_is_an_error_of_ours_or_none(tmp_path, kind):
    """Bytes overwritten at random: either it is noticed, or a certified release comes out."""
    path = tmp_path / f"firms.{kind}"
    table = pa.table(columns())
    if kind == "feather":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        path.write_bytes(parquet(columns()) if kind == "parquet" else text().encode())
    whole, rng = path.read_bytes(), np.random.default_rng(7)
    for _ in range(60):
        at, size = int(rng.integers(len(whole))), int(rng.integers(1, 12))
        path.write_bytes(whole[:at] + rng.bytes(size) + whole[at + size :])
        with suppress(SufficeError):
            release = protect(path, Roles(confidential=["y"], given="x + region"), Ipso(), seed=Seed.for_tests(1))
            assert release.certificate.rows > 0


def test_the_public_names_are_all_there():
    assert {"protect", "verify", "Plan", "Roles", "Seed", "Ipso"} <= set(dir(suffice))
