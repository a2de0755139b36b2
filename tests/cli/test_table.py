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
        *(
            (("sensitive", "--records", "firms.csv", *HOW, "--rule", rule), 2, "No cell can meet")
            for rule in ("frequency=1", "contributors=1", "dominance=1,100", "p=0", "pq=0,5", "request=100")
        ),
    ],
)
def test_bad_requests_get_a_sentence_and_no_file(run, words, code, said):
    ended, _, err = run(*words)
    assert ended == code
    assert said in err
    assert not Path("o.csv").exists()


def test_hierarchies_and_metadata_are_not_overwritten(run):
    tree = "child,parent\nx,Total\ny,Total\nz,Total\n"
    Path("tree.csv").write_text(tree)
    assert run("make", "firms.csv", *HOW, "--hierarchy", "a=tree.csv", "-o", "tree.csv", "--force")[0] == 2
    assert Path("tree.csv").read_text() == tree
    assert run("make", "firms.csv", *HOW, "-o", "cells.tab")[0] == 0
    Path("others.tab").write_bytes(Path("cells.tab").read_bytes())
    judged = ("sensitive", "others.tab", "--metadata", "cells.rda", "--rule", "frequency=6")
    assert run(*judged)[:2] == (0, "1 of 12 cells of v are sensitive.\n  frequency: 1\n")
    assert run(*judged, "-o", "cells.tab", "--force")[0] == 2


def test_a_column_that_follows_from_another_by_chance_is_told(run):
    Path("few.csv").write_text("region,sex\nn,f\ns,m\nw,m\n")
    Path("sex.csv").write_text("child,parent\nf,Total\nm,Total\n")
    said = "sex was taken as a coarser level of region; --hierarchy sex=FILE keeps it apart."
    how = ("--dims", "region,sex", "--hierarchy", "sex=sex.csv")
    judge = ("sensitive", "--records", "few.csv", "--rule", "frequency=3")
    assert said in run("make", "few.csv", *how[:2], "-o", "o.csv")[1]
    assert said in run(*judge, *how[:2])[1]
    for words in (("make", "few.csv", *how, "-o", "apart.csv"), (*judge, *how)):
        code, out, _ = run(*words)
        assert (code, "coarser" in out) == (0, False)
    assert len(cells("apart.csv")) == 12


def test_one_column_of_protection_levels(run):
    Path("levels.csv").write_text(
        "a,b,v,p\nTotal,Total,90,\nx,Total,30,\ny,Total,60,\nTotal,u,40,\nTotal,w,50,\n"
        "x,u,10,3\nx,w,20,\ny,u,30,\ny,w,30,\n"
    )
    code, out, _ = run("audit", "levels.csv", *HOW, "--protection", "p")  # that cell alone
    assert (code, "exposed: a=x, b=u" in out) == (4, True)
    Path("levels.csv").write_text(
        "a,b,v,p,gap\nTotal,Total,90,,\nx,Total,30,,\ny,Total,60,,\nTotal,u,40,,\nTotal,w,50,,\n"
        "x,u,10,3,1\nx,w,20,,1\ny,u,30,,1\ny,w,30,,1\n"
    )
    code, out, _ = run("audit", "levels.csv", *HOW, "--protection", "p", "--suppressed", "gap")
    assert "sensitive cells: 0 exposed, 1 protected, 0 not judged" in out
    code, _, err = run("decimals", "levels.csv", *HOW, "--protection", "p,q", "--suppressed", "gap", "-o", "o.csv")
    assert (code, "for every value" in err) == (2, True)
    words = ("--protection", "p", "--suppressed", "gap", "--accept", "audit=its sums were looked at")
    assert run("decimals", "levels.csv", *HOW, *words, "-o", "o.csv")[0] == 0
    assert run("ask", "nowhere.csv", "a=x")[0] == 7
    for damage in ('{"given": null}', '{"given": 5, "confidential": "v"}', "[1]", "{", '{"given": ["a", "b"]}'):
        Path("o.csv.certificate.json").write_text(damage)
        code, _, err = run("ask", "o.csv", "a=x")
        assert (code, "Give --dims and --value" in err) == (2, True)


def test_the_largest_may_stand_in_any_order(run):
    Path("c.csv").write_text("a,v,second,first,n\nTotal,200,30,95,9\nx,100,3,95,4\ny,100,30,30,5\n")
    words = ("--dims", "a", "--value", "v", "--contributors", "n", "--rule", "dominance=1,70", "--json")
    assert json.loads(run("sensitive", "c.csv", *words, "--largest", "second,first")[1])["sensitive"] == 1


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


