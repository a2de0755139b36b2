"""Files of other programs: read, written, and read again as the same table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from suffice.errors import InputError, UsageError
from suffice.tables.argus import argus_texts, read_argus
from suffice.tables.audit import audit
from suffice.tables.jj import jj_text, read_jj
from suffice.tables.pattern import columns_of_cells, pattern_of
from suffice.tables.rules import PPercent
from suffice.tables.sdmx import read_sdmx, sdmx_frame
from suffice.tables.sensitivity import Sensitivity, find_sensitive
from suffice.tables.table import Table

TREE = ["Total", ["north", "a", "b"], ["south", "c", "d"]]


def made(formula: str | None = None) -> tuple[Table, Sensitivity, dict[str, list[object]]]:
    """Firms in regions and sizes: the table, what is sensitive, and a pattern with two kinds of gaps."""
    rng = np.random.default_rng(2)
    data = {"region": rng.choice(list("abcd"), 60), "size": rng.choice(["s", "m"], 60), "v": rng.lognormal(3, 2, 60)}
    dims = None if formula else ["region", "size"]
    table = Table.of_records(data, dims, ["v"], formula=formula, hierarchies={"region": TREE})
    secret = find_sensitive(table, [PPercent(30)], "v")
    inner = np.all([np.isin(table.grid.codes[:, k], axis.leaves) for k, axis in enumerate(table.grid.axes)], axis=0)
    return table, secret, {**secret.frame(), "suppressed": (secret.sensitive | inner).tolist()}


def test_cells_of_tau_argus_are_read_as_they_were_written(tmp_path: Path):
    table, secret, more = made()
    texts = argus_texts(table, "v", more, "out")
    assert list(texts) == ["out.rda", "out.region.hrc", "out.tab"]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    file = read_argus(tmp_path / "out.tab", tmp_path / "out.rda")
    again = file.table()
    assert not file.records
    assert again.values["v"].tolist() == table.values["v"].tolist()
    assert abs(again.relations - table.relations).sum() == 0
    gaps, told = pattern_of(
        again, file.frame, "v", *(file.roles[n] for n in ("suppressed", "sensitive", "lower", "upper"))
    )
    assert told is not None
    assert gaps.tolist() == more["suppressed"]
    assert told.sensitive.tolist() == secret.sensitive.tolist()
    assert np.array_equal(np.where(told.sensitive, told.upper, 0), np.where(secret.sensitive, secret.upper, 0))
    assert np.array_equal(
        find_sensitive(again, [PPercent(30)], "v").sensitive, secret.sensitive
    )  # from the two largest


RDA = """Region 1 2 99
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 1 0
Size 4 1
  <RECODEABLE>
  <TOTCODE> "All"
Turnover 6 5
  <NUMERIC>
  <DECIMALS> 1
Weight 12 3
  <WEIGHT>
Owner 16 1
  <HOLDING>
Asked 18 1
  <REQUEST> "1"
