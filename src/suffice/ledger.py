"""The private record of what was released with a key: one line per release, beside the key file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from suffice.errors import FileError
from suffice.seed import Seed

SUFFIX = ".ledger"


@dataclass(frozen=True)
class Entry:
    """One written release: no values, no paths, no column names but those in the given terms."""

    date: str
    method: str
    terms: tuple[str, ...]
    """The given terms, each as it is written in full."""
    reach: float
    """The largest residual correlation that it carries: d."""
    columns: tuple[str, ...]
    """Keyed digests of the confidential columns."""
    release: str = ""
    """Keyed digest of all that decides the random numbers: the same release twice is one release."""

    @classmethod
    def now(
        cls, method: str, terms: tuple[str, ...], reach: float, columns: tuple[str, ...], release: str = ""
    ) -> Entry:
        """An entry with today's date and time."""
        return cls(datetime.now(UTC).isoformat(timespec="seconds"), method, terms, reach, columns, release)

    @classmethod
    def parse(cls, line: str) -> Entry:
        """The entry on a line; a line that is none is a ValueError."""
        from pydantic import TypeAdapter  # a tenth of a second, where a ledger is

        entry = TypeAdapter(cls).validate_json(line, strict=True)
        if not entry.reach >= 0:
            raise ValueError("a correlation below 0")
        return entry

    def line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=True) + "\n"


@dataclass(frozen=True)
class Ledger:
    """Earlier releases with one key file; a ledger that does not exist yet has none.

    >>> Ledger.beside(Seed()) is None
    True
    """

    path: Path

    @classmethod
    def beside(cls, seed: Seed) -> Ledger | None:
        """The ledger of a key file; None where the key has no file."""
        return None if seed.path is None else cls.of(seed.path)

    @classmethod
    def of(cls, key: Path) -> Ledger:
        """The ledger beside a key file."""
        return cls(key.with_name(key.name + SUFFIX))

    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entry(number, line) for number, line in enumerate(self._lines(), start=1))

    def earlier(self, columns: Iterable[str], release: str = "") -> tuple[Entry, ...]:
        """Releases that share a confidential column with this one.

        columns: keyed digests
        release: digest of this release, which does not count as an earlier one when it is written again
        """
        wanted = set(columns)
        return tuple(
            entry
            for entry in self.entries()
            if wanted & set(entry.columns) and (not release or entry.release != release)
        )

    def add(self, entry: Entry) -> None:
        """Append one line, all of it or nothing."""
        self.entries()  # never write behind a damaged line
        try:
            place = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                _append(place, entry.line().encode("ascii"))
            finally:
                os.close(place)
        except OSError as problem:
            raise FileError(f"The ledger beside the key file cannot be written: {problem.strerror}.") from None

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text("ascii", "replace").splitlines(keepends=True)
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise FileError(f"The ledger beside the key file cannot be read: {problem.strerror}.") from None

    def _entry(self, number: int, line: str) -> Entry:
        try:
            if not line.endswith("\n"):
                raise ValueError("cut off")
            return Entry.parse(line)
        except ValueError:
            raise FileError(
                f"The ledger beside the key file is damaged in line {number}.\n"
                "Restore it from a backup; without it earlier releases cannot be judged."
            ) from None


def _append(place: int, line: bytes) -> None:
    """Write and flush to disk; a line that does not fit is taken back."""
    if hasattr(os, "fchmod"):
        os.fchmod(place, 0o600)
    before = os.fstat(place).st_size
    try:
        if os.write(place, line) < len(line):
            raise OSError(28, os.strerror(28))  # ENOSPC: a short write to a file is a full disk
        os.fsync(place)
    except OSError:
        os.ftruncate(place, before)
        raise
