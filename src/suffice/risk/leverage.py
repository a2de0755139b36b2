"""Leverage: what the kept statistics say of single records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.protection.aligned import AlignedBlock
from suffice.protection.protected import Stratum

ROUNDING = 1e-9
"""The leverage in a cell of five is 1/5, in a cell of two 1/2, up to this."""
LOW, MIDDLE, HIGH = 0.2, 0.5, 0.999
"""Leverages that are counted from here on."""


@dataclass(frozen=True, order=True)
class Peak:
    """The record with the highest leverage: how high, which row, and its row of the orthonormal basis."""

    leverage: float
    row: int
    q: tuple[float, ...] = field(default=(), repr=False)
    own: float = 0.0
    """What the level of an absorbed factor adds: w_i / W_g."""


@dataclass(frozen=True)
class Peaks:
    """Records with leverage above .2, from .5 on and from .999 on, and the highest."""

    counts: tuple[int, int, int]
    highest: Peak

    def __add__(self, other: Self) -> Peaks:
        return Peaks(_sum([self.counts, other.counts]), max(self.highest, other.highest))


@dataclass(frozen=True)
class Leverage:
    """The highest leverage of all records, how many have one above .2, from .5 on and from .999 on, and by which term.

    Where nothing is released of any record none has any.
    """

    highest: float = 0.0
    counts: tuple[int, int, int] = (0, 0, 0)
    term: str = ""
    units: int = 0
    """How many units there are, where leverages are those of units; 0: they are those of records."""
    unjudged: bool = False
    """Whether a unit is named and leverages are those of records all the same."""

    @classmethod
    def of(cls, strata: Sequence[Stratum]) -> Self:
        seen = [stratum.seen["leverage"] for stratum in strata if "leverage" in stratum.seen]
        if not seen:
            return cls()
        top = max(strata, key=lambda stratum: stratum.seen["leverage"].highest.leverage)
        peak = top.seen["leverage"].highest
        return cls(peak.leverage, _sum([each.counts for each in seen]), responsible(top, peak))


@dataclass(frozen=True, repr=False)
class LeverageMeasure:
    """Leverages of rows, from their coordinates and the triangle R that makes those orthonormal."""

    R: Array

    @cached_property
    def _orthonormal(self) -> bool:
        """Whether the coordinates are that already."""
        return bool(np.count_nonzero(self.R) == len(self.R) and (self.R.diagonal() == 1).all())

    @cached_property
    def _least(self) -> float:
        """The smallest singular value of R, squared: the squared length of a row over this bounds its leverage."""
        return 1.0 if self._orthonormal else float(np.linalg.svd(self.R, compute_uv=False).min(initial=np.inf)) ** 2

    def of(self, aligned: AlignedBlock) -> Peaks:
        """Exact for every row that may matter, and for the one that may be highest."""
        U, w, own = aligned.U, aligned.w, aligned.own
        assert U is not None
        size, square = np.zeros(len(U)), np.empty(len(U))
        for u in U.T:  # a column at a time: near the processor
            size += np.multiply(u, u, out=square)
        if w is not None:
            size *= w
        bound = size / self._least if own is None else size / self._least + own
        top = int(bound.argmax())
        rows = np.flatnonzero(bound > LOW) if bound[top] > LOW else np.array([top])
        Q = U[rows] if self._orthonormal else solve_triangular(self.R, U[rows].T, trans=1).T
        added = np.zeros(len(rows)) if own is None else own[rows]
        h = np.einsum("ij,ij->i", Q, Q) * (1.0 if w is None else w[rows]) + added
        top = int(h.argmax())
        counts = 0, 0, 0
        if h[top] > LOW:
            counts = int((h > LOW + ROUNDING).sum()), int((h > MIDDLE - ROUNDING).sum()), int((h >= HIGH).sum())
        q = Q[top].tolist() if own is None else [0.0, *Q[top].tolist()]
        return Peaks(counts, Peak(float(h[top]), aligned.start + int(rows[top]), tuple(q), float(added[top])))

    def parts(self, value: Peaks, count: int, size: int) -> list[Peaks]:
        """The stratum of the highest record has all of it; its row is counted from the beginning of that stratum."""
        none, peak = Peaks((0, 0, 0), Peak(0.0, 0)), value.highest
        own = replace(value, highest=replace(peak, row=peak.row % size))
        return [own if i == peak.row // size else none for i in range(count)]


def _sum(counts: Sequence[tuple[int, int, int]]) -> tuple[int, int, int]:
    low, middle, high = (sum(column) for column in zip(*counts, strict=True))
    return low, middle, high


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
