"""Rounding as the last step of a release with columns that hold whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.method.masked import Masked
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.progress import Progress
from suffice.seed import Stream


@dataclass(frozen=True)
class ControlledRounding(Recordwise):
    """Controlled rounding: each cell moves by less than one, and totals that are whole numbers stay."""

    keeps: ClassVar = ("limits",)
    rounds: ClassVar = 1
    finishing: ClassVar = True

    integer: tuple[str, ...] = ()

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        return self.rest(records, stream, records.n)

    def rest(self, records: Records, stream: Stream, n: int) -> Masked:
        from suffice.algorithms.rounding.rounding import rounded

        Y = rounded(*self._cells(records, stream), **_kept(records), behind=n / max(records.n, 1))
        return self._masked(Y)

    def part(self, records: Records, stream: Stream) -> tuple[Masked, NDArray[np.int64]]:
        from suffice.algorithms.rounding.parts import mostly_rounded

        Y, waiting = mostly_rounded(*self._cells(records, stream), **_kept(records))
        return self._masked(Y), waiting

    def _masked(self, Y: Array) -> Masked:
        said = f"Rounded to whole numbers, each by less than one: {', '.join(self.integer)}."
        return Masked(np.asarray(Y), (said,))

    def _cells(self, records: Records, stream: Stream) -> tuple[Array, list[int], tuple[str, ...], np.random.Generator]:
        columns = [j for j, name in enumerate(records.names) if name in self.integer]
        return records.Y, columns, records.names, stream.generator("rounding")

    @classmethod
    def examples(cls) -> tuple[ControlledRounding, ...]:
        return ()


def _kept(records: Records) -> dict[str, Any]:
    """Limits, and the groups whose totals stay: coarse ones first."""
    cells = records.cells
    return {"limits": records.limits, "groups": () if cells is None else (cells // records.inner, cells)}
