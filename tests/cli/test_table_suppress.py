"""`suffice table suppress`, from cells to a file that passes the audit."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from suffice import cli

VALUES = {("x", "u"): 1, ("x", "v"): 9, ("x", "w"): 9, ("y", "u"): 9, ("y", "v"): 8, ("y", "w"): 7}
VALUES |= {("z", "u"): 9, ("z", "v"): 9, ("z", "w"): 13}
HOW = ("cells.csv", "--dims", "a,b", "--value", "n", "--counts", "--rule", "frequency=3")
LAST = {("x", "v"), ("y", "u"), ("y", "v")}
PLAN = """
[data]
path = "cells.csv"

[table]
dims = ["a", "b"]
values = ["n"]
counts = ["n"]
cells = true
rules = ["frequency=3"]
last = "before"

[[method]]
name = "decimals"
search = "auto"
cost = "count"
store = "all"

[release]
path = "filled.csv"
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """run(*words): `suffice` in a folder with cells.csv; its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    rows = ["a,b,n,dear,before,stay"]
    for a in ("Total", *"xyz"):
        for b in ("Total", *"uvw"):
            n = sum(v for (c, d), v in VALUES.items() if a in ("Total", c) and b in ("Total", d))
            rows.append(f"{a},{b},{n},{50 if (a, b) in LAST else 1},{int((a, b) in LAST)},{int(b == 'v')}")
    Path("cells.csv").write_text("\n".join([*rows, ""]))

    def suffice(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return suffice


def cells(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(name).read_text().splitlines()))


def gaps(name: str) -> set[tuple[str, str]]:
    return {(row["a"], row["b"]) for row in cells(name) if not row["n"]}


def test_cells_are_suppressed_until_the_audit_passes(run):
    code, out, err = run("table", "suppress", *HOW, "-o", "out.csv", "--last", "before", "--cost", "count")
    assert (code, "proven" in out) == (0, True), err
    assert gaps("out.csv") == {("x", "u")} | LAST
    document = json.loads(Path("out.csv.certificate.json").read_text())
    assert "audit: what must not be told" in str(document)
    assert run("table", "verify", "cells.csv", "out.csv", *HOW[1:6])[0] == 0
    assert run("table", "suppress", *HOW, "-o", "given.csv", "--search", "given")[0] == 4


def test_costs_and_cells_that_stay(run):
    assert run("table", "suppress", *HOW, "-o", "out.csv", "--costs", "dear")[0] == 0
    assert not gaps("out.csv") & LAST
    assert run("table", "suppress", *HOW, "-o", "out.csv", "--fixed", "stay", "--force")[0] == 0
    assert not any(b == "v" for _, b in gaps("out.csv"))
    code, _, err = run("table", "suppress", *HOW, "-o", "no.csv", "--beforehand", "0.05")
    assert (code, "a=x, b=u" in err, Path("no.csv").exists()) == (5, True, False)
    assert run("table", "suppress", *HOW, "-o", "no.csv", "--search", "slow")[0] == 2
    assert run("table", "suppress", *HOW[:-2], "-o", "no.csv")[0] == 2


def test_the_pattern_in_files_of_other_programs(run):
    for name in ("p.sdmx.csv", "p.tab", "p.csv"):
        words = ("-o", "out.csv", "--pattern", name, "--force", "--last", "before", "--cost", "count")
        assert run("table", "suppress", *HOW, *words)[0] == 0
    rows = cells("p.sdmx.csv")
    status = {(row["a"], row["b"]): row["CONF_STATUS"] for row in rows}
    assert status["x", "u"] == "C"
    assert {cell for cell, letter in status.items() if letter == "D"} == LAST
    lines = Path("p.tab").read_text()
    assert lines.count("U") >= 1
    assert sum(row["suppressed"] == "true" for row in cells("p.csv")) == 4
    assert run("table", "audit", "p.sdmx.csv", "--counts", "--rule", "frequency=3")[0] == 0


def test_names_that_no_file_can_have_are_refused(run):
    code, _, err = run("table", "suppress", *HOW, "-o", "out.sdmx.csv", "--decimals")
    assert (code, "no code for numbers" in err, Path("out.sdmx.csv").exists()) == (2, True, False)
    code, _, err = run("table", "suppress", *HOW, "-o", "out.csv", "--pattern", "p.docx")
    assert (code, ".jj" in err, Path("p.docx").exists()) == (2, True, False)


@pytest.mark.parametrize(
    ("output", "pattern", "code"),
    [
        ("out.xlsx", "p.csv", 2),
        ("nowhere/out.csv", "p.csv", 7),
        ("cells.csv", "p.csv", 2),
        ("out.csv", "out.csv", 2),
        ("out.csv", "cells.csv", 2),
        ("there.csv", "p.csv", 7),
        ("out.csv", "there.csv", 7),
    ],
)
def test_names_are_refused_before_the_work(run, monkeypatch: pytest.MonkeyPatch, output: str, pattern: str, code: int):
    Path("there.csv").touch()
    before = sorted(Path().iterdir())

    def work(*_: object, **__: object) -> None:
        raise AssertionError("no pattern is to be looked for")

    monkeypatch.setattr("suffice.release.tables.publish", work)
    assert run("table", "suppress", *HOW, "-o", output, "--pattern", pattern)[0] == code
    words = PLAN.replace("filled.csv", output) + f'pattern = "{pattern}"\n'
    Path("plan.toml").write_text(words)
    assert run("run", "plan.toml")[0] == code
    Path("plan.toml").unlink()
    assert sorted(Path().iterdir()) == before


def test_a_published_table_has_status_codes_that_do_not_tell_what_is_sensitive(run):
    words = ("--last", "before", "--cost", "count", "--pattern", "own.sdmx.csv")
    assert run("table", "suppress", *HOW, "-o", "out.sdmx.csv", *words)[0] == 0
    hidden = {("x", "u")} | LAST
    for row in cells("out.sdmx.csv"):
        gone = (row["a"], row["b"]) in hidden
        assert (row["OBS_STATUS"], row["CONF_STATUS"], row["OBS_VALUE"] == "") == (
            ("Q", "N", True) if gone else ("A", "F", False)
        )
    code, out, _ = run("table", "verify", "cells.csv", "out.sdmx.csv", *HOW[1:6])
    assert (code, "unknown-columns" in out) == (0, False)
    lines = Path("out.sdmx.csv").read_text()
    Path("out.sdmx.csv").write_text(lines.replace("74", "75"))
    assert run("table", "verify", "cells.csv", "out.sdmx.csv", *HOW[1:6])[0] == 6
    Path("out.sdmx.csv").write_text(lines.replace(',"Q","N"', ',"Q","D"', 1))
    code, out, _ = run("table", "verify", "cells.csv", "out.sdmx.csv", *HOW[1:6])
    assert (code, "which suppressed cells are sensitive" in out) == (4, True)
    assert "OBS_VALUE" in Path("own.sdmx.csv").read_text()
    assert Path("own.sdmx.csv").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("own", ["own.tab", "own.jj", "own.sdmx.csv", "own.csv"])
def test_a_plan_writes_the_status_of_all_cells_for_its_holder(run, own: str):
    plan = PLAN.replace('path = "filled.csv"', f'path = "filled.csv"\npattern = "{own}"')
    assert plan != PLAN
    Path("plan.toml").write_text(plan)
    code, _, err = run("run", "plan.toml")
    assert (code, Path(own).exists(), Path("own.rda").exists()) == (0, True, own == "own.tab"), err
    Path("plan.toml").write_text(plan.replace(own, "cells.csv"))
    assert run("run", "plan.toml", "--force")[0] == 2
    Path("plan.toml").write_text(plan.replace(own, "own.docx"))
    assert run("run", "plan.toml", "--force")[0] == 2


def test_a_plan_finds_the_pattern_and_fills_it(run):
    Path("plan.toml").write_text(PLAN)
    code, out, err = run("run", "plan.toml")
    assert (code, "suppressed besides" in out) == (0, True), err
    rows = cells("filled.csv")
    assert {(row["a"], row["b"]) for row in rows if row["suppressed"] == "true"} == {("x", "u")} | LAST
    assert all(row["n"] for row in rows)


def test_a_second_pattern_that_opens_the_first_is_stopped(run):
    assert run("key", "new", "key")[0] == 0
    first = ("-o", "out.csv", "--key-file", "key", "--last", "before", "--cost", "count")
    assert run("table", "suppress", *HOW, *first)[0] == 0
    second = ("-o", "other.csv", "--key-file", "key", "--costs", "dear")
    code, _, err = run("table", "suppress", *HOW, *second)
    assert (code, "repeated-release" in err, Path("other.csv").exists()) == (4, True, False)
