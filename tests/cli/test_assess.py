"""`suffice assess`: scores on screen and in files, and every mistake a sentence with its exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from suffice import cli

N = 40


def write(path: Path, drop: str = "", n: int = N, seed: int = 1, **changes: object) -> None:
    rng = np.random.default_rng(seed)
    columns = {"id": np.arange(n), "a": rng.normal(size=n), "b": rng.gamma(2.0, size=n), **changes}
    csv.write_csv(pa.table({name: column for name, column in columns.items() if name != drop}), path)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "original.csv")
    write(tmp_path / "release.csv", seed=2)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", "assess", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    return run


BOTH = ("original.csv", "release.csv", "--confidential", "a,b")


def test_scores_are_shown_and_written(run, tmp_path: Path):
    two = ("--measure", "distance-linkage", "--measure", "information-loss")
    code, out, _ = run(*BOTH, "--identifiers", "id", *two, "--quiet", "--output", "s.json")
    assert (code, out) == (0, "")
    found = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert {"distance-linkage", "information-loss"} <= {each["name"] for each in found["scores"]}
    assert (tmp_path / "s.json").stat().st_mode & 0o077 == 0
    code, out, _ = run(*BOTH, "--measure", "kolmogorov-smirnov", "--json", "--output", "s.csv")
    assert [each["name"] for each in json.loads(out)["scores"]] == ["kolmogorov-smirnov"]
    assert (tmp_path / "s.csv").read_text(encoding="utf-8").count("kolmogorov-smirnov") == 1
    code, out, _ = run(
        "original.csv", "release.csv", "release.csv", "--confidential", "a,b", "--aligned", "-o", "s.html"
    )
    assert code == 0
    assert "memory" in out
    assert "PRIVATE" in (tmp_path / "s.html").read_text(encoding="utf-8")


def test_analyses_and_a_subdomain_are_words(run):
    asked = ("--measure", "interval-overlap", "--analysis", "lm: a ~ b", "--where", "b > 1 and id < 30", "--json")
    code, out, _ = run(*BOTH, *asked)
    assert code == 0
    assert [*json.loads(out)["scores"][0]["parts"]] == ["lm: a ~ b, 1", "lm: a ~ b, b"]
    for words, match in ((("--where", "b >"), "ends too early"), (("--analysis", "a b"), "is not understood")):
        code, _, err = run(*BOTH, *words)
        assert code == 2
        assert match in err


@pytest.mark.parametrize(
    ("words", "change", "code", "said"),
    [
        (("--measure", "linkage"), {}, 2, "There is no measure 'linkage'"),
        (("--measure", "distance-linkage"), {}, 3, "which released record is whose"),
        (("--keep", "x\ny"), {}, 2, "not in quotes"),
        (("--measure", "memory", "--aligned"), {}, 3, "several releases"),
        ((), {"drop": "b"}, 3, "has no column 'b'"),
        ((), {"a": ["x"] * N}, 3, "text or categories in 'a'"),
        (("--aligned",), {"n": N - 1}, 3, "not aligned"),
        ((), {"n": 1}, 3, "1 record"),
        (("--holdout", "original.csv"), {}, 3, "hold-out are in the original"),
        (("--identifiers", "id"), {"id": np.zeros(N)}, 3, "more than one record"),
        (("--output", "scores.xlsx"), {}, 2, ".json, .csv or .html"),
        (("--output", "release.csv", "--force"), {}, 2, "never overwritten"),
        (("--output", "there.json"), {}, 7, "exists already"),
        (("--holdout", "nowhere.csv"), {}, 7, ""),
    ],
)
def test_a_mistake_is_a_sentence_and_an_exit_code(run, tmp_path: Path, words, change, code: int, said: str):
    if change:
        write(tmp_path / "release.csv", **{"seed": 2, **change})
    (tmp_path / "there.json").touch()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    found, _, problem = run(*BOTH, *words)
    assert found == code, problem
    assert said in problem
    assert "Unexpected" not in problem
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_constant_columns_are_said_and_refused_where_all_are(run, tmp_path: Path):
    write(tmp_path / "original.csv", a=np.ones(N))
    code, out, _ = run(*BOTH, "--measure", "wasserstein")
    assert code == 0
    assert "one value in the original are left out: a" in out
    assert run("original.csv", "release.csv", "--confidential", "a")[0] == 3


def test_scores_never_replace_a_key_nor_take_the_name_of_a_certificate(run, tmp_path: Path):
    asked = (*BOTH, "--measure", "wasserstein", "--force", "--output")
    for name, text in (("key.json", "suffice-key-1\nab\n"), ("own.json", "ab"), ("r.csv.certificate.json", "{}")):
        (tmp_path / name).write_text(text)
        (tmp_path / "own.json.ledger").write_text("")
        code, _, err = run(*asked, str(tmp_path / name))
        assert code == 2
        assert "hoose another" in err
        assert (tmp_path / name).read_text() == text
