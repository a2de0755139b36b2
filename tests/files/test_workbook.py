"""Workbooks: the first sheet is read, with the types that its cells have."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from suffice import Ipso, Roles, protect
from suffice.errors import InputError, UsageError
from suffice.files.table import read_table
from suffice.files.workbook import column_of
from suffice.rows.arrow import kinds

pytest.importorskip("python_calamine")
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(path: Path, rows: list[list[object]], sheets: int = 1) -> Path:
    """The smallest workbook that there is: cells in place, numbers and inline text."""

    def cell(value: object) -> str:
        if value is None:
            return "<c/>"
        return (
            f"<c><v>{value!r}</v></c>"
            if not isinstance(value, str)
            else f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        )

    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    names = "".join(f'<sheet name="S{i}" sheetId="{i}" r:id="rId{i}"/>' for i in range(1, sheets + 1))
    links = "".join(
        f'<Relationship Id="rId{i}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, sheets + 1)
    )
    with zipfile.ZipFile(path, "w") as archive:
        root = f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{root}</Relationships>')
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>'
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'
        )
        for i in range(1, sheets + 1):
            archive.writestr(
                f"xl/worksheets/sheet{i}.xml", f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'
            )
    return path


def test_numbers_text_and_missing_cells(tmp_path):
    rows: list[list[object]] = [
        ["town", "x", "n", "mixed"],
        ["a", 0.1, 3, 1.0],
        ["b", None, 4, "about 7"],
        ["NA", 2.5, 5, 2.5],
    ]
    table, notes = read_table(workbook(tmp_path / "x.xlsx", rows))
    assert kinds(table.schema) == {"town": "category", "x": "float", "n": "integer", "mixed": "category"}
    assert table["town"].to_pylist() == ["a", "b", None]
    assert table["x"].to_pylist() == [0.1, None, 2.5]
    assert table["mixed"].to_pylist() == ["1", "about 7", "2.5"]
    assert notes == ()


def test_several_sheets_are_told(tmp_path):
    _, notes = read_table(workbook(tmp_path / "x.xlsx", [["a"], [1.5]], sheets=2))
    assert notes == ("Read the sheet 'S1', the first of 2.",)


def test_a_workbook_is_protected(tmp_path):
    rng = np.random.default_rng(2)
    rows: list[list[object]] = [["x", "y"], *rng.normal(size=(60, 2)).tolist()]
    release = protect(workbook(tmp_path / "x.xlsx", rows), Roles(confidential=["y"], given=["x"]), Ipso())
    assert release.write(tmp_path / "out.csv").holds
    with pytest.raises(UsageError, match="read and not written"):
        release.write(tmp_path / "out.xlsx")


@pytest.mark.parametrize(
    ("rows", "said"), [([], "is empty"), ([["a", "b"]], "no records"), ([["a", "a"], [1, 2]], "2 times")]
)
def test_sheets_that_are_no_table(tmp_path, rows, said):
    with pytest.raises(InputError, match=said):
        read_table(workbook(tmp_path / "x.xlsx", rows))


def test_a_workbook_that_unpacks_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("suffice.files.workbook.LARGEST", 100)
    with pytest.raises(InputError, match="2 GB"):
        read_table(workbook(tmp_path / "x.xlsx", [["a"], [1.5]]))


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(UsageError, match=r"suffice\[excel\]"):
        read_table(workbook(tmp_path / "x.xlsx", [["a"], [1.5]]))


def test_truths_are_a_category():
    assert column_of([True, False, ""]).to_pylist() == [True, False, None]
