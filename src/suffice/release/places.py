"""Where the files of a release go, and which files nothing of it may replace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any

from suffice.certificate.paper import paper_of
from suffice.errors import path_of
from suffice.files.draft import Draft, Labelled, keep_apart, undisturbed
from suffice.files.kind import write_kind
from suffice.files.source import named_sources
from suffice.ledger import Ledger
from suffice.method.method import Method

PRIVATE = 0o600


@dataclass(frozen=True)
class Places:
    """Where the files of a release go, and what is left there of an earlier one."""

    releases: tuple[Path, ...]
    report: Path | None = None
    left: tuple[Path, ...] = ()
    """Data sets of an earlier release that had more of them."""

    @classmethod
    def of(cls, path: str | os.PathLike[str], report: str | os.PathLike[str] | None = None, sets: int = 0) -> Places:
        """Several data sets are numbered: out.parquet -> out-1.parquet."""
        target, page = path_of(path), None if report is None else path_of(report)
        if not sets:
            return cls((target,), page)
        numbered = (target.with_name(f"{target.stem}-{number}{target.suffix}") for number in count(1))
        return cls(tuple(islice(numbered, sets)), page, tuple(takewhile(Path.exists, numbered)))

    @property
    def labelled(self) -> list[Labelled]:
        """Every file with what it is, in the order in which they are named: the releases last."""
        kinds = (("json", "the certificate"), ("html", "the certificate's page"))
        papers = [(what, paper_of(self.releases[0], kind)) for kind, what in kinds]
        own = [] if self.report is None else [("the report", self.report)]
        return [*papers, *own, *(("the output", each) for each in self.releases)]

    @property
    def files(self) -> list[Path]:
        """For people: the releases first."""
        files = [path for _, path in self.labelled]
        return [*self.releases, *files[: -len(self.releases)]]

    def drafts(self, force: bool, stack: ExitStack) -> list[Draft]:
        """A file without a name for each; a paper that lies there is replaced with its release."""
        with undisturbed():  # a file that was made is on the stack, which removes it
            return [
                stack.enter_context(Draft(path, force or "certificate" in what, PRIVATE if "report" in what else 0o666))
                for what, path in self.labelled
            ]

    def refuse(self, kept: Sequence[Labelled], force: bool, own: Path | None = None) -> None:
        """Before the work what would be refused after it.

        kept: files that nothing may replace
        own: a file for the holder alone, which is written with the release
        """
        for path in self.releases:
            write_kind(path)
        beside = [] if own is None else [("the pattern", own)]
        keep_apart([*beside, *self.labelled], kept)
        with ExitStack() as stack:
            self.drafts(force, stack)
            for _, path in beside:
                stack.enter_context(Draft(path, force, PRIVATE))


def kept_files(data: Any, method: Method, key: Path | None) -> list[Labelled]:
    """Files of a request that nothing may replace: the data, what is beside them, the key and its ledger."""
    found = [("the data", path) for path in named_sources(data)]
    found += [("a companion file", path) for path in named_sources(method.companion)]
    found += [("the frame", path) for path in named_sources(getattr(method, "frame", None))]
    return found if key is None else [*found, ("the key", key), ("the ledger", Ledger.of(key).path)]
