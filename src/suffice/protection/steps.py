"""Methods at work on rows: each step of a request in turn, from the original to the rows that leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.profile import Matrices, Profile, centre_of
from suffice.errors import InfeasibleError
from suffice.method.isometric import Isometric
from suffice.method.masked import MaskedColumns, finite
from suffice.method.method import Method
from suffice.method.recordwise import Recordwise
from suffice.method.rowwise import Rowwise
from suffice.method.steps import Steps
from suffice.method.synthetic import Synthetic
from suffice.protection.aligned import Looks
from suffice.protection.fold import NONE, Draws, coordinates, refined
from suffice.protection.protected import ReleasedColumns, Stratum
from suffice.protection.solution import Glimpse, RecordComparison, Regression, Solution
from suffice.rows.derived import ORIGINAL, Beside, Computation, aligned
from suffice.rows.rows import Rows, Run
from suffice.rows.spool import stored
from suffice.seed import Stream
from suffice.statistics.standing import Standing

SAMPLED = 5000
"""Rows whose residuals are kept whole, for the null of the canonical correlation."""


@dataclass(frozen=True, repr=False)
class Outcome:
    """All steps of a method done on one stratum: `rows` are the original with what `released` needs beside it."""

    stratum: Stratum
    rows: Rows
    released: ReleasedColumns
    original: Standing
    labels: Mapping[str, NDArray[np.int64]]
    """Columns that the method made."""


@dataclass(frozen=True, repr=False)
class Original:
    """Records that are protected together, with what was learnt of them, and the random numbers of the release."""

    rows: Rows
    design: Design
    profile: Profile
    limits: Limits | None
    stream: Stream
    finish: tuple[Recordwise, ...] = ()
    """Steps that the roles ask for behind those of the method: rounding, where columns hold whole numbers."""

    @property
    def centre(self) -> Array:
        """About which moments of [X Y] are compared."""
        return centre_of(self.design, self.profile.spread)[: self.design.m + self.design.k]

    def outcome(self, method: Method, start: Rows | None, looks: Looks, sampled: int) -> Outcome:
        """All steps of a method in order; `start`: the row-aligned data set that the first one is given."""
        steps = self._steps(method)
        some = self.stream.generator("sample").choice(self.rows.n, min(self.rows.n, sampled), replace=False)
        held, known, unmoved, anew = start, None, 0, False
        labels: dict[str, NDArray[np.int64]] = {}
        remarks: tuple[str, ...] = ()
        makes, facts = "", dict[str, Any]()
        for number, step in enumerate(steps):
            makes = step.makes(makes)
            stream = self.stream if len(steps) == 1 else self.stream.child(str(number))
            if isinstance(step, Recordwise):
                from suffice.protection.super_blocks import masked

                own = self._alone(start)
                made = masked(self.rows, self._beside(held), self.design, own.profile, self.limits, step, stream)
                held, known, remarks = made.rows, made.regression, (*remarks, *made.remarks)
                if not step.finishing:  # what is rounded has not moved
                    labels, anew, unmoved = dict(made.labels), made.anew, made.unmoved
                continue
            if isinstance(step, Rowwise | Synthetic):
                source = self.rows if held is None else self.rows.with_columns(self._besides(held))
                given = (
                    step.columns(source, self.design, stream) if isinstance(step, Rowwise) else self._new(step, stream)
                )
                columns = MaskedColumns(given) if isinstance(given, Mapping) else given
                held, labels, remarks = source.with_columns(columns.columns), {}, (*remarks, *columns.remarks)
                anew, facts = columns.anew, dict(columns.facts)
                makes = columns.makes if number == 0 else makes
                continue
            assert isinstance(step, Isometric)
            anew = False  # a formula looks at the original again
            labels = {}  # what the groups of an earlier step keep is lost, and so they do not leave
            solution = self._solution(step, held, stream, self.profile if number == 0 else None)
            remarks = (*remarks, *solution.remarks)
            if number == len(steps) - 1:
                found = self._mapped(solution, self._beside(held), looks, some)
                return replace(
                    found, stratum=replace(found.stratum, remarks=remarks, unmoved=unmoved, makes=makes, facts=facts)
                )
            held = self._stored(solution, self._beside(held))
        assert held is not None
        found = self._compared(held, known or self._alone(start).regression(), looks, some)
        stratum = replace(found.stratum, remarks=remarks, unmoved=unmoved, anew=anew, makes=makes, facts=facts)
        return replace(found, labels=labels, stratum=stratum)

    def learnt(self) -> tuple[Stratum, Standing]:
        """The records as they are, and what a certificate compares with: nothing is released of them."""
        known = self.regression()
        E = known.residuals()
        none = Glimpse({}, np.empty((0, known.isometry.R.shape[1])))
        return _stratum(known, E, np.zeros_like(E), (E[:0], E[:0]), none), known.original

    def regression(self) -> Regression:
        """The small factor of the original."""
        matrices, spread = Matrices(self.design, False), self.profile.spread
        basis = coordinates(self.rows, matrices, self.profile, NONE)
        return Regression(matrices, self.profile, *refined(self.rows, matrices, basis, NONE, spread, times=2))

    def _new(self, step: Synthetic, stream: Stream) -> MaskedColumns:
        """Records that were drawn, as many as there are, dealt to the rows; or each in the place of its own."""
        names, model = self.design.confidential, step.learn(self.rows, self.design)
        values = finite(
            step.draw(*self.learnt()[0].moments, model, self.rows.n, stream), (self.rows.n, len(names)), step.name
        )
        made, said = dict(zip(names, values.T.copy(), strict=True)), step.said(model, self.design)
        return MaskedColumns(made, said, "masked" if step.aligned else "synthetic", not step.aligned)

    def _steps(self, method: Method) -> tuple[Method, ...]:
        steps = method.steps if isinstance(method, Steps) else (method,)
        return (*steps, *self.finish) if self.design.roles.integer else steps

    def _beside(self, held: Rows | None) -> Rows:
        return self.rows if held is None else aligned(self.rows, held, self.design.confidential)

    def _alone(self, start: Rows | None) -> Original:
        """The same, with a profile of the original by itself, where that was learnt beside another data set."""
        return self if start is None else replace(self, profile=Matrices(self.design, False).profile(self.rows))

    def _besides(self, held: Rows) -> dict[str, Beside]:
        """What the step before has made, in place of the original, which stands beside it."""
        names = self.design.confidential
        own = {ORIGINAL + name: Beside(self.rows, name) for name in names}
        return {**own, **{name: Beside(held, name) for name in names}}

    def _solution(self, step: Isometric, held: Rows | None, stream: Stream, profile: Profile | None) -> Solution:
        rows, matrices = self._beside(held), Matrices(self.design, held is not None)
        draws = Draws(stream, step.draws(self.design.k), self.rows.n if self.rows.held else 0)
        try:
            return Solution.find(rows, matrices, profile or matrices.profile(rows), step, draws)
        except InfeasibleError as problem:
            named = getattr(problem, "named", None)  # a method knows columns by position only
            raise (named(self.design.confidential) if named else problem) from None

    def _mapped(self, solution: Solution, rows: Rows, looks: Looks, some: NDArray[np.int64]) -> Outcome:
        """The answer of a formula carried to the rows, and looked at; kept where the rows are in memory."""
        known, names = solution.regression, self.design.confidential
        Ystar = solution.draws.place_of(rows.n, self.design.k) if self.rows.held else None
        glimpse = solution.map(rows, looks, some, Ystar)
        computed = Computation(known.matrices.columns, solution.released, names, solution.draws.stream)
        stratum = _stratum(known, solution.E, solution.Estar, solution.sample(glimpse), glimpse)
        return Outcome(stratum, rows, ReleasedColumns(names, computed if Ystar is None else Ystar), known.original, {})

    def _compared(self, held: Rows, known: Regression, looks: Looks, some: NDArray[np.int64]) -> Outcome:
        """Rows that a method made record by record, looked at."""
        found = RecordComparison.of(self._beside(held), known, looks, some)
        stratum = _stratum(known, found.E, found.Estar, found.sample(), found.glimpse)
        return Outcome(stratum, self.rows, ReleasedColumns(self.design.confidential, held), found.original, {})

    def _stored(self, solution: Solution, rows: Rows) -> Rows:
        """The rows of one step, for the next one to start from."""

        def of(run: Run) -> Array:
            return np.vstack([solution.released(block) for block in run])

        columns = solution.regression.matrices.columns
        return stored(rows, rows.map(of, columns, "mapping", solution.draws.stream), self.design.confidential)


def _stratum(known: Regression, E: Array, Estar: Array, sample: tuple[Array, Array], glimpse: Glimpse) -> Stratum:
    design, isometry = known.design, known.isometry
    given = isometry.columns(range(design.m))
    spread = known.profile.spread.columns(known.confidential)
    pivots, seen = tuple(isometry.pivots), glimpse.seen
    return Stratum(design, spread, known.profile.effective, known.rank, pivots, given, E, Estar, sample, seen)
