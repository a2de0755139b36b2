"""The private record of what was released with a key: one line per release, beside the key file."""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np

from suffice.errors import FileError
from suffice.rows.fingerprint import Fingerprint
from suffice.seed import USED, Seed

SUFFIX = ".ledger"
ALIKE, OWN = 0.5, 0.6
"""The share of a sample that columns have in common which are the same, of what is not chance; the share of cells with
a value of their own from which a column is known by its values."""
PART, SURE = 0.9, 8
"""The share of a sample that a file has in common with one of which it is a part; values in this sample, at least."""
_WRITERS: defaultdict[Path, Lock] = defaultdict(Lock)
"""One writer at a time within this process, for every ledger."""


@dataclass(frozen=True)
class Trace:
    """What is known again of a column, or of several together: keyed digests, no value and no name.

    total: of all values, in any order
    sample: some values, each with how often it is there; `bits`: one in 2^bits of the different ones
    cells: that are neither zero nor missing
    deeper: how many of the sample, the first ones, are one in 2^(bits + 1), 2^(bits + 2) and so on
    """

    role: str
    name: str
    total: str
    sample: Mapping[str, int]
    bits: int
    cells: int
    deeper: tuple[int, ...] = ()

    @classmethod
    def of(cls, seed: Seed, role: str, name: str, found: Fingerprint) -> Self:
        sample = {seed.digest("word", f"{int(word):x}")[:10]: int(count) for word, count in _pairs(found)}
        total = seed.digest("total", str(found.rows), str(found.total))
        deeper = [int((found.words < np.uint64(2 ** (63 - bits))).sum()) for bits in range(found.bits, 63)]
        few = tuple(count for count in deeper if count)
        return cls(role, seed.digest("name", name)[:16], total, sample, found.bits, found.cells, few)

    @property
    def telling(self) -> bool:
        """Whether most cells have a value of their own, so that the values tell which column it is."""
        return len(self.sample) << self.bits >= OWN * self.cells > 0

    def alike(self, other: Trace) -> bool:
        """Whether most of both is the same, or of one where it is a part of the other."""
        common, fewer = len({*self.sample} & {*other.sample}), min(len(self.sample), len(other.sample))
        chance = min(1.0, max(self.chance, other.chance))
        if common > 0 and common >= min(PART, chance + ALIKE * (1 - chance)) * fewer:
            return True
        part, whole = sorted([self, other], key=lambda each: each.bits)
        few = part._at(whole.bits)  # of a part nearly all are in the whole; whole numbers meet by chance
        return len(few & {*whole.sample}) >= max(SURE, PART * len(few))

    @property
    def chance(self) -> float:
        """Of the values of a column, the share that another of the same kind has too, at most: whole numbers of few
        digits meet. Twice the share that half of the records has in common with the other half."""
        counts = np.array([*self.sample.values()], dtype=np.float64)
        return float(2 * (1 - 2 ** (1 - counts)).sum() / max(1.0, (1 - 2**-counts).sum()))

    def _at(self, bits: int) -> set[str]:
        """One in 2^bits of the values."""
        counts = (len(self.sample), *self.deeper)
        return {*islice(self.sample, counts[bits - self.bits] if bits - self.bits < len(counts) else 0)}

    def same(self, other: Trace) -> bool:
        """Whether both are one column, which may have been sorted anew or corrected in part since."""
        if self.total == other.total:
            return self.name == other.name or self.telling
        return self.telling and other.telling and self.alike(other)

    def changed(self, other: Trace) -> int:
        """How many records of one are not in the other, at least: by the sample with odds of 40 to 1."""
        if self.total == other.total:
            return 0
        few, many = sorted([self, other], key=lambda each: -each.bits)
        found = [_beyond(few.sample, many.sample)]
        found += [_beyond(many.sample, few.sample)] if few.bits == many.bits else []
        seen = max(found)
        return max(1, seen, int(fewest(seen) * 2**few.bits), abs(self.cells - other.cells))


