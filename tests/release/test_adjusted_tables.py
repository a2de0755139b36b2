"""An adjusted table leaves with findings and a certificate, once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suffice.errors import GuardError, UsageError
from suffice.plan.table import TablePlan
from suffice.release.table_verification import verify_table
from suffice.release.tables import TableRelease, publish
from suffice.seed import Seed
from suffice.statistics.safe_cells import SafeCells
from suffice.tables.methods.adjust import Adjust, slices
from tests.tables.test_adjust import made, some


def released(method: Adjust, folder: Path, accept: dict[str, str] | None = None, number: int = 1) -> TableRelease:
    table = made(number, (4, 6))
    key = folder / "holder.key"
    seed = Seed.from_file(key) if key.exists() else Seed.new_file(key)
    return publish(table, np.zeros(len(table), dtype=bool), some(table), "v", method=method, seed=seed, accept=accept)


def test_an_adjusted_table_leaves_with_its_certificate(tmp_path: Path):
    release = released(Adjust(keep="moments", planes=("d0", "0-0", "0-1")), tmp_path, {"information": "a test"})
    assert not [finding.rule for finding in release.findings if finding.blocks]
    paper = release.write(tmp_path / "out.csv", report=tmp_path / "own.html")
    assert paper.holds
    assert {claim.statistic for claim in paper.claims} == {"additivity", "protection", "moments"}
    assert "--changed" in paper.verify
    text = (tmp_path / "out.csv.certificate.json").read_text() + (tmp_path / "out.csv.certificate.html").read_text()
    assert "objective" not in text
    assert json.loads((tmp_path / "out.csv.certificate.json").read_text())["suppressed"] == 0
    own = (tmp_path / "own.html").read_text()
    assert "objective l1" in own
    assert 'changed sensitive"' in own
    assert "<h2>What the method did</h2>" in own
    assert "audit" not in own
    assert "suppressed" not in f"{paper.summary} {' '.join(paper.head)}"
    assert "suppressed;" not in text
    result = verify_table(release.made.table, tmp_path / "out.csv", "v", changed=True)
    assert result.passes
    assert not verify_table(release.made.table, tmp_path / "out.csv", "v").passes


def test_a_second_release_stops_and_the_same_one_does_not(tmp_path: Path):
    released(Adjust(), tmp_path).write(tmp_path / "out.csv")
    again = released(Adjust(), tmp_path)
    assert "repeated-release" not in [finding.rule for finding in again.findings]
    other = released(Adjust(objective="relative"), tmp_path)
    with pytest.raises(GuardError, match="earlier release"):
        other.write(tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()
    table, stricter = other.made.table, replace(some(other.made.table), upper=1.2 * some(other.made.table).upper)
    again = publish(table, np.zeros(len(table), dtype=bool), stricter, "v", method=Adjust(), seed=other.seed)
    assert "repeated-release" in [finding.rule for finding in again.findings if finding.level == "stop"]
    crosses = publish(other.made.table, some(other.made.table).sensitive, some(other.made.table), "v", seed=other.seed)
    assert "repeated-release" in [finding.rule for finding in crosses.findings if finding.level == "stop"]


def test_cells_that_can_go_one_way_only_are_said():
    """Nothing can be taken from a cell that is smaller than the level below it."""
    table = made()
    secret = some(table)
    high = replace(secret, lower=np.where(secret.sensitive, 2 * table.values["v"], 0.0))
    for given, said in ((secret, False), (high, True)):
        release = publish(table, np.zeros(len(table), dtype=bool), given, "v", method=Adjust(), seed=Seed.for_tests(1))
        (found,) = (finding for finding in release.findings if finding.rule == "directions")
        assert ("one direction only" in found.message) == said
        assert "three of four" in found.message
    release = publish(table, np.zeros(len(table), dtype=bool), secret, "v", method=Adjust(signs="ordering"))
    assert "directions" not in [finding.rule for finding in release.findings]


def test_least_sizes_need_a_reason(tmp_path: Path):
    with pytest.raises(GuardError, match="protection level"):
        released(Adjust(sizes="least"), tmp_path).write(tmp_path / "out.csv")
    accepted = released(Adjust(sizes="least"), tmp_path, {"least-sizes": "a test"})
    assert accepted.write(tmp_path / "out.csv").accepted == {"least-sizes": "a test"}


def test_a_cell_that_is_too_near_fails_the_certificate():
    before = np.array([[10.0], [20.0]])
    promise = SafeCells(np.array([[True], [False]]), np.full((2, 1), 2.0), np.full((2, 1), 3.0), ["x", "y"])
    assert promise.claim(before, before + np.array([[3.0], [0.0]])).holds
    assert promise.claim(before, before - np.array([[2.0], [0.0]])).holds
    assert not promise.claim(before, before + np.array([[2.5], [0.0]])).holds


def test_a_plan_adjusts_a_table(tmp_path: Path):
    (tmp_path / "cells.csv").write_text("a,v\nTotal,60\nx,10\ny,20\nz,30\n")
    (tmp_path / "levels.csv").write_text("a,status,lower,upper\nx,unsafe,2,2\n")
    table = {"dims": ["a"], "values": ["v"], "cells": True, "priors": "levels.csv"}
    plan = TablePlan.of(
        {
            "data": {"path": "cells.csv"},
            "table": table,
            "method": [{"name": "adjust", "keep": "means"}],
            "release": {"path": "out.csv"},
        },
        tmp_path,
    )
    frame = plan.protect().frame.to_pydict()
    assert frame["v"][0] == 60
    assert 2 <= abs(frame["v"][1] - 10) <= 4
    assert sum(frame["v"][1:]) == 60


def test_a_plan_has_levels_and_limits_in_columns_of_the_cells(tmp_path: Path):
    lines = ["a,v,p,stay,room,low,high", "Total,60,,1,,,", "x,10,2,0,,5,15", "y,20,,0,1,0,30", "z,30,,0,,0,40"]
    (tmp_path / "cells.csv").write_text("\n".join(lines))
    table = {"dims": ["a"], "values": ["v"], "cells": True, "protection": ["p"], "fixed": "stay"}
    table |= {"capacities": ["room"], "bounds": ["low", "high"]}
    given = {"data": {"path": "cells.csv"}, "method": [{"name": "adjust"}], "release": {"path": "out.csv"}}
    frame = TablePlan.of({**given, "table": table}, tmp_path).protect().frame.to_pydict()
    assert frame["v"][0] == 60
    assert 2 <= abs(frame["v"][1] - 10) <= 4
    assert abs(frame["v"][2] - 20) <= 1
    for wrong in ({"bounds": ["low"]}, {"protection": ["p", "room"]}):
        with pytest.raises(UsageError, match="columns"):
            TablePlan.of({**given, "table": table | wrong}, tmp_path)


def test_cells_without_room_for_more_than_their_level_are_said():
    table = made()
    secret = some(table, secret=2)
    cell = int(np.flatnonzero(secret.sensitive)[0])
    known = np.full(len(table), -np.inf), np.full(len(table), np.inf)
    known[0][cell] = known[1][cell] = table.values["v"][cell]
    known[1][cell] += secret.upper[cell]
    none = np.zeros(len(table), dtype=bool)
    for ends, said in ((None, False), (known, True)):
        release = publish(table, none, secret, "v", method=Adjust(), seed=Seed.for_tests(1), beforehand=ends)
        assert ("least-sizes" in [finding.rule for finding in release.findings if finding.level == "warn"]) == said


def test_planes_that_are_not_there():
    table = made()
    with pytest.raises(UsageError, match="no dimension"):
        slices(table, "other", [])
    with pytest.raises(UsageError, match="no code"):
        slices(table, "d0", ["other"])
    with pytest.raises(UsageError, match="sensitive"):
        publish(table, np.zeros(len(table), dtype=bool), (), "v", method=Adjust())
