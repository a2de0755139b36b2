"""What people read: findings sorted by severity, certificates, and where the files are."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import CONTROL, GuardError, NotPreservedError, escaped

if TYPE_CHECKING:
    from suffice.guards.finding import Finding
    from suffice.release.release import Release
    from suffice.release.tables import TableRelease

STYLES = {"never": "bold red", "stop": "bold red", "warn": "yellow", "note": "dim"}
"""By severity, the gravest first."""


class BlockingFindings(GuardError):
    """Findings forbid writing; `document` is what --json prints."""

    def __init__(self, message: str, document: dict[str, Any]) -> None:
        super().__init__(message)
        self.document = document


class Differences(NotPreservedError):
    """Statistics that are not kept; `document` is what --json prints."""

    def __init__(self, message: str, document: dict[str, Any]) -> None:
        super().__init__(message)
        self.document = document


def say(text: str = "", style: str | None = None) -> None:
    """A line on stdout, in colour where that is a terminal. Names are text, never markup."""
    _write(text, style, sys.stdout)


def alarm(text: str) -> None:
    """A message on stderr."""
    _write(text, "red", sys.stderr)


def as_json(document: Mapping[str, Any]) -> None:
    """The one JSON document on stdout."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    _write(
        "\n".join(CONTROL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", line) for line in text.split("\n")),
        None,
        sys.stdout,
    )


def parsed(text: str) -> Any:
    """JSON without NaN and infinities, which only Python reads: they are null."""
    return json.loads(text, parse_constant=lambda _: None)


def flush() -> None:
    """End quietly where the reader of a pipe has gone."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _gone()


def _write(text: str, style: str | None, stream: Any) -> None:
    text = "\n".join(map(escaped, text.split("\n")))
    try:
        if style and stream.isatty():
            from rich.console import Console
            from rich.text import Text

            Console(file=stream).print(Text(text, style=style), soft_wrap=True)
        else:
            stream.write(text + "\n")
    except BrokenPipeError:
        _gone()


def _gone() -> None:
    """Give the interpreter an open stdout to close, then end as a broken pipe does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os._exit(141)


def findings(found: Iterable[Finding]) -> None:
    """Each finding with its numbers and what to do, the gravest first."""
    for finding in gravest_first(found):
        say(f"{finding.level.upper():>5}  {finding.rule}: {finding.message}", STYLES[finding.level])
        if finding.accepted:
            say(f"       accepted: {finding.accepted}")
        elif finding.remedy:
            say(f"       {finding.remedy}")


def gravest_first(found: Iterable[Finding]) -> list[Finding]:
    """The findings by severity."""
    return sorted(found, key=lambda finding: list(STYLES).index(finding.level))


def as_data(finding: Finding) -> dict[str, Any]:
    """A finding for JSON."""
    return {name: getattr(finding, name) for name in ("rule", "level", "message", "numbers", "remedy", "accepted")}


def document(release: Release | TableRelease, written: Iterable[Path]) -> dict[str, Any]:
    """A release for JSON: certificate, findings, files."""
    certificate = release.certificate
    return {
        "holds": certificate.holds,
        "certificate": parsed(certificate.to_json()),
        "findings": [as_data(finding) for finding in gravest_first(release.findings)],
        "written": [str(path) for path in written],
    }


def refusal(found: Iterable[Finding], in_a_plan: bool) -> str | None:
    """Why nothing is written and what lifts it, or None where nothing forbids it."""
    blocking = [finding for finding in gravest_first(found) if finding.blocks]
    if not blocking:
        return None
    lines = [f"Not written: {len(blocking)} of the findings forbid{'s' if len(blocking) == 1 else ''} it."]
    for finding in blocking:
        lines += [
            f"  {finding.rule}: {finding.message}",
            f"    {finding.remedy}",
            f"    {_override(finding, in_a_plan)}",
        ]
    return "\n".join(lines)


def _override(finding: Finding, in_a_plan: bool) -> str:
    if finding.level == "never":
        return "This finding has no override."
    if in_a_plan:
        return f'To release all the same, put your reason into the plan: [accept] {finding.rule} = "REASON"'
    return f'To release all the same, give your reason: --accept {finding.rule}="REASON"'
