"""Rounding as the last step of a release with columns that hold whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.progress import Progress
from suffice.seed import Stream


@dataclass(frozen=True, repr=False)
class Rounded:
    """Whole numbers, and what must be said about them."""

    Ystar: Array
    columns: tuple[str, ...]
    unmoved: tuple[int, ...] = ()

    def remarks(self) -> tuple[str, ...]:
        return (f"Rounded to whole numbers, each by less than one: {', '.join(self.columns)}.",)


@dataclass(frozen=True)
class ControlledRounding(Recordwise):
    """Controlled rounding: each cell moves by less than one, and totals that are whole numbers stay."""

    keeps: ClassVar = ("limits",)
    rounds: ClassVar = 1
    finishing: ClassVar = True

    integer: tuple[str, ...] = ()

    def answer(self, task: Records, stream: Stream, progress: Progress | None = None) -> Rounded:
        return self.rest(task, stream, task.n)

    def rest(self, task: Records, stream: Stream, n: int) -> Rounded:
        from suffice.algorithms.rounding import rounded

        Y = rounded(*self._cells(task, stream), **_kept(task), behind=n / max(task.n, 1))
        return Rounded(np.asarray(Y), self.integer)

    def part(self, task: Records, stream: Stream) -> tuple[Rounded, NDArray[np.int64]]:
        from suffice.algorithms.rounding import mostly_rounded

        Y, waiting = mostly_rounded(*self._cells(task, stream), **_kept(task))
        return Rounded(np.asarray(Y), self.integer), waiting

    def _cells(self, task: Records, stream: Stream) -> tuple[Array, list[int], tuple[str, ...], np.random.Generator]:
        columns = [j for j, name in enumerate(task.names) if name in self.integer]
        return task.Y, columns, task.names, stream.generator("rounding")

    @classmethod
    def examples(cls) -> tuple[ControlledRounding, ...]:
        return ()


def _kept(task: Records) -> dict[str, Any]:
    """Limits, and the groups whose totals stay: coarse ones first."""
    return {"limits": task.limits, "groups": () if task.cells is None else (task.cells // task.inner, task.cells)}