def counts(*gaps: str, n: tuple[int, ...] = (1, 90, 91, 93, 84, 77, 95, 96, 2)) -> None:
    """counts.csv: a 3 x 3 table of counts with totals, inner cells named `gaps` marked."""
    inner = {(a, b): n[3 * i + k] for i, a in enumerate("xyz") for k, b in enumerate("uvw")}
    lines = ["a,b,n,gap"]
    for a in ("Total", *"xyz"):
        for b in ("Total", *"uvw"):
            here = [v for (i, k), v in inner.items() if a in ("Total", i) and b in ("Total", k)]
            lines.append(f"{a},{b},{sum(here)},{'x' if a + b in gaps or (gaps == ('all',) and len(here) == 1) else ''}")
    Path("counts.csv").write_text("\n".join([*lines, ""]))


PUBLISH = ("counts.csv", "--dims", "a,b", "--value", "n", "--counts", "--suppressed", "gap", "--frequency", "n")


def test_decimals_are_published_with_a_certificate_and_asked(run):
    counts("all")
    code, out, err = run("decimals", *PUBLISH, "--rule", "frequency=3", "-o", "out.csv")
    assert (code, err) == (0, "")
    assert Path("out.csv.certificate.json").exists()
    assert "No key file" in out
    for question, told in {
        "": "published: 629",
        "a=x": "published: 182",
        "a=x,y,z & b=u": "published: 189",
        "b=v, w": "publishable: 440",
        "a=x,y": "publishable: 436",
    }.items():
        assert run("ask", "out.csv", question) == (0, told + "\n", "")
    code, out, _ = run("ask", "out.csv", "a=x & b=u,v", "--json")
    assert json.loads(out)["status"] == "hidden"
    assert json.loads(out)["cells"] == 2


def test_asked_of_all_cells_and_of_a_published_table(run):
    counts("all")
    how = (*PUBLISH, "--rule", "frequency=3")
    assert run("decimals", *how, "--totals", "-o", "all.csv")[0] == 0
    assert len(cells("all.csv")) == 16
    assert run("ask", "all.csv", "a=x,y")[1] == "publishable: 436\n"
    magnitudes = [f"{a}.5" for a in (10, 200, 201, 203, 204, 207, 195, 196, 12)]
    rows = [(a, b, magnitudes[3 * i + k]) for i, a in enumerate("xyz") for k, b in enumerate("uvw")]
    Path("records.csv").write_text("\n".join(["a,b,v", *(",".join(row) for row in rows), ""]))
    assert run("make", "records.csv", *HOW, "-o", "cells.csv")[0] == 0
    pattern(*((a, b) for a in "xyz" for b in "uvw"), values=False)
    priors = "x;u;u\nx;u;pl;1;1\n"
    Path("levels.hst").write_text(priors)
    how = ("gaps.csv", *HOW, "--suppressed", "gap", "--records", "records.csv", "--priors", "levels.hst")
    code, _, err = run("decimals", *how, "-o", "out.csv")
    assert (code, "audit" in err) == (4, True)  # sums were not judged: no rule says how
    assert run("decimals", *how, "--accept", "audit=levels are enough", "-o", "out.csv")[0] == 0
    code, _, err = run("ask", "out.csv", "a=x")
    assert (code, "which totals were published" in err) == (3, True)
    assert run("ask", "out.csv", "a=x", "--cells", "gaps.csv")[1] == "published: 412.5\n"
    assert run("ask", "out.csv", "a=x,y", "--cells", "gaps.csv")[1] == "publishable: 1028\n"
    assert run("ask", "out.csv", "a=x & b=w", "--cells", "gaps.csv")[1].startswith("hidden")


def test_questions_that_are_none(run):
    counts("all")
    assert run("decimals", *PUBLISH, "--rule", "frequency=3", "-o", "out.csv")[0] == 0
    for question, said in {
        "a": "names each dimension once",
        "a=x & a=y": "names each dimension once",
        'a="x': "names each dimension once",
        "c=x": "no dimension 'c'",
        "a=q": "a has no code 'q'",
    }.items():
        code, _, err = run("ask", "out.csv", question)
        assert (code, said in err) == (2, True), err
    Path("out.csv.certificate.json").unlink()
    assert run("ask", "out.csv", "a=x")[0] == 2
    assert run("ask", "out.csv", "a=x", "--dims", "a,b", "--value", "n")[0] == 0


def test_a_whole_number_among_suppressed_cells_that_follows_is_a_suppression_that_failed(run):
    counts("xu")
    code, _, err = run("decimals", *PUBLISH, "--rule", "frequency=3", "-o", "out.csv")
    assert (code, "1 suppressed cell follows" in err) == (4, True)
    assert not Path("out.csv").exists()
    Path("out.csv").write_text("a,b,n,suppressed\nx,u,7,true\nx,v,3,false\ny,u,4,false\ny,v,5,false\n")
    code, _, err = run("ask", "out.csv", "a=x", "--dims", "a,b", "--value", "n")
    assert (code, "a=x, b=u" in err) == (4, True)


