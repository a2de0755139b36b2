"""Plans for tables: from records to a published table, and every mistake at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv

from suffice import cli
from suffice.errors import UsageError
from suffice.plan.plan import Plan
from suffice.plan.table import TablePlan
from suffice.release.tables import TableRelease

Run = Callable[..., tuple[int, str]]
PLAN = """
[data]
path = "people.csv"

[table]
dims = ["a", "b"]
frequency = "n"
rules = ["frequency=3"]
pattern = "pattern.csv"
suppressed = "cross"

[[method]]
name = "decimals"

[release]
path = "out.csv"
"""
COUNTS = [1, 90, 91, 72, 93, 84, 77, 67, 95, 96, 2, 81, 64, 73, 82, 91]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a, b = [f"a{k // 4}" for k in range(16)], [f"b{k % 4}" for k in range(16)]
    csv.write_csv(pa.table({"a": a, "b": b, "n": COUNTS}), tmp_path / "people.csv")
    every = {(x, y) for x in [*a, "Total"] for y in [*b, "Total"]}
    x, y = zip(*sorted(every), strict=True)
    cross = [one != "Total" and two != "Total" for one, two in zip(x, y, strict=True)]
    csv.write_csv(pa.table({"a": x, "b": y, "count": [None] * len(x), "cross": cross}), tmp_path / "pattern.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """run(*words): suffice as a user runs it; its exit code and all that it says."""

    def suffice(*words: str | Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out + said.err

    return suffice


def test_a_plan_with_a_table_is_read_as_one_and_written_back():
    plan = Plan.parse(PLAN)
    assert isinstance(plan, TablePlan)
    assert TablePlan.parse(plan.to_toml()) == plan
    assert plan.to_toml() == TablePlan.parse(plan.to_toml()).to_toml()


def test_a_plan_is_run_and_its_table_verified(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    code, said = run("run", "plan.toml", "--report", "private.html")
    assert code == 0, said
    assert "HOLDS" in said
    code, said = run("table", "make", "people.csv", "--dims", "a,b", "--frequency", "n", "-o", "cells.csv")
    assert code == 0, said
    told = json.loads(Path("out.csv.certificate.json").read_text())["verify"].split()[1:]
    command = ["cells.csv" if word == "ORIGINAL" else word for word in told]
    assert run(*command)[0] == 0
    assert json.loads(run(*command, "--json")[1])["passes"]
    right = Path("out.csv").read_text()
    Path("out.csv").write_text(right.replace('"a0","b0",', '"a0","b0",9'))
    assert run(*command)[0] == 6
    Path("out.csv").write_text(right + "\n")
    code, said = run(*command)  # the digest is another one
    assert code == 4, said
    Path("out.csv").write_text("\n".join(line + (",sensitive", ",1")[k > 0] for k, line in enumerate(right.split())))
    assert "private-columns" in run(*command)[1]
    assert run("run", "plan.toml")[0] == 7
    assert run("run", "plan.toml", "--force", "--quiet") == (0, "")


def test_a_suppressed_value_in_the_file_is_found(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    Path("cells.csv").write_text("a,v,cross\nTotal,10,0\nx,3,1\ny,4,1\nz,3,0\n")
    Path("out.csv").write_text("a,v\nTotal,10\nx,3\ny,\nz,3\n")
    how = ("table", "verify", "cells.csv", "out.csv", "--dims", "a", "--value", "v")
    assert run(*how)[0] == 0  # nobody says that x is suppressed
    code, said = run(*how, "--suppressed", "cross")
    assert code == 4
    assert "suppressed-cells" in said
    code, said = run(*how[:-2])
    assert (code, "--value" in said) == (2, True)


def test_without_a_pattern_the_sensitive_cells_alone_stop(folder: Path, run: Run):
    text = PLAN.replace('pattern = "pattern.csv"\nsuppressed = "cross"\n', "").replace("decimals", "suppress")
    (folder / "plan.toml").write_text(text)
    assert run("run", folder / "plan.toml", "--json")[0] == 4
    assert not (folder / "out.csv").exists()
    (folder / "plan.toml").write_text(text + '\n[accept]\naudit = "all of them have agreed"\n')
    assert run("run", folder / "plan.toml", "--quiet") == (0, "")
    assert "all of them have agreed" in (folder / "out.csv.certificate.json").read_text()


def test_cells_with_their_totals_are_data_too(folder: Path):
    cells = {"r": ["Total", "x", "y", "z", "w"], "v": [100.0, 40, 30, 20, 10], "cross": [0, 1, 1, 1, 0]}
    csv.write_csv(pa.table(cells), folder / "cells.csv")
    table = {"dims": ["r"], "values": ["v"], "cells": True, "suppressed": "cross"}
    tables = {"data": {"path": "cells.csv"}, "table": table, "release": {"path": "o.csv"}}
    release = Plan.of(tables, folder).protect()
    assert isinstance(release, TableRelease)
    assert [finding.rule for finding in release.findings if finding.blocks] == ["audit"]  # no rules
    assert release.frame["v"].null_count == 3


@pytest.mark.parametrize("name", ["people.csv", "pattern.csv", "plan.csv"])
def test_nothing_of_the_request_is_overwritten(folder: Path, name: str, run: Run):
    (folder / "plan.csv").write_text(PLAN.replace("out.csv", name))
    code, said = run("run", folder / "plan.csv", "--force")
    assert code == 2
    assert "never overwritten" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("dims =", "dim ="), "table.dim: unknown key. Did you mean 'dims'?"),
        (("frequency=3", "frequenzy=3"), "table.rules[1]: There is no rule 'frequenzy'"),
        (('name = "decimals"', 'name = "decimal"'), "Did you mean 'decimals'"),
        (('name = "decimals"', 'name = "decimals"\nsprad = 2.0'), "method[1].sprad: unknown parameter"),
        (('name = "decimals"', 'name = "decimals"\nspread = -1.0'), "spread must be a number above 0"),
        (("[release]", '[accept]\naudits = "x"\n[release]'), "accept.audits: unknown rule"),
        (("[release]", '[roles]\nconfidential = ["x"]\n[release]'), "roles: unknown key"),
        (('pattern = "pattern.csv"\n', ""), "table.suppressed: is a column of the pattern"),
        (("dims =", 'counts = ["n"]\ndims ='), "table.counts: goes with cells = true"),
    ],
)
def test_a_mistake_gets_a_sentence_with_its_place(change: tuple[str, str], said: str):
    with pytest.raises(UsageError) as error:
        Plan.parse(PLAN.replace(*change))
    assert said in str(error.value)
