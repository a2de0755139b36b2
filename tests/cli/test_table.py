"""`suffice table`, run as a user runs it."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from suffice import cli


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """run(*words): `suffice table` in a folder with records of firms; its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{a},{b},f{k},{v}" for k, (a, b, v) in enumerate([("x", "u", 50), ("x", "w", 40), ("y", "u", 30)])]
    lines += [
        f"{a},{b},g{a}{b}{k},{k}" for a in "xyz" for b in "uw" for k in range(3, 9) if (a, b) not in (("x", "u"),)
    ]
    Path("firms.csv").write_text("\n".join(["a,b,firm,v", *lines, ""]))

    def suffice(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", "table", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return suffice


HOW = ("--dims", "a,b", "--value", "v")
BEHIND = ("--records", "firms.csv", "--contributor", "firm", "--rule", "contributors=3")


def cells(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(name).read_text().splitlines()))


def pattern(*gaps: tuple[str, str], values: bool = True) -> None:
    """cells.csv with a column of suppressed cells."""
    rows = cells("cells.csv")
    for row in rows:
        row["gap"] = "x" if (row["a"], row["b"]) in gaps else ""
        row["v"] = row["v"] if values or not row["gap"] else ""
    with Path("gaps.csv").open("w") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_from_records_to_an_audit(run):
    assert run("make", "firms.csv", *HOW, "--contributor", "firm", "-o", "cells.csv")[0] == 0
    assert [row["contributors"] for row in cells("cells.csv") if (row["a"], row["b"]) == ("x", "u")] == ["1"]
    code, out, _ = run("sensitive", *HOW, *BEHIND, "-o", "judged.csv")
    assert (code, out.splitlines()[0]) == (0, "1 of 12 cells of v are sensitive.")
    assert [(row["a"], row["b"], row["rule"]) for row in cells("judged.csv") if row["sensitive"] == "true"] == [
        ("x", "u", "contributors")
    ]
    assert Path("judged.csv").stat().st_mode & 0o077 == 0
    known = ("--contributors", "contributors", "--rule", "contributors=3", "--json")
    assert json.loads(run("sensitive", "cells.csv", *HOW, *known)[1])["sensitive"] == 1
    pattern(("x", "u"))
    code, out, err = run("audit", "gaps.csv", *HOW, "--suppressed", "gap", *BEHIND)
    assert code == 4
    assert "exposed: a=x, b=u" in out
    assert "told too well" in err
    assert "50" not in out + err
    pattern(("x", "u"), ("x", "w"), ("y", "u"), ("y", "w"))
    code, out, _ = run("audit", "gaps.csv", *HOW, "--suppressed", "gap", *BEHIND, "-o", "audited.csv")
    assert code == 0
    assert "audit: HOLDS" in out
    assert [row["verdict"] for row in cells("audited.csv") if (row["a"], row["b"]) == ("x", "u")] == ["protected"]
    assert json.loads(run("audit", "gaps.csv", *HOW, "--suppressed", "gap", *BEHIND, "--json")[1])["holds"] is True


def test_a_table_of_others_is_never_called_safe(run):
    run("make", "firms.csv", *HOW, "-o", "cells.csv")
    pattern(("x", "u"), ("x", "w"), ("y", "u"), ("y", "w"), values=False)
    code, out, err = run("audit", "gaps.csv", *HOW)
    assert code == 4
    assert "NOT JUDGED" in out
    assert "not safe" in err
    pattern(("x", "u"), values=False)
    assert run("audit", "gaps.csv", *HOW)[0] == 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("make", "firms.csv", "--dims", "a,c", "-o", "o.csv"), 2, "no column 'c'"),
        (("make", "firms.csv", "-o", "o.csv"), 2, "dims"),
        (("make", "firms.csv", "--dims", "a", "--value", "firm", "-o", "o.csv"), 3, "no number"),
        (("make", "none.csv", "--dims", "a", "-o", "o.csv"), 7, "no file"),
        (("make", "firms.csv", "--dims", "a", "-o", "firms.csv", "--force"), 2, "never overwritten"),
        (("make", "firms.csv", "--dims", "a", "--hierarchy", "a", "-o", "o.csv"), 2, "DIMENSION=FILE"),
        (("sensitive", "--records", "firms.csv", "--dims", "a"), 2, "No rule"),
        (("sensitive", "--records", "firms.csv", "--dims", "a", "--rule", "frequncy=3"), 2, "Did you mean 'frequency'"),
        (("sensitive", "firms.csv", "--dims", "a,b", "--value", "v", "--rule", "p=10"), 3, "total is missing"),
        (("sensitive", *HOW, "--rule", "p=10"), 2, "CELLS"),
    ],
)
def test_bad_requests_get_a_sentence_and_no_file(run, words, code, said):
    ended, _, err = run(*words)
    assert ended == code
    assert said in err
    assert not Path("o.csv").exists()


def test_cells_of_other_records_are_refused(run):
    run("make", "firms.csv", *HOW, "-o", "cells.csv")
    pattern(("x", "u"))
    Path("gaps.csv").write_text(Path("gaps.csv").read_text().replace(",33,", ",34,"))
    assert run("audit", "gaps.csv", *HOW, "--suppressed", "gap", *BEHIND)[0] == 3


def test_codes_of_totals_by_dimension(run):
    assert run("make", "firms.csv", *HOW, "--total", "a=All,a=Total,b=Sum", "-o", "cells.csv")[0] == 0
    codes = {(row["a"], row["b"]) for row in cells("cells.csv")}
    assert {("All", "Sum"), ("Total", "Sum"), ("x", "Sum")} <= codes
    assert run("audit", "cells.csv", *HOW, "--total", "a=All,a=Total,b=Sum")[0] == 4  # of which nothing is said


def test_levels_that_are_negative_and_columns_that_are_two_things(run):
    Path("marked.csv").write_text("a,v,s,l\nTotal,9,0,\nx,,1,-1\ny,,1,2\n")
    how = ("marked.csv", "--dims", "a", "--value", "v", "--sensitive", "s", "--lower", "l")
    code, _, err = run("audit", *how)
    assert (code, "negative (a=x)" in err) == (3, True)
    assert run("make", "firms.csv", "--dims", "a,v", "--value", "v", "-o", "cells.csv")[0] == 2
    assert not Path("cells.csv").exists()


def test_text_that_is_not_utf8(run):
    Path("latin.csv").write_bytes("a,v\nTotal,9\nBærum,5\nOslo,4\n".encode("latin-1"))
    assert run("audit", "latin.csv", "--dims", "a", "--value", "v")[0] == 3
    Path("r.csv").write_bytes("child,parent\nBærum,Total\nOslo,Total\n".encode("latin-1"))
    code, out, _ = run(
        "audit", "latin.csv", "--dims", "a", "--value", "v", "--hierarchy", "a=r.csv", "--encoding", "latin-1"
    )
    assert (code, "0 suppressed cells" in out) == (4, True)
