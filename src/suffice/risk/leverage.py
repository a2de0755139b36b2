"""Leverage: what the kept statistics say of single records, alone and with earlier releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.design.design import Design
from suffice.design.formula import parse
from suffice.design.profile import Matrices
from suffice.errors import SufficeError
from suffice.protection.aligned import AlignedBlock
from suffice.protection.fold import NONE, coordinates, fold, labels_of
from suffice.protection.protected import Stratum
from suffice.protection.solution import Regression
from suffice.rows.rows import Block, Rows

ROUNDING = 1e-9
"""The leverage in a cell of five is 1/5, in a cell of two 1/2, up to this."""


@dataclass(frozen=True, order=True)
class Peak:
    """The record with the highest leverage: how high, which row, and its row of the orthonormal basis."""

    leverage: float
    row: int
    q: tuple[float, ...] = field(default=(), repr=False)
    own: float = 0.0
    """What the level of an absorbed factor adds: w_i / W_g."""


@dataclass(frozen=True)
class Leverage:
    """Records with leverage above .2, from .5 on and from .999 on, and the highest."""

    counts: tuple[int, int, int]
    highest: Peak

    def __add__(self, other: Self) -> Leverage:
        return Leverage(_sum([self.counts, other.counts]), max(self.highest, other.highest))


def _sum(counts: Sequence[tuple[int, int, int]]) -> tuple[int, int, int]:
    low, middle, high = (sum(column) for column in zip(*counts, strict=True))
    return low, middle, high


@dataclass(frozen=True, repr=False)
class LeverageMeasure:
    """Leverages of rows, from their coordinates and the triangle R that makes those orthonormal."""

    R: Array
    least: float
    """The smallest singular value of R, squared: the squared length of a row over this bounds its leverage."""

    @classmethod
    def learn(cls, R: Array) -> LeverageMeasure:
        return cls(R, float(np.linalg.svd(R, compute_uv=False).min(initial=np.inf)) ** 2)

    def of(self, aligned: AlignedBlock) -> Leverage:
        """Exact for every row that may matter, and for the one that may be highest."""
        U, w, own = aligned.U, aligned.w, aligned.own
        assert U is not None
        size = np.zeros(len(U))
        for u in U.T:  # column by column, as they lie in memory
            size += u * u
        if w is not None:
            size = size * w
        bound = size / self.least if own is None else size / self.least + own
        rows = np.flatnonzero(bound > 0.2)
        rows = rows if len(rows) else np.array([bound.argmax()])
        Q = solve_triangular(self.R, U[rows].T, trans=1).T if U.shape[1] else U[rows]
        added = np.zeros(len(rows)) if own is None else own[rows]
        h = np.einsum("ij,ij->i", Q, Q) * (1.0 if w is None else w[rows]) + added
        top = int(h.argmax())
        counts = int((h > 0.2 + ROUNDING).sum()), int((h > 0.5 - ROUNDING).sum()), int((h >= 0.999).sum())
        q = Q[top].tolist() if own is None else [0.0, *Q[top].tolist()]
        return Leverage(counts, Peak(float(h[top]), aligned.start + int(rows[top]), tuple(q), float(added[top])))

    def parts(self, value: Leverage, count: int, size: int) -> list[Leverage]:
        """The stratum of the highest record has all of it; its row is counted from the beginning of that stratum."""
        none = Leverage((0, 0, 0), Peak(0.0, 0))
        top = value.highest.row // size
        own = replace(value, highest=replace(value.highest, row=value.highest.row % size))
        return [own if i == top else none for i in range(count)]


def steepest(strata: Sequence[Stratum]) -> tuple[Leverage, str]:
    """Leverages of all strata, and the term behind the highest."""
    if not any("leverage" in stratum.seen for stratum in strata):  # nothing is released of any record
        return Leverage((0, 0, 0), Peak(0.0, 0)), ""
    top = max(strata, key=lambda stratum: stratum.seen["leverage"].highest.leverage)
    total = Leverage(_sum([stratum.seen["leverage"].counts for stratum in strata]), top.seen["leverage"].highest)
    return total, responsible(top, total.highest)


def responsible(stratum: Stratum, peak: Peak) -> str:
    """The term without which the record with the highest leverage has the least."""
    design, q = stratum.design, np.array(peak.q)
    if design.absorbed and peak.own >= 0.5 * peak.leverage:
        return design.terms[-1]
    if not design.terms or not len(q):
        return ""
    S = stratum.given[: len(q)]
    of = np.array(design.term_of)
    left = [float(((gqr(S[:, of != t]).Q.T @ q) ** 2).sum()) for t in range(len(design.terms))]
    return design.terms[int(np.argmin(left))]


def stacked(rows: Rows, design: Design, terms: set[str]) -> tuple[float, int]:
    """The highest leverage when the terms of earlier releases are given as well, and how many could not be."""
    new = sorted(terms - set(design.terms))
    earlier = [term for term in new if _usable(term, rows, design)]
    if not earlier:
        return 0.0, len(new)
    formula = " + ".join([*design.terms, *earlier])
    try:
        wide = Design.learn(rows, replace(design.roles, given=formula, keep=(), identifiers=()))
        return highest_leverage(rows, wide), len(new) - len(earlier)
    except SufficeError:  # the stacked design is too large, or no longer fits the file
        return 0.0, len(new)


def _usable(term: str, rows: Rows, design: Design) -> bool:
    columns = parse(term).columns
    return all(name in rows.kinds and name not in design.confidential for name in columns)


def highest_leverage(rows: Rows, design: Design) -> float:
    matrices = Matrices(design, False)
    profile = matrices.profile(rows)
    basis = coordinates(rows, matrices, profile, NONE)
    known = Regression(matrices, profile, *fold(rows, matrices, basis, NONE, profile.spread))
    measure = LeverageMeasure.learn(known.hat)

    def of(block: Block) -> Leverage:
        A = matrices.matrix(block)
        Y = A[:, known.confidential]
        A -= basis.centre
        basis.divide(A, labels_of(design, basis, block))
        return measure.of(known.aligned(block, A, Y, Y, Y))

    return rows.fold(of, matrices.columns, "stacking").highest.leverage
