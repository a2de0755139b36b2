"""A bar is drawn where somebody looks, and nowhere else."""

from __future__ import annotations

import io
import sys

import pyarrow.parquet as pq
import pytest

from suffice import Roles, protect, verify
from suffice.cli.command import Command
from suffice.demo import firms
from suffice.progress import Bar


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


@pytest.mark.parametrize(("stream", "quiet"), [(io.StringIO, False), (Terminal, True)])
def test_nobody_looks(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], quiet: bool):
    monkeypatch.setattr(sys, "stderr", stream())
    assert not Command(quiet)._progress()
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert Command()._progress()


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
