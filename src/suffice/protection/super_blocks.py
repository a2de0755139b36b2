"""Methods that need all rows at once, on files of any size.

A file of more than SUPER records is dealt at random into super-blocks that fit in memory. The method works on each,
the records are dealt anew, and it works on each again. What holds in every super-block - sums, cross-products,
bounds, edits - holds in the file. The number of super-blocks depends on the number of records only, so neither the
engine nor the memory at hand changes a release.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.profile import Matrices, Profile
from suffice.errors import InfeasibleError
from suffice.method.recordwise import Answer, Labelled, Recordwise
from suffice.protection.layout import Layout, Wanted
from suffice.rows.derived import Joined
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import BLOCK, RUN, Block, Rows, spans
from suffice.seed import Stream

SUPER = 2**20
"""Records in a super-block, at most: what is held in memory at a time."""


@dataclass(frozen=True, repr=False)
class Masked:
    """The rows that a method made, and what must be said about them."""

    rows: Rows
    remarks: tuple[str, ...]
    unmoved: int
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Columns that the method made, in the order of the rows."""


def masked(
    rows: Rows,
    started: bool,
    design: Design,
    profile: Profile,
    limits: Limits | None,
    method: Recordwise,
    stream: Stream,
) -> Masked:
    """Run a method on all rows; `started`: the rows carry, as companion, the values that it starts from."""
    if rows.n > SUPER and not method.by_parts:
        raise InfeasibleError(
            f"{method.name} needs all records in memory at once: the file has {rows.n}, and {SUPER} are allowed.\n"
            "Release the file in parts, or without it."
        )
    source = rows.rows if isinstance(rows, Joined) else rows
    layout = Layout.of(source, design, profile, limits, started, Wanted.of(method, source, design))
    columns = Matrices(design, started).columns
    runs = rows.map(lambda run: np.vstack([layout.records(block) for block in run]), columns, "gathering")
    if rows.n <= SUPER:
        answer = method.answer(layout.task(np.vstack(list(runs))), stream, rows.progress)
        made = stored(rows, iter([answer.Ystar]), design.confidential)
        labels = answer.labels if isinstance(answer, Labelled) else {}
        return Masked(made, answer.remarks(), len(answer.unmoved), labels)
    return _in_rounds(runs, rows, layout, method, stream)


def stored(rows: Rows, values: Iterator[Array], names: Sequence[str]) -> Rows:
    """Released values run by run, as rows beside the original: in memory, or in a nameless file where they are many."""
    if rows.n <= SUPER:
        columns = dict(zip(names, np.asfortranarray(np.vstack(list(values))).T, strict=True))
        return ArrayRows(columns, dict.fromkeys(names, "float"), rows.threads)
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the rows that read it
    for run in values:
        file.write(np.ascontiguousarray(run).data)
    return Stored(file, rows.n, names, rows.threads)