"""
RECORDS = ["11 s   5,0 1.5 A 1", "12 s  17,5 1.0 A 0", "12 m   2.5 2.0   0", "21 m 100,0 1.0 B 0", ""]


def test_records_of_fixed_and_of_separated_columns(tmp_path: Path):
    (tmp_path / "m.rda").write_text(RDA)
    (tmp_path / "m.asc").write_text("\n".join(RECORDS))
    fixed = read_argus(tmp_path / "m.asc", tmp_path / "m.rda")
    assert fixed.records
    table = fixed.table()
    x = table.values["Turnover"]
    assert x[table.find("1", "All")] == 1.5 * 5 + 17.5 + 2 * 2.5
    assert x[table.find("2", "m")] == x[table.find("21", "m")] == 100
    makeup = table.makeup("Turnover")
    assert makeup.largest[table.find("Total", "s"), 0] == 22.5  # of one holding
    assert makeup.asked[table.find("Total", "s"), 0]
    free = ['<SEPARATOR> ";"', *(line.split()[0] if line[0] != " " else line for line in RDA.splitlines())]
    (tmp_path / "f.rda").write_text("\r\n".join(free))
    rows = [(r[:2], r[3:4], r[5:10], r[11:14], r[15:16], r[17:18]) for r in RECORDS if r]
    (tmp_path / "f.csv").write_text(
        "\r\n".join(";".join(f'"{w}"' if k == 0 else w for k, w in enumerate(r)) for r in rows)
    )
    again = read_argus(tmp_path / "f.csv", tmp_path / "f.rda")
    assert again.frame.equals(fixed.frame)
    assert np.array_equal(again.table().values["Turnover"], x)


@pytest.mark.parametrize(
    ("rda", "data", "said"),
    [
        ("A 1\n <RECODEABLE>\n", "x\n", "says not where A begins"),
        (" <RECODEABLE>\n", "x\n", "before the first column"),
        ("A 1 1\n <WHAT>\n", "x\n", "Line 2 of m.rda has a tag"),
        ("A 1 1\n <NUMERIC>\n", "1\n", "no column as <RECODEABLE>"),
        ("", "1\n", "names no columns"),
        ("A 1 1\n <RECODEABLE>\nV 3 4\n <NUMERIC>\n", "x 12\ny zz\n", "'V' holds text"),
        ("A 1 1\n <RECODEABLE>\nV 9 4\n <NUMERIC>\n", "x\n", "Line 1 of m.asc is shorter"),
        ('<SEPARATOR> ","\nA\n <RECODEABLE>\nV\n <NUMERIC>\n', "x,1,2\n", "has 3 columns"),
        ('<SEPARATOR> ","\nA\n <RECODEABLE>\nS\n <STATUS>\n', "x,?\n", "status that is not known"),
        ("A 1 1\n <RECODEABLE>\n <HIERLEVELS> a b\n", "x\n", "not numbers of digits"),
        ('<SEPARATOR> ","\nA\n <RECODEABLE>\nV\n <NUMERIC>\n', '"x,1\ny,2\n', "not closed"),
    ],
)  # fmt: skip
def test_metadata_that_do_not_fit_are_refused_with_the_place(tmp_path: Path, rda: str, data: str, said: str):
    (tmp_path / "m.rda").write_text(rda)
    (tmp_path / "m.asc").write_text(data)
    with pytest.raises(InputError, match=said):
        read_argus(tmp_path / "m.asc", tmp_path / "m.rda")


def test_letters_of_the_status_may_be_others(tmp_path: Path):
    (tmp_path / "m.rda").write_text(
        '<SEPARATOR> ","\n<SAFE> V\n<UNSAFE> B\nA\n <RECODEABLE>\nV\n <NUMERIC>\nS\n <STATUS>\n'
    )
    (tmp_path / "m.tab").write_text("Total,6,V\nx,1,b\ny,2,M\nz,3,V\n")
    file = read_argus(tmp_path / "m.tab", tmp_path / "m.rda")
    assert file.frame["S sensitive"].to_pylist() == [False, True, False, False]
    assert file.frame["S suppressed"].to_pylist() == [False, True, True, False]


def test_what_tau_argus_cannot_hold_is_refused():
    named = Table.of_records({"status": ["x", "y"], "v": [1, 2]}, ["status"], ["v"])
    with pytest.raises(UsageError, match="name of one of the columns"):
        argus_texts(named, "v", {"sensitive": [False] * 3}, "o")
    two = nested_twice()
    with pytest.raises(UsageError, match="one hierarchy"):
        argus_texts(two, "v", {}, "o")
    quoted = Table.of_records({"a": ['x"', "y"], "v": [1, 2]}, ["a"], ["v"])
    with pytest.raises(UsageError, match="no way to write"):
        argus_texts(quoted, "v", {}, "o")


def nested_twice() -> Table:
    data = {"r": list("abcd"), "big": list("xxyy"), "kind": list("pqpq"), "v": [1, 2, 3, 4]}
    return Table.of_records(data, ["r", "big", "kind"], ["v"])


@pytest.mark.parametrize("formula", [None, "region + size"])
def test_jj_is_read_as_it_was_written_and_audited_alike(tmp_path: Path, formula: str | None):
    table, secret, more = made(formula)
    (tmp_path / "p.jj").write_text(jj_text(table, "v", more))
    file = read_jj(tmp_path / "p.jj")
    again = file.table()
    assert again.values["value"].tolist() == table.values["v"].tolist()
    assert abs(again.relations).sum() == abs(table.relations).sum()
    gaps, told = pattern_of(again, file.frame, "value", "suppressed", "sensitive", "lower", "upper")
    assert told is not None
    assert np.array_equal(gaps, np.array(more["suppressed"]) | table.hidden)
    assert np.array_equal(told.lower[secret.sensitive], secret.lower[secret.sensitive])
    assert np.array_equal(told.upper[secret.sensitive], secret.upper[secret.sensitive])
    if formula is None:
        bounds = columns_of_cells(again, file.frame, ("low", "high"))
        one, two = audit(table, gaps, secret, exact=True), audit(again, gaps, told, beforehand=bounds, exact=True)
        ends = [{t.cells: (t.low, t.high) for t in a.targets if not t.is_sum and t.insider is None} for a in (one, two)]
        assert ends[0].keys() == ends[1].keys()
        assert all(np.allclose(ends[0][cell], ends[1][cell], rtol=1e-6, atol=1e-3) for cell in ends[0])


SMALL = "0\n3\n0 5 5 s 0 50 0 0 0\n1 2 2 u 0 3 1 0.5 0\n2 3 3 m 2 50 0 0 0\n1\n0.0 3 : 0(1) 1(-1) 2(-1)\n"


def test_jj_says_what_everybody_knows(tmp_path: Path):
    """The bounds of a cell beside it narrow its interval; an equation may have either sign, with or without spaces."""
    (tmp_path / "p.jj").write_text(SMALL)
    file = read_jj(tmp_path / "p.jj")
    table = file.table()
    gaps, told = pattern_of(table, file.frame, "value", "suppressed", "sensitive", "lower", "upper")
    bounds = columns_of_cells(table, file.frame, ("low", "high"))
    (target,) = (t for t in audit(table, gaps, told, beforehand=bounds, exact=True).targets if t.insider is None)
    assert (target.low, target.high, target.lower, target.upper) == (0.0, 3.0, 1.0, 0.5)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0\n3\n", "1\n3\n", "no JJ file"),
        ("0\n3\n", "0\nx\n", "no JJ file"),
        ("2 2 u", "2 2 ?", "Line 4 of p.jj is no cell"),
        ("1 2 2 u", "0 2 2 u", "number of another"),
        ("0.5 0", "0.5 9", "sliding"),
        ("1(-1)", "9(-1)", "not listed"),
        ("1(-1)", "1(2)", "one total"),
        ("0.0 3 :", "1.0 3 :", "not understood"),
        ("\n1\n0.0", "\n2\n0.0", "ends before"),
    ],
)  # fmt: skip
def test_what_is_no_jj_file_is_refused_with_the_place(tmp_path: Path, old: str, new: str, said: str):
    assert old in SMALL
    (tmp_path / "p.jj").write_text(SMALL.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        read_jj(tmp_path / "p.jj")


def test_sdmx_is_read_as_it_was_written():
    data = {"REGION": list("abab"), "SIZE": list("ssmm"), "v": [1.0, 2.0, 3.0, 4.0]}
    table = Table.of_records(data, ["REGION", "SIZE"], ["v"], total="_T")
    gaps = np.zeros(len(table), dtype=bool)
    gaps[[table.find("a", "s"), table.find("a", "m")]] = True
    more = {"sensitive": [k == table.find("a", "s") for k in range(len(table))], "suppressed": gaps.tolist()}
    frame = sdmx_frame(table, "v", more, "ME:FLOW(1.0)")
    assert frame.column_names == ["DATAFLOW", "REGION", "SIZE", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"]
    assert frame["CONF_STATUS"].to_pylist().count("D") == frame["CONF_STATUS"].to_pylist().count("C") == 1
    file = read_sdmx(frame)
    again = file.table()
    assert again.values["OBS_VALUE"].tolist() == table.values["v"].tolist()
    found, told = pattern_of(again, file.frame, None, file.roles["suppressed"], file.roles["sensitive"])
    assert told is not None
    assert (found.tolist(), told.sensitive.tolist()) == (gaps.tolist(), more["sensitive"])


def test_sdmx_of_the_second_version_with_series_of_one_code_and_gaps():
    columns = {"STRUCTURE": ["dataflow"] * 4, "STRUCTURE_ID": ["A:B(1.0)"] * 4, "ACTION": ["I"] * 4, "FREQ": ["A"] * 4}
    columns |= {"GEO": ["_T", "x", "y", "z"], "TIME_PERIOD": [2020] * 4, "OBS_VALUE": [6.0, None, None, None]}
    columns |= {"OBS_STATUS": ["A", "Q", "Q", "M"], "CONF_STATUS": ["F", "C", "D", "F"]}
    file = read_sdmx(pa.table(columns))
    table = file.table()
    assert file.roles["dims"] == ["FREQ", "GEO", "TIME_PERIOD"]
    assert np.isnan(table.values["OBS_VALUE"]).tolist() == [False, True, True, False]
    assert table.impossible.tolist() == [False, False, False, True]
    with pytest.raises(InputError, match="CONF_STATUS is none of"):
        read_sdmx(pa.table(columns | {"CONF_STATUS": ["F", "?", "D", "F"]}))
    with pytest.raises(InputError, match="no SDMX-CSV"):
        read_sdmx(pa.table({"a": ["x"], "OBS_VALUE": [1]}))


def test_a_table_of_frequencies_is_one_of_counts(tmp_path: Path):
    (tmp_path / "m.rda").write_text('<SEPARATOR> ";"\nA "9"\n <RECODEABLE>\n <TOTCODE> "T"\nN\n <FREQUENCY>\n')
    (tmp_path / "m.tab").write_bytes(b'"T";6\r\n" 1";1\r\n" 2";5\r\n')
    table = read_argus(tmp_path / "m.tab", tmp_path / "m.rda").table()
    assert table.counts == {"N"}
    assert table.values["N"][table.find("1")] == 1
