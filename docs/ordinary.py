"""Writes the table of ordinary requests into docs/guards.md: uv run python docs/ordinary.py

Forty requests of public files (../shared/data) and of the demonstration's, each with four new keys: what stops it,
whichever the key, and the attack that succeeds where it is not stopped.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from suffice import protect
from tests.guards.requests import REQUESTS, Ordinary

PAGE = Path(__file__).with_name("guards.md")
KEYS = 4
FIRST, LAST = "<!-- requests: written by docs/ordinary.py -->", "<!-- end of requests -->"


def verdicts(request: Ordinary) -> list[frozenset[str]]:
    """The rules that stop a request, key by key."""
    frame, roles = request.prepared()
    releases = (protect(frame, roles, request.method) for _ in range(KEYS))
    return [
        frozenset(each.rule for each in release.findings if each.level in ("stop", "never")) for release in releases
    ]


def table() -> str:
    """A row a request; a verdict that depends on the key is an error."""
    lines = ["| file | protected | asked for | method | |", "|---|---|---|---|---|"]
    written = 0
    for request in REQUESTS:
        found = set(verdicts(request))
        if len(found) > 1:
            raise SystemExit(f"{request.name}: the key decides, {found}")
        rules = found.pop()
        written += not rules
        end = "written" if not rules else f"**stopped**: {', '.join(sorted(f'`{rule}`' for rule in rules))}"
        assert rules == {*request.stops}  # tests/attacks/test_stopped_requests.py breaks each of these
        records = f" ({request.records})" * bool(request.records)
        lines.append(f"| {request.file}{records} | {request.columns} | {request.asked} | {request.how} | {end} |")
    said = f"{written} of {len(REQUESTS)} end in a file, with each of {KEYS} new keys; none depends on the key."
    return "\n".join([said, "", *lines])


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(FIRST)
    _, _, after = rest.partition(LAST)
    PAGE.write_text(f"{before}{FIRST}\n\n{table()}\n\n{LAST}{after}", "utf-8")