def _in_rounds(runs: Iterator[Array], rows: Rows, layout: Layout, method: Recordwise, stream: Stream) -> Masked:
    count = -(-rows.n // SUPER)
    answers: list[Answer] = []
    unmoved = 0
    with ExitStack() as stack:
        files = _dealt(runs, layout, count, stream, 0, stack)
        for turn in range(method.rounds):
            last = turn == method.rounds - 1

            def worked(turn: int = turn, last: bool = last, files: Sequence[IO[bytes]] = files) -> Iterator[Array]:
                nonlocal unmoved
                waiting = [np.empty((0, layout.width))]
                for number, file in enumerate(files):
                    records = _read(file, layout.width)
                    answer, waits = method.part(layout.task(records), stream.child(f"{turn}:{number}"))
                    records[:, layout.now] = answer.Ystar
                    waiting.append(records[waits])
                    answers.append(_light(answer))
                    unmoved += len(answer.unmoved) if last else 0
                    if rows.progress is not None:
                        rows.progress("masking", turn * count + number + 1, method.rounds * count)
                    yield np.delete(records, waits, axis=0) if len(waits) else records
                yield from _rest(np.vstack(waiting), layout, method, stream.child(f"{turn}:rest"), rows.n)

            files = _dealt(worked(), layout, count, stream, None if last else turn + 1, stack)
        result = _in_order(files, layout, rows.n)
    return Masked(Stored(result, rows.n, layout.design.confidential, rows.threads), _summary(answers, method), unmoved)


def _rest(records: Array, layout: Layout, method: Recordwise, stream: Stream, n: int) -> Iterator[Array]:
    """Those that waited for all super-blocks, if any."""
    if len(records):
        records[:, layout.now] = method.rest(layout.task(records), stream, n).Ystar
        yield records


def _dealt(
    chunks: Iterator[Array], layout: Layout, count: int, stream: Stream, turn: int | None, stack: ExitStack
) -> list[IO[bytes]]:
    """Records in nameless files: dealt at random, or by their place where `turn` is None."""
    files = [_nameless(stack) for _ in range(count)]
    for number, records in enumerate(chunks):
        if turn is None:
            where = (records[:, 0] // SUPER).astype(np.int64)
        else:
            where = stream.generator(f"super-block {turn}", number).integers(count, size=len(records))
        order = np.argsort(where, kind="stable")
        ends = np.cumsum(np.bincount(where, minlength=count))
        for file, first, last in zip(files, [0, *ends[:-1]], ends, strict=True):
            file.write(np.ascontiguousarray(records[order[first:last]]).data)
    return files


def _nameless(stack: ExitStack) -> IO[bytes]:
    return stack.enter_context(tempfile.TemporaryFile())


def _read(file: IO[bytes], width: int) -> Array:
    file.seek(0)
    return np.fromfile(file, dtype=np.float64).reshape(-1, width)


def _in_order(files: Sequence[IO[bytes]], layout: Layout, n: int) -> IO[bytes]:
    """The released values alone, in the order of the original."""
    out: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the rows that read it
    for file in files:
        records = _read(file, layout.width)
        out.write(np.ascontiguousarray(records[np.argsort(records[:, 0])][:, layout.now]).data)
        file.seek(0)
        file.truncate()
    return out


@dataclass(frozen=True, repr=False)
class _Light:
    """An answer without its rows."""

    said: tuple[str, ...]

    Ystar: Array = None  # type: ignore[assignment]
    unmoved: tuple[int, ...] = ()

    def remarks(self) -> tuple[str, ...]:
        return self.said


def _light(answer: Answer) -> Answer:
    return _Light(answer.remarks())


def _summary(answers: Sequence[Answer], method: Recordwise) -> tuple[str, ...]:
    """What every super-block says, once each, with how often it was said."""
    count: dict[str, int] = {}
    for answer in answers:
        for remark in answer.remarks():
            count[remark] = count.get(remark, 0) + 1
    said = sorted(count.items(), key=lambda item: -item[1])[:8]
    return (
        f"{len(answers)} super-blocks in {method.rounds} round{'s' if method.rounds > 1 else ''}.",
        *(f"{remark} ({times} super-blocks)" for remark, times in said),
    )


class Stored(Rows):
    """Columns of numbers in a nameless file, a record after the other."""

    def __init__(self, file: IO[bytes], n: int, names: Sequence[str], threads: int) -> None:
        self.file, self.n, self.names, self.threads = file, n, tuple(names), threads
        file.flush()
        finalize(self, file.close)
        self.kinds = dict.fromkeys(names, "float")

    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        self.file.seek(0)
        for start, stop in spans(0, self.n, BLOCK * RUN):
            values = np.fromfile(self.file, dtype=np.float64, count=(stop - start) * len(self.names))
            table = values.reshape(stop - start, len(self.names))
            chosen: dict[str, Any] = {name: np.ascontiguousarray(table[:, self.names.index(name)]) for name in columns}
            yield [
                Block(start + a, {name: column[a:b] for name, column in chosen.items()})
                for a, b in spans(0, stop - start)
            ]
