"""Third moments of the confidential columns: squares and interactions among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.third_moments import ThirdMoments, triples
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim, Statistic

if TYPE_CHECKING:
    from suffice.design.design import Design
    from suffice.rows.rows import Block, Rows


class ThirdMoment(Statistic):
    """|m*_jkl - m_jkl| / (sd sd sd) for every three confidential columns, about one centre."""

    name = "third-moment"

    def claim(self, pair: Pair) -> Claim:
        assert pair.third is not None
        m, names = len(pair.given), pair.confidential
        sd, lost, which = pair.sd[m:], pair.lost[m:], triples(len(names))
        with np.errstate(over="ignore"):
            errors = np.abs(pair.third[1].mean - pair.third[0].mean) / np.prod([sd[each] for each in which], axis=0)
        worst = np.max([lost[each] for each in which], axis=0)
        places = [", ".join(names[each] for each in three) for three in zip(*which, strict=True)]
        return Claim.worst(self.name, "third moments of the confidential columns", errors, worst, places)


def third_moments(rows: Rows, design: Design, centre: Array) -> ThirdMoments:
    """Of the confidential columns of a file, about a centre of [X Y]: a pass of their own, where they are promised."""

    def of(block: Block) -> ThirdMoments:
        return ThirdMoments.of((design.matrix(block) - centre)[:, design.m :], design.weights(block))

    return rows.fold(of, design.columns, "certifying")
