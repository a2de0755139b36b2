"""Progress bars on stderr, where someone is looking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice.plan.plan import Progress


@contextmanager
def bars(quiet: bool) -> Iterator[Progress | None]:
    """A callable progress(stage, done, total) that draws one bar per stage; None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Display
    from rich.progress import TaskID

    stages: dict[str, TaskID] = {}
    with Display(console=Console(stderr=True), transient=True) as display:

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = display.add_task(stage, total=total)
            display.update(stages[stage], completed=done, total=total)

        yield progress
