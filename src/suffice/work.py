"""Methods at work on rows: each step of a request in turn, from the original to the rows that leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.design import Design
from suffice.engines.memory import Columns
from suffice.errors import InfeasibleError
from suffice.folding import Draws
from suffice.joined import Joined
from suffice.level import Level
from suffice.level import levels_of as levels
from suffice.limits import Limits
from suffice.method import Isometric, Method, Steps, Whole
from suffice.order import shuffled
from suffice.rows import Block, Rows
from suffice.seed import Stream
from suffice.solution import Solution, Supplied
from suffice.statistic import Standing
from suffice.survey import Frame, Survey
from suffice.watch import Watch
from suffice.whole import masked, stored
from suffice.whole_numbers import WholeNumbers

Array = NDArray[np.float64]


SAMPLED = 5000
"""Rows whose residuals are kept whole, for the null of the canonical correlation."""


@dataclass(frozen=True, repr=False)
class Piece:
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
class Done:
    """What a release is made of: `released` gives Y* of a block of `rows` that holds `columns`."""

    rows: Rows
    columns: tuple[str, ...]
    released: Callable[[Block], Array]
    pieces: tuple[Piece, ...]
    Ystar: Array | None
    """All of it, where the rows are in memory."""
    design: Design
    survey: Survey
    stream: Stream
    centre: Array
    original: Standing
    """What the certificate compares with, about the centre."""
    watch: Watch
    levels: tuple[Level, ...] = ()
    """Groups in which statistics are kept."""
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

    def __init__(self, done: Done) -> None:
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


@dataclass(frozen=True, repr=False)
class Work:
    """The original with what was learnt of it, and the random numbers of the release."""

    rows: Rows
    design: Design
    survey: Survey
    limits: Limits | None
    stream: Stream

    def done(self, method: Method, start: Rows | None) -> Done:
        """All records protected together; `start`: the row-aligned data set that the first step was given."""
        solved = self.solved(method, start)
        rows, solution = solved.rows, solved.solution
        Ystar = solution.draws.room_for(rows.n, self.design.k) if isinstance(self.rows, Columns) else None
        watch = self.mapped(rows, solution, method.independent, Ystar, SAMPLED)
        piece = Piece(solution, watch, solved.unmoved, solved.remarks)
        centre = solution.isometry.basis.centre[: self.design.m + self.design.k]
        return Done(
            rows,
            solution.frame.columns,
            solution.released,
            (piece,),
            Ystar,
            self.design,
            self.survey,
            self.stream,
            centre,
            solution.original,
            watch,
            levels_of(method, self.design),
            solved.labels,
        )

    def solved(self, method: Method, start: Rows | None) -> Solved:
        """All steps of a method in order."""
        parts = parts_of(method, self.design)
        held, unmoved = start, 0
        labels: dict[str, NDArray[np.int64]] = {}
        remarks: tuple[str, ...] = ()
        for number, part in enumerate(parts):
            stream = self.stream if len(parts) == 1 else self.stream.child(str(number))
            if isinstance(part, Whole):
                survey = self.survey if start is None else Frame(self.design, False).survey(self.rows)
                made = masked(self._beside(held), held is not None, self.design, survey, self.limits, part, stream)
                held, remarks, unmoved = made.rows, (*remarks, *made.remarks), made.unmoved
                labels = labels if isinstance(part, WholeNumbers) else dict(made.labels)
                continue
            assert isinstance(part, Isometric)
            labels = {}  # what the groups of an earlier step keep is lost, and so they do not leave
            solution = self._solved(part, held, stream, self.survey if number == 0 else None)
            if number == len(parts) - 1:
                return Solved(self._beside(held), solution, (*remarks, *solution.remarks), unmoved, labels)
            held, remarks = self._made(solution, held), (*remarks, *solution.remarks)
        solution = self._solved(Supplied(), held, self.stream)
        return Solved(self._beside(held), solution, remarks, unmoved, labels)

    def mapped(self, rows: Rows, solution: Solution, independent: bool, Ystar: Array | None, sampled: int) -> Watch:
        """All rows released and watched; the values are kept where there is room for them."""
        some = self.stream.generator("sample").choice(rows.n, min(rows.n, sampled), replace=False)
        watching = solution.watching(some, independent)

        def of(run: Sequence[Block]) -> Watch:
            found = []
            for block in run:
                values, watch = watching(block)
                found.append(watch)
                if Ystar is not None:
                    Ystar[block.start : block.start + len(block)] = values
            return reduce(add, found)

        watch = reduce(add, rows.map(of, solution.frame.columns, "mapping"))
        solution.draws.forget()
        return watch

    def _beside(self, held: Rows | None) -> Rows:
        return self.rows if held is None else Joined(self.rows, held, self.design.confidential)

    def _solved(self, part: Isometric, held: Rows | None, stream: Stream, known: Survey | None = None) -> Solution:
        rows, frame = self._beside(held), Frame(self.design, held is not None)
        survey = frame.survey(rows) if known is None else known
        kept = self.rows.n if isinstance(self.rows, Columns) else 0
        draws = Draws(stream, part.draws(self.design.k), kept)
        try:
            return Solution.find(rows, frame, survey, part, draws)
        except InfeasibleError as problem:
            named = getattr(problem, "named", None)  # a method knows columns by position only
            raise (named(self.design.confidential) if named else problem) from None

    def _made(self, solution: Solution, held: Rows | None) -> Rows:
        """The rows of one part, for the next one to start from."""

        def of(run: Sequence[Block]) -> Array:
            return np.vstack([solution.released(block) for block in run])

        values = self._beside(held).map(of, solution.frame.columns, "mapping")
        return stored(self.rows, values, self.design.confidential)


def levels_of(method: Method, design: Design) -> tuple[Level, ...]:
    """What is kept in which groups: in those asked for, in the levels of an absorbed factor, in the method's own."""
    return (*levels(design, method.promises), *method.levels(design))


def placed(A: Array, names: tuple[str, ...], among: tuple[str, ...]) -> Array:
    """Columns where they belong among others, which are zero."""
    if names == among:
        return A
    out = np.zeros((len(A), len(among)))
    out[:, [among.index(name) for name in names]] = A
    return out


def parts_of(method: Method, design: Design) -> tuple[Method, ...]:
    """The steps of a method, and rounding at the end where columns hold whole numbers."""
    steps = method.steps if isinstance(method, Steps) else (method,)
    return (*steps, WholeNumbers(tuple(design.roles.integer))) if design.roles.integer else steps
