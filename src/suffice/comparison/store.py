"""Finished runs on disk: a comparison that was ended goes on where it was."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Self

from suffice.comparison.runs import Run
from suffice.errors import FileError, UsageError, escaped, failing, path_of
from suffice.seed import Seed

KEY, RUNS = "comparison.key", "runs.jsonl"
BEGIN = b'{"suffice": "comparison", "of": "'
"""Of a file of runs; nothing is cut off, or added to, another one of that name."""
OTHER = (
    "The folder {name} has runs of another comparison: other data, roles, accepted findings or another key.\n"
    "Name another folder."
)
CHANGED = "The runs in the folder {name} were changed since they were written.\nName another folder."
BUSY = "Another comparison works in the folder {name}.\nWait for it, or name another folder."


class Store:
    """A folder with a line for every run, each with a keyed mark, and a key where none was given."""

    def __init__(self, folder: Path, file: IO[bytes]) -> None:
        self.folder, self._file = folder, file
        self._seed, self._of = Seed(), ""

    @classmethod
    @contextlib.contextmanager
    def alone(cls, folder: str | os.PathLike[str]) -> Iterator[Self]:
        """The folder, for one comparison at a time where the system can tell."""
        where = path_of(folder)
        with failing("The folder of the comparison cannot be made"):
            where.mkdir(parents=True, exist_ok=True)
        if any(where.iterdir()) and not ((where / RUNS).exists() or (where / KEY).exists()):
            raise FileError(f"{escaped(where.name)} is not empty, and has no runs of a comparison.\nName another.")
        for each in (where / KEY, where / RUNS):  # a link would lead the runs into another file, and a pipe never ends
            if each.is_symlink() or (each.exists() and not each.is_file()):
                raise FileError(f"{each.name} in the folder {escaped(where.name)} is no file.\nName another folder.")
        with failing("The runs of the comparison cannot be written"):
            file = os.fdopen(os.open(where / RUNS, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "r+b")
        with file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileError(BUSY.format(name=escaped(where.name))) from None
            except (ImportError, OSError):
                pass
            yield cls(where, file)

    @property
    def path(self) -> Path:
        return self.folder / RUNS

    def seed(self) -> Seed:
        """A key of its own, so that what is left to do is what would have been done."""
        file = self.folder / KEY
        return Seed.from_file(file) if file.exists() else Seed.new_file(file)

    def read(self, of: str, seed: Seed) -> list[Run]:
        """Runs that are there already.

        of: a digest of what they are of; seed: whose key it has, and marks have
        """
        self._of, self._seed = of, seed
        with failing("The runs of the comparison cannot be read"):
            self._file.seek(0)
            whole = self._file.read()
            if whole[: len(BEGIN)] != BEGIN[: len(whole)]:
                raise UsageError(CHANGED.format(name=escaped(self.folder.name)))
            end = whole.rfind(b"\n") + 1
            if end < len(whole):  # a line that was being written when the comparison was ended
                self._file.truncate(end)
        if not end:
            self._append({"suffice": "comparison", "of": of})
            return []
        name = escaped(self.folder.name)
        try:
            first, *lines = map(json.loads, whole[:end].decode().splitlines())
            if first["of"] != of:
                raise UsageError(OTHER.format(name=name))
            if any(line["mark"] != self._mark(line["run"]) for line in lines):
                raise ValueError
            listed = ("stops", "keeps", "lacking")
            runs = [line["run"] for line in lines]
            return [Run(**{**run, **{key: tuple(run[key]) for key in listed}}) for run in runs]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UsageError(CHANGED.format(name=name)) from None

    def kept(self, found: Iterator[Run]) -> Iterator[Run]:
        """Writes every run when it is done."""
        for run in found:
            told = asdict(run)
            self._append({"mark": self._mark(told), "run": told})
            yield run

    def _mark(self, run: object) -> str:
        return self._seed.digest("run", self._of, json.dumps(run, sort_keys=True))

    def _append(self, line: object) -> None:
        with failing("The runs of the comparison cannot be written"):
            self._file.write(json.dumps(line).encode() + b"\n")
            self._file.flush()