def fewest(seen: int) -> float:
    """The low end of a Poisson mean, with odds of 40 to 1, of which so many were seen."""
    return seen * (1 - 1 / (9 * seen) - 1.96 / (3 * seen**0.5)) ** 3 if seen else 0.0


def _pairs(found: Fingerprint) -> Iterator[tuple[int, int]]:
    return zip(found.words.tolist(), found.counts.tolist(), strict=True)


def _beyond(one: Mapping[str, int], two: Mapping[str, int]) -> int:
    return sum(max(0, count - two.get(word, 0)) for word, count in one.items())


@dataclass(frozen=True)
class Scheme:
    """What is kept of a file: fits on terms, in the groups that columns tell, with a weight, of some records.

    parts: columns that tell groups, and terms; no columns are the whole file
    settled: how records were left out, or small groups joined, before anything was kept: roles, with keyed names of
        the confidential columns; empty where none were
    merge: levels with fewer records than this, or with fewer of the `unit`, were joined, in each of the groups
    made: columns that the method made, each as the numbers of its groups in the order of the records, packed
    holes: whether patterns of missing cells tell groups as well
    """

    parts: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    weight: str = ""
    settled: str = ""
    merge: int = 0
    groups: tuple[str, ...] = ()
    made: tuple[tuple[str, str], ...] = ()
    holes: bool = False
    unit: str = ""


@dataclass(frozen=True)
class Entry:
    """One written release: no values, no paths, no column names but those of given terms, groups and weight."""

    date: str
    method: str
    terms: tuple[str, ...]
    """The given terms, each as it is written in full."""
    reach: float
    """The largest residual correlation that it carries: d."""
    columns: tuple[str, ...]
    """Keyed digests of the confidential columns, in their order of rows."""
    release: str = ""
    """Keyed digest of all that decides the random numbers: the same release twice is one release."""
    accepted: Mapping[str, str] = field(default_factory=dict)
    """Rules that had stopped it, each with the reason for which it was written all the same."""
    rounded: tuple[str, ...] = ()
    """Keyed names of the confidential columns that were rounded."""
    rank: int = 0
    """Independent equations that it keeps of every confidential column."""
    scheme: Scheme = field(default_factory=Scheme)
    traces: tuple[Trace, ...] = ()
    """Of every column with a role, confidential ones first."""
    ties: tuple[Trace, ...] = ()
    """Of each confidential column together with all that the scheme names: whether it can be made again."""
    records: int = 0
    """Of the file."""
    sets: int = 1
    """Data sets that it gave."""
    sketch: str = ""
    """Some records of all columns that have traces, sealed with the key."""
    totals: str = ""
    """Over which records every kept total is, as sums of powers of keyed words, sealed with the key."""
    cells: str = ""
    """Of a table: its cells, which of them are suppressed, and keyed digests of their values, sealed with the key."""
    mark: str = field(default="", compare=False)
    """Keyed digest of this line and of the mark before it."""

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

    @property
    def confidential(self) -> tuple[Trace, ...]:
        return tuple(trace for trace in self.traces if trace.role == "confidential")

    def line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=True) + "\n"


