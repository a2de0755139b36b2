"""Post-masking optimisation: masked records that climb towards the moments of the original."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from time import monotonic
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algorithms.climbing import ClimbTarget, climbed
from suffice.method.masked import Masked
from suffice.method.parameter import Choice, Count, Number, Switch, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.progress import Progress
from suffice.seed import Stream


@dataclass(frozen=True)
class Optimise(Recordwise):
    """Move the records of a masked file, batch by batch, towards the moments of the original.

    Y* <- Y* + t D,   D where |m(Y*) - m(Y)|^2 + |S(Y*) - S(Y)|^2 falls

    **Promises** nothing exactly: `Restore` reaches means and covariances at once, to the last digit. This can climb to
    higher moments and quantiles, keeps bounds and edits that held, and takes a batch only where neither distance nor
    rank linkage (of up to 2,000 records) is higher than at the start.

    It starts from what the step before has made: `method.then(Optimise())`. Alone, it starts from random records.

    batches: of records drawn at random, that are tried, at most
    moments: those of each column up to this order; covariances always
    quantiles: 5 (5) 95 % too
    seconds: a limit of time, at which the best so far is released. Then the machine decides beside the key.

    Sebe, Domingo-Ferrer, Mateo-Sanz & Torra (2002); ESSnet (2009), 1.5.

    >>> from suffice.seed import Seed
    >>> Y, start = np.random.default_rng(1).normal(size=(2, 200, 2))
    >>> Ystar = Optimise().mask(Records(np.ones((200, 1)), start, Y), Seed.for_tests(3).derive()).Ystar
    >>> bool(np.abs(np.cov(Ystar.T) - np.cov(Y.T)).max() < 0.1 * np.abs(np.cov(start.T) - np.cov(Y.T)).max())
    True
    """

    references: ClassVar = ("Sebe, Domingo-Ferrer, Mateo-Sanz & Torra (2002)", "ESSnet (2009), section 1.5")

    batches: int = parameter(Count(low=1), "batches that are tried, at most", 300)
    moments: str = parameter(Choice(("two", "three", "four")), "moments of each column up to this order", "two")
    quantiles: bool = parameter(Switch(), "quantiles at 5 (5) 95 % too", False)
    seconds: float | None = parameter(Number(0, closed=False, none="no limit"), "limit of time", None)

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        draws, Y, start, begun = stream.generator("climb"), records.original, records.Y, monotonic()
        alone = np.array_equal(start, Y)
        if alone:  # nothing has masked it: random records, so that nothing is carried over
            start = Y.mean(axis=0) + Y.std(axis=0) * draws.standard_normal(Y.shape)

        def going(number: int) -> bool:
            if progress is not None:
                progress("climbing", number, self.batches)
            return self.seconds is None or monotonic() - begun < self.seconds

        def broken(moved: Array) -> Flags:
            return np.zeros(len(moved), dtype=bool) if records.limits is None else records.limits.broken(moved)

        power = {"two": 2, "three": 3, "four": 4}[self.moments]
        target = ClimbTarget.of(Y, power, self.quantiles)
        Ystar, taken, (before, after) = climbed(Y, start, target, self.batches, draws, broken, going)
        Ystar[:, Y.std(axis=0) == 0] = Y[:, Y.std(axis=0) == 0]
        left = sqrt(after / before) if before > 0 else 0.0
        return Masked(Ystar, (f"optimise: {left:.2g} of the difference in moments is left after {taken} batches.",))

    @classmethod
    def examples(cls) -> tuple[Optimise, ...]:
        return cls(batches=40), cls(batches=40, moments="four", quantiles=True)
