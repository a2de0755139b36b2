"""Methods at work on rows: each step of a request in turn, from the original to the rows that leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.profile import Matrices, Profile
from suffice.errors import InfeasibleError
from suffice.method.isometric import Isometric
from suffice.method.method import Method
from suffice.method.recordwise import Recordwise
from suffice.method.steps import Steps
from suffice.protection.fold import Draws
from suffice.protection.protected import SAMPLED, Protected, Solved, Stratum
from suffice.protection.solution import Solution, Supplied
from suffice.protection.super_blocks import masked, stored
from suffice.protection.watch import Watch
from suffice.rows.derived import Joined
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Block, Rows
from suffice.seed import Stream


@dataclass(frozen=True, repr=False)
class Original:
    """The original with what was learnt of it, and the random numbers of the release."""

    rows: Rows
    design: Design
    profile: Profile
    limits: Limits | None
    stream: Stream
    finish: tuple[Recordwise, ...] = ()
    """Steps that the roles ask for behind those of the method: rounding, where columns hold whole numbers."""

    def done(self, method: Method, start: Rows | None) -> Protected:
        """All records protected together; `start`: the row-aligned data set that the first step was given."""
        solved = self.solved(method, start)
        rows, solution = solved.rows, solved.solution
        Ystar = solution.draws.room_for(rows.n, self.design.k) if isinstance(self.rows, ArrayRows) else None
        watch = self.mapped(rows, solution, method.independent, Ystar, SAMPLED)
        piece = Stratum(solution, watch, solved.unmoved, solved.remarks)
        centre = solution.isometry.basis.centre[: self.design.m + self.design.k]
        return Protected(
            rows,
            solution.matrices.columns,
            solution.released,
            (piece,),
            Ystar,
            self.design,
            self.profile,
            self.stream,
            centre,
            solution.original,
            watch,
            solved.labels,
        )

    def solved(self, method: Method, start: Rows | None) -> Solved:
        """All steps of a method in order."""
        parts = self._parts(method)
        held, unmoved = start, 0
        labels: dict[str, NDArray[np.int64]] = {}
        remarks: tuple[str, ...] = ()
        for number, part in enumerate(parts):
            stream = self.stream if len(parts) == 1 else self.stream.child(str(number))
            if isinstance(part, Recordwise):
                profile = self.profile if start is None else Matrices(self.design, False).profile(self.rows)
                made = masked(self._beside(held), held is not None, self.design, profile, self.limits, part, stream)
                held, remarks, unmoved = made.rows, (*remarks, *made.remarks), made.unmoved
                labels = labels if part.finishing else dict(made.labels)
                continue
            assert isinstance(part, Isometric)
            labels = {}  # what the groups of an earlier step keep is lost, and so they do not leave
            solution = self._solved(part, held, stream, self.profile if number == 0 else None)
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

        watch = reduce(add, rows.map(of, solution.matrices.columns, "mapping"))
        solution.draws.forget()
        return watch

    def _parts(self, method: Method) -> tuple[Method, ...]:
        steps = method.steps if isinstance(method, Steps) else (method,)
        return (*steps, *self.finish) if self.design.roles.integer else steps

    def _beside(self, held: Rows | None) -> Rows:
        return self.rows if held is None else Joined(self.rows, held, self.design.confidential)

    def _solved(self, part: Isometric, held: Rows | None, stream: Stream, known: Profile | None = None) -> Solution:
        rows, matrices = self._beside(held), Matrices(self.design, held is not None)
        profile = matrices.profile(rows) if known is None else known
        kept = self.rows.n if isinstance(self.rows, ArrayRows) else 0
        draws = Draws(stream, part.draws(self.design.k), kept)
        try:
            return Solution.find(rows, matrices, profile, part, draws)
        except InfeasibleError as problem:
            named = getattr(problem, "named", None)  # a method knows columns by position only
            raise (named(self.design.confidential) if named else problem) from None

    def _made(self, solution: Solution, held: Rows | None) -> Rows:
        """The rows of one part, for the next one to start from."""

        def of(run: Sequence[Block]) -> Array:
            return np.vstack([solution.released(block) for block in run])

        values = self._beside(held).map(of, solution.matrices.columns, "mapping")
        return stored(self.rows, values, self.design.confidential)
