"""Finished runs on disk: a comparison that was ended goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from suffice.comparison.runs import Run
from suffice.errors import FileError, UsageError, escaped, failing, path_of
from suffice.seed import Seed

KEY, RUNS = "comparison.key", "runs.jsonl"
OTHER = (
    "The folder {name} has runs of another comparison: other data, roles, accepted findings or another key.\n"
    "Name another folder."
)


class Store:
    """A folder with a line for every run, and a key where none was given."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = path_of(folder)
        with failing("The folder of the comparison cannot be made"):
            self.folder.mkdir(parents=True, exist_ok=True)
        if any(self.folder.iterdir()) and not (self.path.exists() or (self.folder / KEY).exists()):
            raise FileError(
                f"{escaped(self.folder.name)} is not empty, and has no runs of a comparison.\nName another."
            )

    @property
    def path(self) -> Path:
        return self.folder / RUNS

    def seed(self) -> Seed:
        """A key of its own, so that what is left to do is what would have been done."""
        file = self.folder / KEY
        return Seed.from_file(file) if file.exists() else Seed.new_file(file)

    def read(self, of: str) -> list[Run]:
        """Runs that are there already.

        of: a keyed digest of what they are of
        """
        if not self.path.exists():
            self._append({"suffice": "comparison", "of": of})
            return []
        with failing("The runs of the comparison cannot be read"):
            whole = self.path.read_bytes()
            end = whole.rfind(b"\n") + 1
            if end < len(whole):  # a line that was being written when the comparison was ended
                os.truncate(self.path, end)
        try:
            first, *lines = map(json.loads, whole[:end].decode().splitlines())
            if first["of"] != of:
                raise ValueError
            return [
                Run(**{**line, **{name: tuple(line[name]) for name in ("stops", "keeps", "lacking")}}) for line in lines
            ]
        except (ValueError, KeyError, TypeError):
            raise UsageError(OTHER.format(name=self.folder.name)) from None

    def kept(self, found: Iterator[Run]) -> Iterator[Run]:
        """Writes every run when it is done."""
        for run in found:
            self._append(asdict(run))
            yield run

    def _append(self, line: object) -> None:
        with failing("The runs of the comparison cannot be written"):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
