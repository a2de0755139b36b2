"""The certificate that lies beside released files: where it lies, and whether it is of a file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.files.source import digest_of
from suffice.guards.finding import Finding

NAMED = ".certificate."
NUMBERED = re.compile(r"(.*)-\d+", re.DOTALL)


def paper_of(path: Path, kind: str = "json") -> Path:
    """Where the certificate of a file lies: json for programs, html for people.

    >>> paper_of(Path("out.csv")).name
    'out.csv.certificate.json'
    """
    return path.with_name(f"{path.name}{NAMED}{kind}")


@dataclass(frozen=True, repr=False)
class Paper:
    """What lies beside a file as its certificate; of several files of one request, beside the first."""

    path: Path
    content: Mapping[str, Any] | None
    """None where it cannot be read."""

    @classmethod
    def beside(cls, released: Path) -> Paper | None:
        """The one that is of the file as it is, else one that bears its name."""
        one = NUMBERED.fullmatch(released.stem)
        first = [] if one is None else [released.with_name(f"{one[1]}-1{released.suffix}")]
        found = [cls.read(paper_of(path)) for path in (released, *first) if paper_of(path).is_file()]
        if not found:
            return None
        digest = digest_of(released) if released.is_file() else ""
        of = next((each for each in found if digest in each.digests), None)
        named = (each for each in found if each.path == paper_of(released) or released.name in each.files)
        return of or next(named, None)

    @classmethod
    def read(cls, path: Path) -> Paper:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            content = None
        return cls(path, content if isinstance(content, dict) else None)

    @property
    def files(self) -> dict[str, str]:
        """The names of all its files in their order, each with its SHA-256."""
        known = self.content or {}
        listed = known.get("files") or [known]
        pairs = [(each.get("file", ""), each.get("digest")) for each in listed if isinstance(each, dict)]
        return {name: digest for name, digest in pairs if isinstance(name, str) and isinstance(digest, str)}

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(self.files.values())


def paper_beside(released: Any) -> tuple[list[Finding], tuple[str, ...]]:
    """Whether the certificate that lies beside the file, if there is one, is of this file; and what cannot be told."""
    path = Path(os.fspath(released)) if isinstance(released, str | os.PathLike) else None
    paper = None if path is None or path.is_dir() else Paper.beside(path)
    if path is None or paper is None:
        return [], ("whether the file is as it was certified: no certificate lies beside it",)
    if not paper.digests:
        said = "cannot be read" if paper.content is None else "names no digest"
        return [], (f"whether the file is as it was certified: {paper.path.name} {said}",)
    if digest_of(path) in paper.digests:
        return [], ()
    return [
        Finding(
            "digest",
            "stop",
            f"the file is not the one that {paper.path.name} was made for: it has another SHA-256",
            "Find out what changed the file, or whether its writing was cut short; release the one that was certified.",
        )
    ], ()