def test_nothing_of_the_original_is_replaced_by_decimals(run):
    counts("all")
    how = (*PUBLISH, "--rule", "frequency=3", "--force")
    assert run("decimals", *how, "-o", "counts.csv")[0] == 2
    assert len(cells("counts.csv")) == 16


def test_files_of_other_programs_say_what_their_columns_are(run):
    how = ("--records", "firms.csv", "--contributor", "firm", *HOW, "--rule", "contributors=3")
    for name in ("out.tab", "out.jj", "out.sdmx.csv"):
        assert run("sensitive", *how, "-o", name)[0] == 0
        files = [name] if name != "out.tab" else ["out.tab", "out.rda"]
        assert all(Path(each).stat().st_mode & 0o077 == 0 for each in files)
        assert run("sensitive", *how, "-o", name)[0] == 7  # they are there
        more = ("--metadata", "out.rda") if name == "out.tab" else ("--total", "Total") if "sdmx" in name else ()
        code, out, _ = run("audit", name, *more)
        assert code == 4
        assert "sensitive cells: 1 exposed, 0 protected, 0 not judged" in out, name
    Path("records.rda").write_text(
        '<SEPARATOR> ","\na\n <RECODEABLE>\nb\n <RECODEABLE>\nfirm\n <HOLDING>\nv\n <NUMERIC>\n'
    )
    Path("records.asc").write_text("\n".join(Path("firms.csv").read_text().splitlines()[1:]))
    code, out, _ = run("sensitive", "--records", "records.asc", "--metadata", "records.rda", "--rule", "contributors=3")
    assert (code, out.splitlines()[0]) == (0, "1 of 12 cells of v are sensitive.")
    assert run("make", "records.asc", "--metadata", "records.rda", "-o", "cells.csv")[0] == 0
    assert {row["contributors"] for row in cells("cells.csv") if (row["a"], row["b"]) == ("x", "u")} == {"1"}
    assert run("audit", "out.tab", "--metadata", "none.rda")[0] == 7
    Path("bad.jj").write_text("0\n1\nx\n")
    assert run("audit", "bad.jj")[0] == 3


