"""`suffice compare`: shown, written, gone on with; and every mistake a sentence with its exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.csv as pc
import pytest

from suffice import cli
from suffice.demo import firms

PLAN = """
[data]
path = "firms.csv"
[roles]
confidential = ["turnover", "wages"]
[compare]
methods = ["ipso", "pca-mask"]
repeats = 1
limits = {distance-linkage = 0.05}
loss = ["information-loss"]
[release]
path = "out.csv"
"""

pytestmark = pytest.mark.usefixtures("one_trial")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    pc.write_csv(firms(100).select(["turnover", "wages"]), "firms.csv")
    Path("plan.toml").write_text(PLAN)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", "compare", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    return run


def test_it_is_shown_written_and_gone_on_with(run):
    asked = ("plan.toml", "--workers", "1", "-o", "compared", "--csv", "c.csv", "--map", "m.svg", "--report", "r.html")
    code, out, _ = run(*asked)
    assert code == 0
    assert "recommended: ipso" in out or "recommended: pca-mask" in out
    files = {
        "runs.jsonl",
        "comparison.key",
        "recommended.toml",
        *(f"comparison.{k}" for k in ["json", "csv", "html", "png"]),
    }
    assert {path.name for path in Path("compared").iterdir()} == files
    assert Path("m.svg").read_text().startswith("<?xml")
    assert Path("c.csv").read_text() == Path("compared/comparison.csv").read_text()
    first = Path("compared/runs.jsonl").read_text()
    code, out, _ = run("plan.toml", "--workers", "1", "-o", "compared", "--repeats", "2", "--json")
    assert code == 0
    assert json.loads(out)["repeats"] == 2
    second = Path("compared/runs.jsonl").read_text()
    assert second.startswith(first)
    assert len(second.splitlines()) == len(first.splitlines()) + 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("plan.toml", "--csv", "c.html"), 2, ".csv"),
        (("plan.toml", "--map", "firms.csv"), 2, ".png or .svg"),
        (("plan.toml", "--csv", "firms.csv", "--force"), 2, "the data"),
        (("plan.toml", "-o", "."), 7, "not empty"),
        (("plan.toml", "-o", "plan.toml"), 7, "cannot be made"),
        (("nowhere.toml",), 7, "cannot be read"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(run, words, code, said):
    ended, out, err = run(*words)
    assert (ended, out) == (code, "")
    assert said in err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"ipso", "pca-mask"', '"ipsi"', "Did you mean"),
        ("repeats = 1", "repeats = 0", "whole number"),
        ("repeats = 1", "repeat = 1", "unknown key"),
        ("distance-linkage", "linkige", "There is no risk"),
    ],
)
def test_mistakes_of_the_plan(run, old, new, said):
    Path("plan.toml").write_text(PLAN.replace(old, new))
    code, _, err = run("plan.toml")
    assert code == 2
    assert said in err


def test_all_files_are_the_holders_own(run):
    assert run("plan.toml", "--workers", "1", "-o", "compared", "--quiet")[0] == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in Path("compared").iterdir())
