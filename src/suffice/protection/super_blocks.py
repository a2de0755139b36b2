"""Methods that need all rows at once, on files of any size.

A file of more than SUPER records is dealt at random into super-blocks that fit in memory. The method learns of all of
them and works on each, the records are dealt anew, and it works on each again. What holds in every super-block - sums,
cross-products, bounds, edits - holds in the file. The number of super-blocks depends on the number of records only, so
neither the engine nor the memory at hand changes a release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.profile import Matrices, Profile
from suffice.errors import InfeasibleError, UsageError
from suffice.method.masked import Masked, finite
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.protection.layout import Extras, Layout
from suffice.protection.solution import Regression
from suffice.rows.bridge import arrow
from suffice.rows.rows import Rows
from suffice.rows.spool import parted, stored
from suffice.seed import Stream

SUPER = 2**20
"""Records in a super-block, at most: what is held in memory at a time."""


@dataclass(frozen=True, repr=False)
class MaskedRows:
    """The rows that a method made, what must be said about them, and what was learnt of the original on the way."""

    rows: Rows
    remarks: tuple[str, ...]
    unmoved: int
    regression: Regression
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Columns that the method made, in the order of the rows."""
    anew: bool = False


def masked(
    source: Rows,
    rows: Rows,
    design: Design,
    profile: Profile,
    limits: Limits | None,
    method: Recordwise,
    stream: Stream,
) -> MaskedRows:
    """Run a method on all rows of `source`.

    rows: the same; where they carry a companion, it holds the values that the method starts from
    """
    if rows.n > SUPER and not method.by_parts:
        raise InfeasibleError(
            f"{method.name} needs all records in memory at once: the file has {rows.n}, and {SUPER} are allowed.\n"
            "Release the file in parts, or without it."
        )
    started = rows is not source
    layout = Layout.of(source, design, profile, limits, started, Extras.of(method, source, design))
    columns = Matrices(design, started).columns
    runs = rows.map(lambda run: [layout.records(block) for block in run], columns, "gathering")
    if rows.n <= SUPER:
        records = _joined(runs, rows.n, layout.width)
        made = _made(method.mask(layout.task(records), stream, rows.progress), rows.n, design.k, method)
        values = stored(rows, iter([made.Ystar]), design.confidential)
        return MaskedRows(values, made.remarks, len(made.unmoved), layout.regression, made.labels, made.anew)
    rounds = _Rounds(rows, layout, method, stream)
    values = stored(rows, rounds.values(map(np.vstack, runs)), design.confidential)
    return MaskedRows(values, rounds.summary(), rounds.unmoved, layout.regression, anew=rounds.anew)


def _joined(runs: Iterator[list[Array]], n: int, width: int) -> Array:
    """Records one below the other; those of a run are let go when they have their place."""
    found, last = np.empty((n, width)), 0
    for block in chain.from_iterable(runs):
        found[last : (last := last + len(block))] = block
    return found


def _made(made: Masked, n: int, k: int, method: Recordwise) -> Masked:
    if not isinstance(made, Masked):
        raise UsageError(f"{method.name} gave {type(made).__name__}: its `mask` must give Masked(Ystar).")
    finite(made.Ystar, (n, k), method.name)
    return made


class _Rounds:
    """Super-blocks, dealt and worked on round after round."""

    def __init__(self, rows: Rows, layout: Layout, method: Recordwise, stream: Stream) -> None:
        self.rows, self.layout, self.method, self.stream = rows, layout, method, stream
        self.count, self.unmoved = -(-rows.n // SUPER), 0
        self.said: list[tuple[str, ...]] = []
        self.learnt: Any = None
        self.anew = True

    def values(self, runs: Iterator[Array]) -> Iterator[Array]:
        """The released values alone, in the order of the original."""
        parts = self._dealt(runs, 0)
        self.learnt = self.method.learn(lambda: (self._task(self._read(part)) for part in parts), self.rows.n)
        for turn in range(self.method.rounds):
            last = turn == self.method.rounds - 1
            parts = self._dealt(self._worked(parts, turn, last), None if last else turn + 1)
        for part in parts:
            records = self._read(part)
            yield records[np.argsort(records[:, 0])][:, self.layout.now]

    def _worked(self, parts: Sequence[Rows], turn: int, last: bool) -> Iterator[Array]:
        layout, method = self.layout, self.method
        waiting = [np.empty((0, layout.width))]
        for number, part in enumerate(parts):
            records = self._read(part)
            made, waits = method.part(self._task(records), self.stream.child(f"{turn}:{number}"))
            records[:, layout.now] = _made(made, len(records), layout.design.k, method).Ystar
            waiting.append(records[waits])
            self.said.append(made.remarks)
            self.unmoved += len(made.unmoved) if last else 0
            self.anew &= made.anew or turn > 0  # a later round is not given the original's values
            if self.rows.progress is not None:
                self.rows.progress("masking", turn * self.count + number + 1, method.rounds * self.count)
            yield np.delete(records, waits, axis=0) if len(waits) else records
        rest = np.vstack(waiting)
        if len(rest):  # those that waited for all super-blocks
            made = method.rest(self._task(rest), self.stream.child(f"{turn}:rest"), self.rows.n)
            rest[:, layout.now] = made.Ystar
            yield rest

    def _task(self, records: Array) -> Records:
        return replace(self.layout.task(records), learnt=self.learnt)

    def _dealt(self, chunks: Iterator[Array], turn: int | None) -> Sequence[Rows]:
        """Records dealt at random, or by their place where `turn` is None."""

        def items() -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
            for number, records in enumerate(chunks):
                if turn is None:
                    where = (records[:, 0] // SUPER).astype(np.int64)
                else:
                    generator = self.stream.generator(f"super-block {turn}", number)
                    where = generator.integers(self.count, size=len(records))
                yield pa.RecordBatch.from_arrays([arrow(column) for column in records.T], names=names), where

        names = list(self.layout.names)
        return parted(items(), self.count, dict.fromkeys(names, "float"), self.rows)

    def _read(self, part: Rows) -> Array:
        columns = part.gather(self.layout.names)
        return np.column_stack([columns[name] for name in self.layout.names])

    def summary(self) -> tuple[str, ...]:
        """What every super-block says, once each, with how often it was said."""
        said = Counter(remark for remarks in self.said for remark in remarks).most_common(8)
        rounds = self.method.rounds
        return (
            f"{len(self.said)} super-blocks in {rounds} round{'s' if rounds > 1 else ''}.",
            *(f"{remark} ({times} super-blocks)" for remark, times in said),
        )
