"""The page on methods names all of them, and every command of its tables runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from suffice import Roles, Seed, protect
from suffice.catalogue import build, methods
from suffice.cli.app import app
from suffice.demo import firms

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "which_method.md").read_text(encoding="utf-8")
LINES = dict(re.findall(r"^\| `(--method [^`]*)` \|(.*)$", PAGE, re.M))
ROWS = [*LINES]
NUMBERS = Roles(confidential=["turnover", "wages", "taxes"])
CATEGORIES = Roles(confidential=["region", "size"])
MIXED = Roles(confidential=["industry", "turnover", "wages"], given="C(size)")
TABLES = re.findall(r"^\| `(suffice table [^`]*)` \|", PAGE, re.M)


def test_every_method_has_a_row_and_a_place_in_the_tree() -> None:
    named = {word for row in ROWS for word in re.findall(r"--(?:method|then) (\S+)", row)}
    assert named == {*methods()}


@pytest.mark.parametrize("row", ROWS)
def test_every_command_runs(row: str) -> None:
    words = iter(shlex.split(row))
    asked: list[tuple[str, dict[str, object]]] = []
    for option, value in zip(words, words, strict=True):
        if option in ("--method", "--then"):
            asked.append((value, {}))
        else:
            name, _, told = value.partition("=")
            asked[-1][1][name] = told
    first, *rest = (build(*each) for each in asked)
    roles = NUMBERS
    if asked[0][0] in ("margins", "loglinear"):
        roles = MIXED if rest else CATEGORIES
    # among fewer firms one giant decides what stops
    release = protect(firms(400), roles, first.then(*rest) if rest else first, seed=Seed.for_tests(1))
    assert release.certificate.holds
    stops = {finding.rule for finding in release.findings if finding.blocks} - {"seed"}  # it is a test's
    assert bool(stops) == ("stopped unless accepted" in LINES[row])


@pytest.mark.parametrize("row", TABLES)
def test_every_command_of_tables_runs(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(TABLES) == 3
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    region, trade = (rng.choice(list(codes), 200, p=[0.4, 0.3, 0.2, 0.1]) for codes in ("abcd", "uvwx"))
    firms = {"region": region, "trade": trade, "turnover": np.round(np.exp(rng.normal(5, 1, 200))), "firm": range(200)}
    pd.DataFrame(firms).to_csv("firms.csv", index=False)
    make = "table make firms.csv --dims region,trade --value turnover --contributor firm -o cells.csv"
    assert CliRunner().invoke(app, shlex.split(make)).exit_code == 0
    if "hidden" in row:  # which cells, suppress says
        pattern = next(each for each in TABLES if "suppress" in each).replace("out.csv", "pattern.csv")
        assert CliRunner().invoke(app, shlex.split(pattern)[1:]).exit_code == 0
        cells, published = pd.read_csv("cells.csv"), pd.read_csv("pattern.csv").set_index(["region", "trade"])
        there = cells.set_index(["region", "trade"]).index.map(published["turnover"])
        cells.assign(hidden=pd.isna(there).astype(int)).to_csv("cells.csv", index=False)
    found = CliRunner().invoke(app, shlex.split(row)[1:])
    assert found.exit_code == 0, found.output
    assert Path("out.csv").exists()