@dataclass(frozen=True)
class Ledger:
    """Earlier releases with one key file; a ledger that does not exist yet has none.

    >>> Ledger.beside(Seed()) is None
    True
    """

    path: Path
    seed: Seed | None = field(default=None, repr=False)
    """The key by which lines are known to be its own, in their order; without it they are read as they are."""

    @classmethod
    def beside(cls, seed: Seed) -> Ledger | None:
        """The ledger of a key file; None where the key has no file."""
        return None if seed.path is None else replace(cls.of(seed.path), seed=seed)

    @classmethod
    def of(cls, key: Path) -> Ledger:
        """The ledger beside a key file, whatever links lead to it."""
        path = key.resolve()
        return cls(path.with_name(path.name + SUFFIX))

    def entries(self) -> tuple[Entry, ...]:
        found: list[Entry] = []
        before, marks = "", self._marks()  # before the lines: a line is written first, and the key is marked then
        for number, line in enumerate(self._lines(marks), start=1):
            entry = self._entry(number, line)
            if (entry.mark or before) and entry.mark != (self._mark(line, entry.mark, before) or entry.mark):
                raise _damaged(number)
            found.append(entry)
            before = entry.mark
        if len(found) < marks:
            raise FileError(
                f"The ledger beside the key file lacks lines at its end: {len(found):,} are there, and there were "
                f"{marks:,} at least.\nRestore it from a backup; without it earlier releases cannot be judged."
            )
        return tuple(found)

    def others(self, release: str) -> tuple[Entry, ...]:
        """Every other release, once, however often it was written."""
        found = {entry.release or str(number): entry for number, entry in enumerate(self.entries())}
        return tuple(entry for name, entry in found.items() if name != release)

    def add(self, entry: Entry) -> None:
        """Append one line, all of it or nothing; what is there already is not said twice."""
        lines = self.entries()
        known = [json.loads(each.line()) for each in lines if each.release == entry.release]
        fresh, aside = json.loads(entry.line()), {"date": "", "mark": ""}
        if entry.release and any({**each, **aside} == {**fresh, **aside} for each in known):
            return
        entry = replace(entry, mark=self._mark(entry.line(), entry.mark, lines[-1].mark if lines else ""))
        try:
            place = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                _append(place, entry.line().encode("ascii"))
            finally:
                os.close(place)
        except OSError as problem:
            raise FileError(f"The ledger beside the key file cannot be written: {problem.strerror}.") from None
        if unmarked := max(0, len(lines) + 1 - self._marks()):
            with contextlib.suppress(OSError):  # a key that cannot be written to is not marked
                place = os.open(self.key, os.O_WRONLY | os.O_APPEND)
                try:
                    _append(place, (f"\n{USED}" * unmarked + "\n").encode("ascii"))
                finally:
                    os.close(place)

    def _mark(self, line: str, mark: str, before: str) -> str:
        """Of the text of a line, whatever fields it has; empty without the key."""
        blank = '"mark": ""'.join(line.rsplit(f'"mark": "{mark}"', 1))
        return "" if self.seed is None else self.seed.digest("line", before, blank)

    @property
    def key(self) -> Path:
        return self.path.with_name(self.path.name.removesuffix(SUFFIX))

    def _marks(self) -> int:
        """How many lines the ledger has at least, as the key file says."""
        try:
            return self.key.read_text("ascii", "replace").split().count(USED)
        except OSError:
            return 0

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """One writer at a time, of all processes where the system can tell: they have the key file in common."""
        with _WRITERS[self.path], contextlib.ExitStack() as stack:
            with contextlib.suppress(ImportError, OSError):
                import fcntl

                file = stack.enter_context(open(self.key, "rb"))
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _lines(self, marks: int) -> list[str]:
        lines: list[str] = []
        try:
            lines = self.path.read_text("ascii", "replace").splitlines(keepends=True)
        except FileNotFoundError:
            pass
        except OSError as problem:
            raise FileError(f"The ledger beside the key file cannot be read: {problem.strerror}.") from None
        if not lines and marks:  # gone, or emptied
            raise FileError(
                "Releases were made with this key, and its ledger does not lie beside it.\n"
                "Put both into one folder again; without it earlier releases cannot be judged."
            )
        return lines

    def _entry(self, number: int, line: str) -> Entry:
        try:
            if not line.endswith("\n"):
                raise ValueError("cut off")
            return Entry.parse(line)
        except ValueError:
            raise _damaged(number) from None


def _damaged(number: int) -> FileError:
    return FileError(
        f"The ledger beside the key file is damaged in line {number}, or a line before it is gone.\n"
        "Restore it from a backup; without it earlier releases cannot be judged."
    )


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
