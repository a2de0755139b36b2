"""Random rotation of small groups of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algorithms.rotation.column_sums import ColumnSums
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Dealer
from suffice.algorithms.rotation.densities import Densities
from suffice.algorithms.rotation.drift import corrected
from suffice.algorithms.rotation.heaps import with_heaps
from suffice.algorithms.rotation.kernel import kernel
from suffice.algorithms.rotation.likeness import Likeness
from suffice.algorithms.rotation.repair import repaired
from suffice.algorithms.rotation.start import FOLLOWED, start
from suffice.algorithms.rotation.stopping import (
    AGAIN,
    DRAWN,
    DRAWN_GIVEN,
    FEW_CELLS,
    FIRST,
    INSIDE,
    LARGE,
    LARGE_FIRST,
    LONG,
    TURNED,
    Schedule,
    Target,
    follows,
    turned,
)
from suffice.algorithms.rotation.turn import Chance
from suffice.algorithms.rotation.walk import Walk, unmoved
from suffice.errors import InfeasibleError, UsageError
from suffice.method.masked import Masked
from suffice.method.parameter import Choice, Count, Number, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.progress import Progress
from suffice.seed import Stream

GIVEN_UP, ANEW = "given up", "from records drawn anew"
PATIENCE = 20
"""Sweeps in which no record leaves where it was, after which those that are left there are not waited for."""


@dataclass(frozen=True)
class Rotate(Recordwise):
    """Turn small groups of records so that means, covariances, regressions, bounds and edits all stay.

    y*_G = H y_G,   H'H = I,   H x_G = x_G,   low <= y* <= high,   C y* <= c        for every group G

    H turns a random plane of the complement of the group's given columns, by an angle drawn from a law on the circle
    that this makes; sweep after sweep, in new groups. The law is that of the columns, smoothed: what is released is
    as likely as new records with these columns, given the statistics and limits that are kept.

    **Promises** means, covariances and every regression on the given columns; bounds and linear edits hold in every
    record. Shapes and how far the records move are not promised: they are measured.

    shape: the law: "copula", the columns' densities and how they go together; "marginals", the densities alone;
        "uniform", all that the limits allow.
    sweeps: so many, and more only while a record stands where it was and others still leave; none: 200, of records
        that are drawn anew (where columns are given and groups have more than twelve cells, until they have turned far
        enough, at most 600).
    correlation: a target: no residual correlation with the original is above this.
    linkage: a target: no larger share of the records has its own released record as the nearest; 0: as chance would.
    groups: who meets whom: "given", anyone, records alike in the given columns, and records about as far out in a
        column; "random", anyone. With "near" and "far", records alike and apart in all columns meet while the walk
        leaves its start (or until a target is reached), and then "given"; where columns are given and groups have
        more than twelve cells, or sweeps are fixed, "given" leaves its start with "near".
    zeros: cells of columns with many exact zeros stay zero, or turn like others.
    most: give up after so many sweeps.

    Langsrud (2019), (14)-(16), run as a Markov chain; Ting, Fienberg & Trottini (2008); Murray, Adams & MacKay (2010).
    See docs/proofs/rotate.md.

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
        "Murray, Adams & MacKay (2010), elliptical slice sampling",
    )

    sweeps: int | None = parameter(Count(none="200, of records drawn anew"), "how many", None)
    correlation: float | None = parameter(
        Number(0, 1, none="not a reason to stop"), "residual correlation with the original to stop at", None
    )
    linkage: float | None = parameter(
        Number(0, 1, none="not a reason to stop"),
        "share of records linked to their own to stop at; what chance links is always enough",
        None,
    )
    groups: Literal["given", "random", "near", "far"] = parameter(
        Choice(("given", "random", "near", "far")),
        "who meets whom: by the given columns, anyone, or at first records alike, or apart",
        "given",
    )
    zeros: Literal["kept", "free"] = parameter(
        Choice(("kept", "free")), "exact zeros of columns with many of them", "kept"
    )
    most: int = parameter(Count(), "sweeps after which to give up", 3000)
    shape: Literal["copula", "marginals", "uniform"] = parameter(
        Choice(("copula", "marginals", "uniform")),
        "the law: of the columns together, of each column, or all that the limits allow",
        "copula",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sweeps is not None and self._target.asked:
            raise UsageError("rotate: sweeps, or a correlation or linkage to stop at, not both.")

    @property
    def shapes(self) -> bool:  # type: ignore[override]
        """Under a law; whether records were drawn anew is a matter of luck, and a short walk hands giants on."""
        return self.shape != "uniform"

    @property
    def _target(self) -> Target:
        return Target(self.correlation, self.linkage)

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        walk = self.walk(records, stream, progress)
        return Masked(walk.Ystar, walk.remarks(), unmoved=walk.unmoved, anew=walk.reason == ANEW)

    def walk(self, records: Records, stream: Stream, progress: Progress | None = None) -> Walk:
        """The release, and what a reader of the certificate must know about the way to it."""
        known = records.learnt or self.learn(lambda: iter([records]), records.n)
        ground, likeness, law = self._ground(records, known), Likeness.of(records), known.law
        dealer, null = Dealer.of(records, self.groups, self.zeros), likeness.null(stream.generator("null"))
        anew = self._unasked(records) and bool(np.array_equal(records.Y, records.original))
        sums = self._sums(records, ground, law) if anew else None
        drawn = self._drawn(records, ground, dealer, law, sums, stream, progress) if anew else None
        first, repairs = drawn or repaired(records.Y, ground, dealer, stream, progress=progress)
        sums = sums if drawn else None  # the original has its own sums, and they would hold a walk back there
        again = not anew and self._unasked(records)  # a large file's records, walked and dealt anew
        schedule = Schedule.of(self._leaves(records) and drawn is None and not again, self.sweeps)
        walker = _Walker(np.array(first, order="C"), ground, dealer, law, sums, schedule, stream, progress)
        if self._target.asked and self.groups in ("near", "far"):
            walker.dealer = dealer
        if drawn is None:
            reason, course = self._walked(walker, records, likeness) if not again else walker.mixed(self.most)
            if self.sweeps != 0:
                walker.until_all_moved(records.original)
        else:
            reason, course = self._settled(walker, records, likeness.sizes), ()
        if progress is not None:
            progress("rotating", walker.sweeps, walker.sweeps)  # a target may be reached long before the last one
        Ystar, ratio = corrected(walker.Y, records, ground)
        sweeps = (walker.sweeps, min(walker.sweeps, schedule.before), repairs)
        walk = Walk.of(Ystar, records, likeness, null, sweeps, course, reason, ratio)
        if not self._unasked(records):
            return walk
        walk = replace(walk, outside=anew and drawn is None)
        Ystar, ratio = with_heaps(Ystar, ratio, records, ground, law)
        return replace(walk, Ystar=Ystar, ratio=ratio)  # who did not move was counted before: heaps meet

    def learn(self, parts: Callable[[], Iterator[Records]], n: int) -> _Knowledge:
        """The law, and which columns are never negative."""
        k, never = 0, np.array(True)
        for part in parts():
            limits, k = part.limits, part.Y.shape[1]
            never = never & (part.original.min(axis=0) >= 0)
        low, high = (np.full(k, -np.inf), np.full(k, np.inf)) if limits is None else (limits.low, limits.high)
        return _Knowledge(
            Densities.of_parts(lambda: (part.original for part in parts()), n, low, high, self.shape, self.zeros), never
        )

    def _ground(self, records: Records, known: _Knowledge) -> Constraints:
        """What is never negative is not, whether or not a bound is asked for, where records are as new ones."""
        ground = Constraints.of(records)
        if not self._unasked(records):
            return ground
        return replace(ground, low=np.where(known.never, np.maximum(ground.low, 0.0), ground.low))

    def _unasked(self, records: Records) -> bool:
        """Whether records are drawn, and heaps given back; not with a fixed number of sweeps, a target, groups of one's
        own, no law, or behind another step."""
        asked = self.sweeps is not None or self._target.asked or self.groups in ("near", "far")
        return not asked and self.shape != "uniform" and not records.started

    def _sums(self, records: Records, ground: Constraints, law: Densities) -> ColumnSums | None:
        """Those of a large file come out near enough."""
        if records.n >= LARGE:
            return None
        return ColumnSums.of(records.original, law, records.w, ground.plain or self._few(records))

    def _drawn(
        self,
        records: Records,
        ground: Constraints,
        dealer: Dealer,
        law: Densities,
        sums: ColumnSums | None,
        stream: Stream,
        progress: Progress | None,
    ) -> tuple[Array, int] | None:
        """Records to start from that have nothing of the original's, inside the limits, and the sweeps that this took;
        None where none comes inside."""
        strata = dealer.pools[0].strata
        for number, followed in enumerate(FOLLOWED if records.X.shape[1] > 1 else FOLLOWED[:1]):
            made = start(records, ground, law, sums, strata, stream.generator("start", number), followed)
            with suppress(InfeasibleError):
                return None if made is None else repaired(made, ground, dealer, stream, INSIDE, progress, still=True)
        return None

    def _settled(self, walker: _Walker, records: Records, sizes: Array) -> str:
        """Sweeps under the law, of records that were drawn from it nearly.

        sizes: sums of squared residuals.
        """
        if records.X.shape[1] == 1 or records.n >= LARGE or self._few(records):
            for _ in range(all_ := min(DRAWN, self.most)):
                walker.sweep(all_)
            return ANEW
        open_, path = sizes > 0, np.zeros(len(sizes))
        while walker.sweeps < min(DRAWN_GIVEN, self.most) and not np.median(path[open_]) >= TURNED:
            before = walker.Y.copy()
            walker.sweep(min(DRAWN_GIVEN, self.most))
            path[open_] += turned(walker.ground.root, before, walker.Y)[open_] / sizes[open_]
        return ANEW

    @staticmethod
    def _few(records: Records) -> bool:
        """Whether groups have few cells."""
        return bool((records.X.shape[1] + 2) * records.Y.shape[1] <= FEW_CELLS)

    def _leaves(self, records: Records) -> bool:
        """Whether the first sweeps have a law that counts little, and groups of records alike or apart."""
        few = self.sweeps is None and self._few(records)
        given = self.groups == "given" and records.X.shape[1] > 1 and not few
        return not self._target.asked and (given or self.groups in ("near", "far"))

    def _walked(self, walker: _Walker, records: Records, likeness: Likeness) -> tuple[str | None, tuple[float, ...]]:
        """Why the walk ended, and its course."""
        if self.sweeps is not None:
            course = []
            while walker.sweeps < self.sweeps:
                walker.sweep(self.sweeps)
                course.append(likeness.canonical(walker.Y))
            return None, tuple(course)
        if self._target.asked:
            chance = likeness.chance(walker.stream.generator("linked"))
            while not self._target.reached(likeness, chance, walker.Y):
                if walker.sweeps == self.most:
                    return GIVEN_UP, ()
                walker.sweep(self.most, sure=False)
            return "the target is reached", ()
        if walker.schedule.before or (self.groups == "given" and records.X.shape[1] > 1):
            all_ = LONG if records.n < LARGE else walker.schedule.before + FIRST
            while walker.sweeps < min(all_, self.most):
                walker.sweep(all_)
            return (GIVEN_UP if walker.sweeps < all_ else None), ()
        length = FIRST if records.n < LARGE else LARGE_FIRST
        while True:
            while walker.sweeps < min(length // 2, self.most):
                walker.sweep(length)
            earlier = replace(records, original=walker.Y.copy())
            while walker.sweeps < min(length, self.most):
                walker.sweep(length)
            if not follows(Likeness.of(earlier), walker.Y, walker.stream.generator("follows", length)):
                return "it no longer follows itself", ()
            if walker.sweeps >= self.most:
                return GIVEN_UP, ()
            length *= 2

    @classmethod
    def examples(cls) -> tuple[Rotate, ...]:
        few = cls(sweeps=5, shape="uniform"), cls(sweeps=20, groups="near"), cls(sweeps=9, shape="marginals")
        return cls(), *few, cls(correlation=0.5, groups="far"), cls(linkage=0.0)


@dataclass(frozen=True, repr=False)
class _Knowledge:
    """What a walk knows of the whole file, whichever of its records it turns.

    never: columns in which no value is negative.
    """

    law: Densities
    never: Flags


class _Walker:
    """The state of a walk, sweep by sweep."""

    def __init__(
        self,
        Y: Array,
        ground: Constraints,
        dealer: Dealer,
        law: Densities,
        sums: ColumnSums | None,
        schedule: Schedule,
        stream: Stream,
        progress: Progress | None,
    ) -> None:
        self.Y, self.ground, self.law, self.sums, self.schedule = Y, ground, law, sums, schedule
        self.apart, self.known = np.zeros(0) if sums is None else sums.apart(Y), np.full(len(Y), np.nan)
        self.stream, self.progress, self.sweeps = stream, progress, 0
        self.dealer = replace(dealer, kind="random" if dealer.kind == "random" else "given")
        self.first = replace(dealer, kind="near") if dealer.kind == "given" else dealer

    def mixed(self, most: int) -> tuple[str, tuple[float, ...]]:
        """Sweeps of records that come from several walks, each of which has left its start."""
        while self.sweeps < min(AGAIN, most):
            self.sweep(AGAIN)
        return "dealt anew", ()

    def until_all_moved(self, original: Array) -> None:
        """Sweeps while some records have never moved, for as long as that becomes fewer."""
        still, waited = len(unmoved(original, self.Y)), 0
        while still and waited < PATIENCE:
            self.sweep(self.sweeps + 1, sure=False)
            fewer = len(unmoved(original, self.Y))
            still, waited = min(still, fewer), 0 if fewer < still else waited + 1

    def sweep(self, most: int, sure: bool = True) -> None:
        """One more, of so many, or if that is not sure of at most so many."""
        self.sweeps += 1
        generator = self.stream.generator("sweep", self.sweeps)
        dealer = self.first if self.sweeps <= self.schedule.before else self.dealer
        ground = self.ground
        if dealer.kind == "given" and self.sweeps // 2 % 2:
            groups, column, cuts = dealer.classes(self.Y, self.sweeps, generator)
            ground = ground.between(self.Y[:, column], column, cuts)
        else:
            groups = dealer.groups(self.Y, self.sweeps, generator)
        chance = Chance.drawn(generator, ground, groups, self.schedule.weight(self.sweeps))
        before = None if self.sums is None else self.Y.copy()
        turn = kernel(len(self.Y), 1 + (most - self.sweeps if sure else 0))
        turn(self.Y, ground, self.law, groups, chance, self.known)
        if self.sums is not None and before is not None:
            self.apart = self.sums.accepted(self.Y, before, groups, self.apart, generator, self.known)
        if self.progress is not None:
            self.progress("rotating", self.sweeps, most)
