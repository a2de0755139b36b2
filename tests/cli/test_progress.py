"""A bar is drawn where somebody looks, and nowhere else."""

from __future__ import annotations

import io
import sys
import time

import pyarrow.parquet as pq
import pytest

from suffice import Microaggregate, Roles, Rotate, protect, verify
from suffice import progress as progress_module
from suffice.cli.command import Command
from suffice.demo import firms
from suffice.progress import Bar, Pace


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_stage_is_shown_and_wiped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = Bar()
    bar("folding", 1, 2)
    drawn = sys.stderr.getvalue()
    assert "folding" in drawn
    assert "50%" in drawn
    bar("folding", 2, 2)
    assert sys.stderr.getvalue()[len(drawn) :].strip() == ""
    assert sys.stderr.getvalue().endswith("\r")


def test_a_long_stage_is_told_how_long_it_will_last(monkeypatch: pytest.MonkeyPatch):
    now = iter([0.0, 0.0, 0.0, 9.0, 20.0])
    monkeypatch.setattr(progress_module, "monotonic", lambda: next(now))
    pace = Pace()
    said = [pace.left("repairing", done, 100) for done in (10, 20, 30)]
    assert said == ["", "", ", about 70 s left"]
    now = iter([0.0, 0.0, 30.0])
    pace = Pace()
    pace.heard("rotating", 0)
    assert pace.left("rotating", 10, 100) == ", about 270 s left"  # the first line of all, where stages are heard of


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_long_work_is_seen_within_two_seconds_though_it_says_nothing(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
):
    monkeypatch.setattr(sys, "stderr", stream())
    with Command().watch() as progress:
        assert sys.stderr.getvalue() == ""
        time.sleep(1.5)
        seen = sys.stderr.getvalue()
        assert "reading" in seen
        assert ("\n" in seen) == (stream is io.StringIO)
        progress("folding", 1, 2)
    assert "\n" in seen or sys.stderr.getvalue().endswith("\r")


@pytest.mark.parametrize("how", [{"quiet": True}, {"as_json": True}])
def test_nobody_wants_to_look(monkeypatch: pytest.MonkeyPatch, how: dict[str, bool]):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Command(**how).watch() as progress:
        assert progress is None


def test_guards_and_trial_releases_tell_how_far_they_are():
    told: dict[str, list[tuple[int, int]]] = {}
    roles = Roles(confidential=["wages", "taxes"], bounds={"wages": (0, None)})
    for method in (Microaggregate(k=5), Rotate(linkage=0.3)):
        protect(firms(60), roles, method, progress=lambda stage, *at: told.setdefault(stage, []).append(at))
    assert {"judging", "trial releases", "rotating"} <= told.keys()
    for stage in ("judging", "rotating"):
        assert told[stage][-1][0] == told[stage][-1][1]  # each stage ends, also where a target is reached early


def test_python_asks_for_a_bar_with_true(monkeypatch: pytest.MonkeyPatch, tmp_path):
    seen: list[str] = []
    monkeypatch.setattr(Bar, "__call__", lambda self, stage, done, total: seen.append(stage))
    roles, data = Roles(confidential=["wages"], given="log(employees)"), tmp_path / "in.parquet"
    pq.write_table(firms(50), data)
    release = protect(data, roles, progress=True)
    assert seen
    seen.clear()
    release.write(tmp_path / "out.parquet", progress=True)
    assert seen
    seen.clear()
    verify(data, tmp_path / "out.parquet", roles, progress=True)
    assert seen
