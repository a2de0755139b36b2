"""What a release is made of, before it leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.profile import Profile
from suffice.protection.solution import Solution
from suffice.protection.watch import Watch
from suffice.rows.rows import Block, Rows
from suffice.rows.shuffle import shuffled
from suffice.seed import Stream
from suffice.statistics.standing import Standing

SAMPLED = 5000
"""Rows whose residuals are kept whole, for the null of the canonical correlation."""


@dataclass(frozen=True, repr=False)
class Stratum:
    """Records protected together - all of them, a group, a pattern of holes - and what was seen of them."""

    solution: Solution
    watch: Watch
    unmoved: int
    remarks: tuple[str, ...]

    def samples(self, among: tuple[str, ...]) -> list[tuple[Array, Array]]:
        """Original and released residuals of sampled rows, with zeros for columns that the piece lacks."""
        names = self.solution.design.confidential
        return [(placed(E, names, among), placed(Estar, names, among)) for E, Estar in self.watch.sample]


@dataclass(frozen=True, repr=False)
class Solved:
    """All steps of a method done: the rows to map, the answer, what is said of it, records not moved, made columns."""

    rows: Rows
    solution: Solution
    remarks: tuple[str, ...]
    unmoved: int
    labels: Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, repr=False)
class Drawn:
    """Records of a release that stand for none of the original, and may be fewer or more."""

    frame: Any
    n: int
    proportional: bool
    """Whether every group has its exact share of them, so that what is kept in each is kept overall."""
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Protected:
    """What a release is made of: `released` gives Y* of a block of `rows` that holds `columns`."""

    rows: Rows
    columns: tuple[str, ...]
    released: Callable[[Block], Array]
    pieces: tuple[Stratum, ...]
    Ystar: Array | None
    """All of it, where the rows are in memory."""
    design: Design
    profile: Profile
    stream: Stream
    centre: Array
    original: Standing
    """What the certificate compares with, about the centre."""
    watch: Watch
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Columns that the method made, in the order of the rows; they leave with the release."""
    drawn: Drawn | None = None
    """What leaves in place of `rows`, where the method draws records of its own."""

    @property
    def outgoing(self) -> Design:
        """The design of the records that leave: those of the original, or drawn ones, which have no weight."""
        roles = self.design.roles
        return self.design if self.drawn is None else replace(self.design, roles=replace(roles, weight=None))

    def order(self) -> NDArray[np.int64] | None:
        """Which row stands where in the release; None where that is settled as they leave, none where all are new."""
        if self.drawn is not None:
            return np.empty(0, dtype=np.int64)
        return shuffled(self.stream, self.rows.n) if self.Ystar is not None else None

    def marked(self, rows: Rows) -> Rows:
        """Rows in the order of the original, with the columns that the method made."""
        return Marked(rows, self.labels) if self.labels else rows

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be said of the release; what several pieces say, once, with how many of them say it."""
        said = Counter(remark for piece in self.pieces for remark in piece.remarks)
        if len(self.pieces) == 1:
            return tuple(said)
        return tuple(f"{remark} ({times} of {len(self.pieces)} groups)" for remark, times in said.most_common(8))


class Marked(Rows):
    """Rows with the columns that a method made."""

    def __init__(self, rows: Rows, labels: Mapping[str, NDArray[np.int64]]) -> None:
        self.rows, self.labels = rows, labels
        self.n, self.threads, self.progress = rows.n, rows.threads, rows.progress
        self.kinds = {**rows.kinds, **dict.fromkeys(labels, "integer")}

    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        for run in self.rows.runs([name for name in columns if name not in self.labels] or list(self.rows.kinds)[:1]):
            yield [self._of(block, columns) for block in run]

    def _of(self, block: Block, columns: Sequence[str]) -> Block:
        here = slice(block.start, block.start + len(block))
        made = {name: values[here] for name, values in self.labels.items() if name in columns}
        return Block(block.start, {**block.columns, **made})


class Leaving(Rows):
    """The rows that leave, before they are written and shuffled."""

    def __init__(self, done: Protected) -> None:
        self.done, self.rows = done, done.marked(done.rows)
        self.n, self.kinds, self.threads = done.rows.n, self.rows.kinds, done.rows.threads
        self.progress = done.rows.progress

    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        needed = tuple(dict.fromkeys([*columns, *self.done.columns]))
        for run in self.rows.runs(needed):
            yield [self._of(block, columns) for block in run]

    def _of(self, block: Block, columns: Sequence[str]) -> Block:
        made = dict(zip(self.done.design.confidential, self.done.released(block).T, strict=True))
        return Block(block.start, {name: made.get(name, block.columns[name]) for name in columns})


def placed(A: Array, names: tuple[str, ...], among: tuple[str, ...]) -> Array:
    """Columns where they belong among others, which are zero."""
    if names == among:
        return A
    out = np.zeros((len(A), len(among)))
    out[:, [among.index(name) for name in names]] = A
    return out
