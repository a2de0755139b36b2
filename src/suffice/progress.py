"""How far long work has come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Self

Progress = Callable[[str, int, int], None]
"""Called with the stage's name, the rows done and the rows in all."""

WIDTH, EVERY = 30, 0.1
SOON, OFTEN, LONG = 1.0, 30.0, 10.0
"""Seconds after which something is said for sure, between lines where no bar can be drawn, and after which a stage that
lasts is told how long it will."""


class Pace:
    """How long a stage will last at the pace that it has."""

    def __init__(self) -> None:
        self.stage, self.since, self.first = "", monotonic(), 0

    def heard(self, stage: str, done: int) -> None:
        if stage != self.stage:
            self.stage, self.since, self.first = stage, monotonic(), done

    def left(self, stage: str, done: int, total: int) -> str:
        """In words, once it can be told."""
        self.heard(stage, done)
        took, come = monotonic() - self.since, done - self.first
        return f", about {took * (total - done) / come:.0f} s left" if took > LONG and come > 0 else ""


class Bar:
    """One line on stderr, in a terminal or a notebook, that goes when a stage is done."""

    def __init__(self) -> None:
        self.last, self.long, self.start, self.pace = -EVERY, 0, monotonic(), Pace()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if done >= total:
            self._write("")
        elif monotonic() - self.last >= EVERY:
            took = f"{monotonic() - self.start:5.0f} s{self.pace.left(stage, done, total)}"
            self._write(f"{stage:<12} [{'#' * (WIDTH * done // total):<{WIDTH}}] {done / total:4.0%} {took}")
            self.last = monotonic()

    def _write(self, text: str) -> None:
        if text or self.long:
            sys.stderr.write(f"\r{text:<{self.long}}{'' if text else chr(13)}")
            sys.stderr.flush()
        self.long = len(text)


class Watch:
    """Says after a second that work is under way, whether it tells of itself or not: a bar, or a line now and then."""

    def __init__(self, bar: bool) -> None:
        self.bar, self.stage, self.start = Bar() if bar else None, ("reading", 0, 1), monotonic()
        self.over, self.thread, self.pace = Event(), Thread(target=self._say, daemon=True), Pace()

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.stage = (stage, done, total)
        self.pace.heard(stage, done)
        if self.bar is not None:
            self.bar(stage, done, total)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        if self.bar is not None:
            self.bar("", 1, 1)

    def _say(self) -> None:
        wait = SOON
        while not self.over.wait(wait):
            stage, done, total = self.stage
            if self.bar is not None:
                self.bar(*(self.stage if done < total else ("working", 0, 1)))
                continue
            took = f"{monotonic() - self.start:.0f} s{self.pace.left(stage, done, total)}"
            sys.stderr.write(f"{stage}, {done / total:.0%} of it ({took})\n")
            sys.stderr.flush()
            wait = OFTEN


def listener(progress: Progress | bool | None) -> Progress | None:
    """Whom to tell: True draws a bar."""
    return Bar() if progress is True else progress or None
