"""What several releases of the same records keep, taken together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from suffice.design.design import Design
from suffice.design.formula import parse
from suffice.design.profile import Matrices
from suffice.errors import SufficeError
from suffice.protection.fold import NONE, coordinates, fold, labels_of
from suffice.protection.solution import Regression
from suffice.risk.leverage import LeverageMeasure, Peaks
from suffice.rows.rows import Block, Rows


@dataclass(frozen=True)
class StackedLeverage:
    """The highest leverage with the given terms of all earlier releases added, and how many could not be added."""

    highest: float = 0.0
    unstacked: int = 0

    @classmethod
    def of(cls, rows: Rows, design: Design, terms: Iterable[str]) -> Self:
        new = sorted({*terms} - {*design.terms})
        earlier = [term for term in new if _usable(term, rows, design)]
        if not earlier:
            return cls(0.0, len(new))
        formula = " + ".join([*design.terms, *earlier])
        try:
            wide = Design.learn(rows, replace(design.roles, given=formula, keep=(), identifiers=()))
            return cls(highest_leverage(rows, wide), len(new) - len(earlier))
        except SufficeError:  # the stacked design is too large, or no longer fits the file
            return cls(0.0, len(new))


def _usable(term: str, rows: Rows, design: Design) -> bool:
    columns = parse(term).columns
    return all(name in rows.kinds and name not in design.confidential for name in columns)


def highest_leverage(rows: Rows, design: Design) -> float:
    matrices = Matrices(design, False)
    profile = matrices.profile(rows)
    basis = coordinates(rows, matrices, profile, NONE)
    known = Regression(matrices, profile, *fold(rows, matrices, basis, NONE, profile.spread))
    measure = LeverageMeasure(known.hat)

    def of(block: Block) -> Peaks:
        A = matrices.matrix(block)
        Y = A[:, known.confidential]
        A -= basis.centre
        basis.divide(A, labels_of(design, basis, block))
        return measure.of(known.aligned(block, A, Y, Y, Y))

    return rows.fold(of, matrices.columns, "stacking").highest.leverage
