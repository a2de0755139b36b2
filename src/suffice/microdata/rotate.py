"""Random rotation of small groups of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Dealer
from suffice.algorithms.rotation.drift import corrected
from suffice.algorithms.rotation.kernel import kernel
from suffice.algorithms.rotation.likeness import Likeness
from suffice.algorithms.rotation.repair import repaired
from suffice.algorithms.rotation.stopping import Course, Target
from suffice.algorithms.rotation.turn import Chance
from suffice.algorithms.rotation.walk import Walk
from suffice.errors import UsageError
from suffice.method.masked import Masked
from suffice.method.parameter import Choice, Count, Number, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.progress import Progress
from suffice.seed import Stream


@dataclass(frozen=True)
class Rotate(Recordwise):
    """Turn small groups of records so that means, covariances, regressions, bounds and edits all stay.

    y*_G = H y_G,   H'H = I,   H x_G = x_G,   low <= y* <= high,   C y* <= c        for every group G

    H turns a random plane of the complement of the group's given columns by an angle drawn uniformly from those at
    which every limit of the group holds; sweep after sweep, in new groups.

    **Promises** means, covariances and every regression on the given columns; bounds and linear edits hold in every
    record. How far the records move is not promised: it is measured.

    sweeps: exactly so many, without a look at the original; none: until a target, or until the release follows the
        original no more than chance would or no longer comes closer to that.
    correlation: a target: no residual correlation with the original is above this.
    linkage: a target: no larger share of the records has its own released record as the nearest; 0: as chance would.
    groups: who meets whom; near changes the shapes of distributions least, far changes them most.
    zeros: cells of columns with many exact zeros stay zero, or turn like others.
    most: give up after so many sweeps.

    Langsrud (2019), (14)-(16), run as a Markov chain; Ting, Fienberg & Trottini (2008). See docs/proofs/rotate.md.

    >>> from suffice.seed import Seed
    >>> Y = np.random.default_rng(1).exponential(size=(30, 2))
    >>> records = Records(np.ones((30, 1)), Y, Y)
    >>> Ystar = Rotate(sweeps=20).mask(records, Seed.for_tests(1).derive("doctest")).Ystar
    >>> np.allclose(Ystar.sum(axis=0), Y.sum(axis=0)), np.allclose(Ystar.T @ Ystar, Y.T @ Y)
    (True, True)
    """

    keeps: ClassVar = ("mean", "covariance", "fit", "limits")
    references: ClassVar = (
        "Langsrud (2019), equations (14)-(16), as a Markov chain",
        "Ting, Fienberg & Trottini (2008)",
    )

    sweeps: int | None = parameter(Count(none="until the original is followed by chance only"), "how many", None)
    correlation: float | None = parameter(
        Number(0, 1, none="not a reason to stop"), "residual correlation with the original to stop at", None
    )
    linkage: float | None = parameter(
        Number(0, 1, none="not a reason to stop"),
        "share of records linked to their own to stop at; what chance links is always enough",
        None,
    )
    groups: Literal["random", "near", "far"] = parameter(
        Choice(("random", "near", "far")), "who meets whom: anyone, records alike, or records apart", "near"
    )
    zeros: Literal["kept", "free"] = parameter(
        Choice(("kept", "free")), "exact zeros of columns with many of them", "kept"
    )
    most: int = parameter(Count(), "sweeps after which to give up", 3000)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sweeps is not None and self._target.asked:
            raise UsageError("rotate: sweeps, or a correlation or linkage to stop at, not both.")

    @property
    def _target(self) -> Target:
        return Target(self.correlation, self.linkage)

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        walk = self.walk(records, stream, progress)
        return Masked(walk.Ystar, walk.remarks(), unmoved=walk.unmoved)

    def walk(self, records: Records, stream: Stream, progress: Progress | None = None) -> Walk:
        """The release, and what a reader of the certificate must know about the way to it."""
        ground, likeness = Constraints.of(records), Likeness.of(records)
        dealer = Dealer.of(records, self.groups, self.zeros)
        start, repairs = repaired(records.Y, ground, dealer, stream)
        Y, course = np.array(start, order="C"), self._course(likeness, stream)
        most = self.most if self.sweeps is None else self.sweeps
        reason = self._arrived(likeness, course, Y)
        while reason is None and course.sweeps < most:
            generator = stream.generator("sweep", course.sweeps + 1)
            groups = dealer.groups(Y, course.sweeps + 1, generator)
            kernel(len(Y))(Y, ground, groups, Chance.drawn(generator, ground, groups))
            course.note(likeness.canonical(Y))
            if progress is not None:
                progress("rotating", course.sweeps, most)
            reason = self._arrived(likeness, course, Y)
        if reason is None and self.sweeps is None:
            reason = "given up"
        Ystar, ratio = corrected(Y, records, ground)
        return Walk.of(Ystar, records, likeness, course, reason, repairs, ratio)

    def _course(self, likeness: Likeness, stream: Stream) -> Course:
        chance = 0 if self.sweeps is not None else likeness.chance(stream.generator("linked"))
        return Course(likeness.null(stream.generator("null")), chance)

    def _arrived(self, likeness: Likeness, course: Course, Y: Array) -> str | None:
        if self.sweeps is not None:
            return None
        if not self._target.asked:
            return course.reason(likeness, Y)
        return "the target is reached" if self._target.reached(likeness, course, Y) else None

    @classmethod
    def examples(cls) -> tuple[Rotate, ...]:
        return cls(), cls(sweeps=5), cls(sweeps=20, groups="near"), cls(correlation=0.5, groups="far"), cls(linkage=0.0)
