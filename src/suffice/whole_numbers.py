"""Rounding as the last step of a release with columns that hold whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.method import Whole
from suffice.rows import Progress
from suffice.seed import Stream
from suffice.task import Array, Task


@dataclass(frozen=True, repr=False)
class Rounded:
    """Whole numbers, and what must be said about them."""

    Ystar: Array
    columns: tuple[str, ...]
    unmoved: tuple[int, ...] = ()

    def remarks(self) -> tuple[str, ...]:
        return (f"Rounded to whole numbers, each by less than one: {', '.join(self.columns)}.",)


@dataclass(frozen=True)
class WholeNumbers(Whole):
    """Controlled rounding: each cell moves by less than one, and totals that are whole numbers stay."""

    promises: ClassVar = ("limits",)
    by_parts: ClassVar = False  # totals of parts are rounded up or down, and their sum may then miss the file's

    integer: tuple[str, ...] = ()

    def answer(self, task: Task, stream: Stream, progress: Progress | None = None) -> Rounded:
        from suffice.rounding import rounded  # brings a solver: most of a second, so only where it is used

        columns = [j for j, name in enumerate(task.names) if name in self.integer]
        groups = () if task.cells is None else (task.cells // task.inner, task.cells)  # coarse ones first
        Y = rounded(task.Y, columns, task.names, stream.generator("rounding"), limits=task.limits, groups=groups)
        return Rounded(np.asarray(Y), self.integer)

    @classmethod
    def examples(cls) -> tuple[WholeNumbers, ...]:
        return ()