def test_several_values_are_published_over_one_pattern(run):
    counts("all")
    rows = cells("counts.csv")
    lines = [f"{row['a']},{row['b']},{row['n']},{3 * int(row['n'])},{row['gap']}" for row in rows]
    Path("two.csv").write_text("\n".join(["a,b,n,m,gap", *lines, ""]))
    how = ("two.csv", "--dims", "a,b", "--value", "n,m", "--counts", "--suppressed", "gap", "--rule", "frequency=6")
    code, out, err = run("decimals", *how, "-o", "out.csv", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["certificate"]["confidential"] == ["n", "m"]
    assert run("ask", "out.csv", "a=x")[0] == 2
    assert run("ask", "out.csv", "a=x", "--value", "m")[1] == "published: 546\n"


def test_a_sum_of_whole_numbers_that_is_one_was_published_somewhere(run):
    """A total of two regions that is a cell of the table, asked for where the hierarchy is not given."""
    rng = iter([1, 90, 91, 93, 84, 77, 95, 96, 20, 70, 71, 80])
    rows = [(r, "north" if r in "ab" else "south", k, next(rng)) for r in "abcd" for k in "uvw"]
    Path("r.csv").write_text("\n".join(["r,part,k,n", *(",".join(map(str, row)) for row in rows), ""]))
    how = ("--dims", "r,part,k", "--frequency", "n")
    assert run("make", "r.csv", *how, "-o", "cells.csv")[0] == 0
    lowest = {(r, k) for r, _, k, _ in rows}
    lines = [f"{c['r']},{c['k']},{c['count']},{int((c['r'], c['k']) in lowest)}" for c in cells("cells.csv")]
    Path("gaps.csv").write_text("\n".join(["r,k,count,gap", *lines, ""]))
    more = ("--value", "count", "--suppressed", "gap", "--records", "r.csv", "--rule", "frequency=3")
    assert run("decimals", "gaps.csv", *how, *more, "-o", "out.csv")[0] == 0
    assert run("ask", "out.csv", "r=a,b & k=u")[1] == "publishable: 94\n"
    assert run("ask", "out.csv", "r=a,c & k=u")[1].startswith("hidden")
    Path("tree.csv").write_text("child,parent\na,north\nb,north\nc,south\nd,south\nnorth,Total\nsouth,Total\n")
    assert run("ask", "out.csv", "r=north & k=u", "--hierarchy", "r=tree.csv")[1] == "published: 94\n"


def test_a_table_is_adjusted(run):
    rows = ["a,b,v,level"]
    values = {("x", "u"): 40, ("x", "w"): 50, ("y", "u"): 60, ("y", "w"): 70, ("z", "u"): 30, ("z", "w"): 90}
    for a in ("Total", "x", "y", "z"):
        for b in ("Total", "u", "w"):
            v = sum(n for (c, d), n in values.items() if a in ("Total", c) and b in ("Total", d))
            rows.append(f"{a},{b},{v},{6 if (a, b) == ('x', 'u') else ''}")
    Path("cells.csv").write_text("\n".join(rows))
    how = ["cells.csv", "--dims", "a,b", "--value", "v", "--protection", "level"]
    code, out, err = run("adjust", *how, "-o", "out.csv", "--keep", "means")
    assert (code, "proven" in out, "the mean of v: exact" in out) == (0, True, True), err
    told = {(row["a"], row["b"]): float(row["v"]) for row in cells("out.csv")}
    assert 6 <= abs(told["x", "u"] - 40) <= 12
    assert told["Total", "Total"] == sum(values.values()) == sum(told[key] for key in values)
    assert run("verify", "cells.csv", "out.csv", "--dims", "a,b", "--value", "v", "--changed")[0] == 0
    code, _, err = run("adjust", *how, "-o", "other.csv", "--sizes", "least")
    assert (code, "least-sizes" in err, Path("other.csv").exists()) == (4, True, False)
    code, _, err = run("adjust", *how, "-o", "other.csv", "--capacity", "0")
    assert (code, "larger capacities" in err, Path("other.csv").exists()) == (5, True, False)
    assert run("adjust", *how, "-o", "other.csv", "--objective", "l7")[0] == 2
    assert run("adjust", "cells.csv", "--dims", "a,b", "--value", "v", "-o", "other.csv")[0] == 2


def test_an_adjusted_table_is_verified_with_its_levels_and_statistics(run):
    rows, rng = ["a,b,v,level,stay,room,low,high"], iter([40, 50, 60, 70, 30, 90, 80, 20, 75, 65, 55, 45])
    values = {(a, b): next(rng) for a in "xyz" for b in "stuw"}
    for a in ("Total", *"xyz"):
        for b in ("Total", *"stuw"):
            v = sum(n for (c, d), n in values.items() if a in ("Total", c) and b in ("Total", d))
            secret, total = (a, b) == ("x", "s"), "Total" in (a, b)
            line = [a, b, v, 6 if secret else "", int(a == b), "" if secret or total else 9, v - 15, v + 15]
            rows.append(",".join(map(str, line)))
    Path("cells.csv").write_text("\n".join(rows))
    how = ["cells.csv", "--dims", "a,b", "--value", "v", "--protection", "level"]
    limits = ["--fixed", "stay", "--capacities", "room", "--bounds", "low,high"]
    code, _, err = run("adjust", *how, *limits, "-o", "out.csv", "--keep", "means", "--planes", "b=s,t")
    assert code == 0, err
    told = {(row["a"], row["b"]): float(row["v"]) for row in cells("out.csv")}
    assert told["Total", "Total"] == sum(values.values())
    assert all(abs(told[key] - v) <= 9 + 1e-6 for key, v in values.items() if key != ("x", "s"))
    paper = json.loads(Path("out.csv.certificate.json").read_text())
    assert "--changed --protection LEVELS --keep means --planes b=s,t" in paper["verify"]
    check = ["verify", "cells.csv", "out.csv", "--dims", "a,b", "--value", "v", "--changed"]
    asked = ["--keep", "means", "--planes", "b=s,t", "--protection", "level"]
    code, out, _ = run(*check, *asked)
    assert (code, "protection" in out, "means of sets" in out) == (0, True, True)
    assert "--protection" in run(*check)[1]
    assert run(*check, "--keep", "moments", "--protection", "level")[0] == 6
    assert run(*check, "--keep", "all")[0] == 2
    assert run(*check[:-1], "--keep", "means")[0] == 2
    Path("near.csv").write_text("a,b,v\n" + "\n".join(",".join(row.split(",")[:3]) for row in rows[1:]))
    assert run("verify", "cells.csv", "near.csv", *check[3:], "--protection", "level")[0] == 6
    wrong = Path("cells.csv").read_text().replace("x,s,40,6,0,,25,55", "x,s,40,6,0,,45,55")
    Path("wrong.csv").write_text(wrong)
    code, _, err = run("adjust", "wrong.csv", *how[1:], *limits, "-o", "no.csv")
    assert (code, "outside of what everybody" in err, Path("no.csv").exists()) == (3, True, False)
    assert run("adjust", *how, "--bounds", "low", "-o", "no.csv")[0] == 2
    assert run("adjust", *how, "--capacities", "room,low", "-o", "no.csv")[0] == 2
