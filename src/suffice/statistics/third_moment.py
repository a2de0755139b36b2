"""Third moments of the confidential columns: squares and interactions among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.third_moments import ThirdMoments, triples
from suffice.rows.rows import Block
from suffice.statistics.standing import WHOLE_FILE, Pair
from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Fold, Look, Reference, Sums


@dataclass(frozen=True)
class ThirdSums(Sums):
    """Third moments of the confidential columns of a file, about the centre."""

    def before(self, reference: Reference) -> Look:
        design, centre = reference.design, reference.centre

        def of(block: Block) -> ThirdMoments:
            return ThirdMoments.of(design.values(block) - centre[design.m :], design.weights(block))

        return (yield Fold.by_block(of, design.columns))

    def after(self, known: ThirdMoments, reference: Reference) -> Look:
        return self.before(reference)


@dataclass(frozen=True)
class ThirdMoment(Statistic):
    """|m*_jkl - m_jkl| / (sd sd sd) for every three confidential columns, about one centre."""

    name: ClassVar = "third-moment"
    words: ClassVar = "third moments"
    weighted: ClassVar = True

    def sums(self, beside: Sequence[Promise]) -> Sums:
        return ThirdSums()

    def claim(self, promise: Promise, before: ThirdMoments, after: ThirdMoments, reference: Reference) -> Claim:
        whole = reference.known[WHOLE_FILE]
        pair, m, names = Pair.of(whole, whole, reference), reference.design.m, reference.design.confidential
        sd, lost, which = pair.sd[m:], pair.lost[m:], triples(len(names))
        with np.errstate(over="ignore"):
            errors = np.abs(after.mean - before.mean) / np.prod([sd[each] for each in which], axis=0)
        worst = np.max([lost[each] for each in which], axis=0)
        places = [", ".join(names[each] for each in three) for three in zip(*which, strict=True)]
        return Claim.worst(self.name, "third moments of the confidential columns", errors, worst, places)
