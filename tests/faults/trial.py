"""Runs a command many times in processes that are stopped at a chosen line: a list of trials on each line of stdin.

Modules are imported once; every trial is a fork. A trial is stopped when the so-manieth line of the modules that
write is about to run, so that every moment of a write can be tried.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITING = ("draft.py", "release.py", "delivery.py", "ledger.py", "command.py", "page.py")
CALLS = ("open", "write", "fsync", "fchmod", "link", "replace", "unlink", "ftruncate")
"""What a failing disk may refuse."""


def main() -> None:
    import suffice.report.pictures as pictures

    for name in ("histogram", "correlations"):  # nine tenths of what a trial would take
        assert callable(getattr(pictures, name))
        setattr(pictures, name, lambda *_: "")
    for module in _needed(json.loads(sys.stdin.readline())):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    from suffice.report.page import pages

    for template in pages().list_templates(["html"]):  # compiled once, not in every trial
        pages().get_template(template)
    while line := sys.stdin.readline():
        print(json.dumps([_ended(trial) for trial in json.loads(line)]), flush=True)


def _needed(words: list[str]) -> list[str]:
    """The modules that a command reads, found by a process of its own: a fork must not inherit threads."""
    out, into = os.pipe()
    if os.fork() == 0:
        _command(words)
        os.write(into, "\n".join(sys.modules).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as file:
        found = file.read().split()
    os.wait()
    return found


def _ended(trial: dict[str, Any]) -> int:
    """The exit code, or the negative signal, of a trial."""
    if (child := os.fork()) == 0:
        try:
            _run(trial)
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(trial: dict[str, Any]) -> None:
    log = os.open(trial["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    faulthandler.dump_traceback_later(200, exit=True)  # a trial that waits for ever says where
    tempfile.tempdir = trial["temp"]
    if trial.get("named"):  # a file system without nameless files
        del os.O_TMPFILE
        tempfile._O_TMPFILE_WORKS = False  # type: ignore[attr-defined]
    if trial.get("bucket"):
        import suffice.rows.shuffle

        suffice.rows.shuffle.BUCKET = trial["bucket"]
    if trial.get("largest"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (trial["largest"], trial["largest"]))
    if trial.get("user"):
        os.setgroups([])
        os.setgid(trial["user"])
        os.setuid(trial["user"])
    stop: Any = _stopper(trial["line"], getattr(signal, trial["signal"])) if trial.get("line") else None
    stop = _failing_disk(*trial["fault"]) if trial.get("fault") else stop
    code = _command(trial["words"], stop)
    if trial.get("count"):
        Path(trial["count"]).write_text(str(stop.lines) if stop else "0")
    os._exit(code)


class _failing_disk:
    """Calls of the operating system, of which the so-manieth fails, before or after its work; or all from there on."""

    def __init__(self, turn: int, number: int, after: bool, lasting: bool) -> None:
        self.turn, self.number, self.after, self.lasting, self.lines = turn, number, after, lasting, 0

    def begin(self) -> None:
        for call in CALLS:
            setattr(os, call, self._failing(getattr(os, call)))

    def _failing(self, real: Any) -> Any:
        def call(*rest: Any, **more: Any) -> Any:
            self.lines += 1
            if self.lines == self.turn and self.after:
                real(*rest, **more)
            if self.lines == self.turn or (self.lasting and self.lines > self.turn):
                raise OSError(self.number, os.strerror(self.number))
            return real(*rest, **more)

        return call


class _stopper:
    """A trace that ends the process at a line, counted within the modules that write."""

    def __init__(self, line: int, sign: int) -> None:
        self.line, self.sign, self.lines = line, sign, 0

    def begin(self) -> None:
        sys.settrace(self)

    def __call__(self, frame: Any, event: str, _: Any) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.endswith(WRITING):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.line:
                os.kill(os.getpid(), self.sign)
        return self


def _command(words: list[str], stop: Any = None) -> int:
    from suffice import cli
    from suffice.release.release import Release

    write = Release.write

    def watched(*rest: Any, **more: Any) -> Any:
        if stop is not None:
            stop.begin()
        return write(*rest, **more)

    Release.write = watched  # type: ignore[method-assign]
    sys.argv = ["suffice", *words]
    try:
        cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.settrace(None)
        Release.write = write  # type: ignore[method-assign]
    return 0


if __name__ == "__main__":
    main()
