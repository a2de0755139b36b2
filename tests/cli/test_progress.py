"""Bars are drawn on a terminal, and nowhere else."""

from __future__ import annotations

import io
import sys

import pytest

from suffice.cli.progress import bars


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_each_stage(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bars(quiet=False) as progress:
        assert progress is not None
        progress("folding", 1, 2)
        progress("mapping", 2, 2)
        progress("folding", 2, 2)
    drawn = sys.stderr.getvalue()
    assert "folding" in drawn
    assert "mapping" in drawn


@pytest.mark.parametrize(("stream", "quiet"), [(io.StringIO, False), (Terminal, True)])
def test_nobody_looks(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], quiet: bool):
    monkeypatch.setattr(sys, "stderr", stream())
    with bars(quiet) as progress:
        assert progress is None
    assert sys.stderr.getvalue() == ""
