"""Methods at work on rows: each part of a request in turn, from the original to the answer that leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.design import Design
from suffice.engines.memory import MemoryRows
from suffice.errors import InfeasibleError
from suffice.limits import Limits
from suffice.method import Isometric, Method, Steps, Whole
from suffice.rows import Block, Rows
from suffice.seed import Stream
from suffice.solution import Draws, Frame, Joined, Solution, Supplied, Survey
from suffice.whole import masked, stored
from suffice.whole_numbers import WholeNumbers

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Work:
    """The original with what was learnt of it, and the random numbers of the release."""

    rows: Rows
    design: Design
    survey: Survey
    limits: Limits | None
    stream: Stream

    def done(self, method: Method, start: Rows | None) -> Done:
        """All parts of a method in order; `start`: the row-aligned data set that the first one was given."""
        parts = parts_of(method, self.design)
        held, unmoved = start, 0
        remarks: tuple[str, ...] = ()
        for number, part in enumerate(parts):
            stream = self.stream if len(parts) == 1 else self.stream.child(str(number))
            if isinstance(part, Whole):
                survey = self.survey if start is None else Frame(self.design, False).survey(self.rows)
                made = masked(self._beside(held), held is not None, self.design, survey, self.limits, part, stream)
                held, remarks, unmoved = made.rows, (*remarks, *made.remarks), made.unmoved
                continue
            assert isinstance(part, Isometric)
            solution = self._solved(part, held, stream, self.survey if number == 0 else None)
            if number == len(parts) - 1:
                return Done(self._beside(held), solution, (*remarks, *solution.remarks), unmoved)
            held, remarks = self._made(solution, held), (*remarks, *solution.remarks)
        solution = self._solved(Supplied(), held, self.stream)
        return Done(self._beside(held), solution, remarks, unmoved)

    def _beside(self, held: Rows | None) -> Rows:
        return self.rows if held is None else Joined(self.rows, held, self.design.confidential)

    def _solved(self, part: Isometric, held: Rows | None, stream: Stream, known: Survey | None = None) -> Solution:
        rows, frame = self._beside(held), Frame(self.design, held is not None)
        survey = frame.survey(rows) if known is None else known
        kept = self.rows.n if isinstance(self.rows, MemoryRows) else 0
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


@dataclass(frozen=True, repr=False)
class Done:
    """What a release is made of."""

    rows: Rows
    solution: Solution
    remarks: tuple[str, ...]
    unmoved: int


def parts_of(method: Method, design: Design) -> tuple[Method, ...]:
    """The steps of a method, and rounding at the end where columns hold whole numbers."""
    steps = method.steps if isinstance(method, Steps) else (method,)
    return (*steps, WholeNumbers(tuple(design.roles.integer))) if design.roles.integer else steps
