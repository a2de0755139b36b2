"""How far long work has come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic

Progress = Callable[[str, int, int], None]
"""Called with the stage's name, the rows done and the rows in all."""

WIDTH, EVERY = 30, 0.1


class Bar:
    """One line on stderr, in a terminal or a notebook, that goes when a stage is done."""

    def __init__(self) -> None:
        self.last, self.long = -EVERY, 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if done >= total:
            self._write("")
        elif monotonic() - self.last >= EVERY:
            self._write(f"{stage:<12} [{'#' * (WIDTH * done // total):<{WIDTH}}] {done / total:4.0%}")
            self.last = monotonic()

    def _write(self, text: str) -> None:
        if text or self.long:
            sys.stderr.write(f"\r{text:<{self.long}}{'' if text else chr(13)}")
            sys.stderr.flush()
        self.long = len(text)


def listener(progress: Progress | bool | None) -> Progress | None:
    """Whom to tell: True draws a bar."""
    return Bar() if progress is True else progress or None
