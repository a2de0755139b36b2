"""What folds have learnt of records protected together; the method's answer on the small factor, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import split
from suffice.algebra.factor import RFactor
from suffice.algebra.isometry import Basis, Isometry
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.design.profile import Matrices, Profile
from suffice.errors import InfeasibleError
from suffice.method.isometric import Isometric
from suffice.method.masked import Masked, finite
from suffice.protection.aligned import AlignedBlock, BlockMeasure, Looks
from suffice.protection.fold import Draws, coordinates, labels_of, refined, weighed
from suffice.rows.rows import Block, Product, Rows
from suffice.statistics.standing import Standing


@dataclass(frozen=True, repr=False)
class Regression:
    """The small factor of [X Y ...] over all records, in well conditioned coordinates."""

    matrices: Matrices
    profile: Profile
    isometry: Isometry
    original: Standing
    """What the certificate compares with."""

    @property
    def design(self) -> Design:
        return self.matrices.design

    @property
    def confidential(self) -> slice:
        return slice(self.design.m, self.design.m + self.design.k)

    @property
    def spread(self) -> Spread:
        """Of the confidential columns."""
        return self.profile.spread.columns(self.confidential)

    @property
    def mean_weight(self) -> float:
        return self.profile.spread.weight / self.profile.spread.rows

    @property
    def rank(self) -> int:
        """Independent columns of X, those of the absorbed factor among them."""
        absorbed = self.isometry.basis.absorbed
        return sum(j < self.design.m for j in self.isometry.pivots) + (0 if absorbed is None else absorbed.rank)

    @property
    def nu(self) -> int:
        """Degrees of freedom that X leaves."""
        return self.profile.spread.rows - self.rank

    @cached_property
    def given(self) -> list[int] | slice:
        """Where the coordinates of X are; a slice is not copied."""
        first = 0 if self.isometry.basis.absorbed is None else 1  # the ones lie in the span of the levels
        given = [j for j in self.isometry.pivots if first <= j < self.design.m]
        last = first + len(given)
        return slice(first, last) if given == list(range(first, last)) else given

    @property
    def hat(self) -> Array:
        """The triangle that makes these coordinates orthonormal."""
        first = 0 if self.isometry.basis.absorbed is None else 1
        R = self.isometry.R[:, self.given]
        return R[first : first + R.shape[1]]

    def residuals(self) -> Array:
        """E, small."""
        return split(self.isometry.columns(range(self.design.m, self.design.m + self.design.k)), self._X)[1]

    @property
    def _X(self) -> Array:
        return self.isometry.spanning(range(self.design.m))

    def aligned(self, block: Block, A: Array, Y: Array, change: Array, Ystar: Array) -> AlignedBlock:
        """A block before and after, with its coordinates A."""
        w, labels = self.design.weights(block), labels_of(self.design, self.isometry.basis, block)
        absorbed = self.isometry.basis.absorbed
        own = None if labels is None or absorbed is None else absorbed.leverage(labels, w)
        relative = None if w is None else w / self.mean_weight
        return AlignedBlock(block, Y, change, Ystar, A[:, self.given], relative, own)


@dataclass(frozen=True, repr=False)
class Glimpse:
    """What was seen of records before and after, and the coordinates of a sample of them."""

    seen: Mapping[str, Any]
    sample: Array


@dataclass(frozen=True, repr=False)
class Glance:
    """How a run is looked at: every measure, and those of its records that are in the sample."""

    measures: Mapping[str, BlockMeasure]
    sampled: NDArray[np.int64]

    def of(self, aligned: AlignedBlock, A: Array) -> Product:
        first, last = np.searchsorted(self.sampled, [aligned.start, aligned.start + len(A)])
        rows = self.sampled[first:last] - aligned.start
        some = A[rows] if aligned.w is None else A[rows] * np.sqrt(aligned.w[rows])[:, None]
        return Product([some], *(measure.of(aligned) for measure in self.measures.values()))

    def glimpse(self, found: Product) -> Glimpse:
        some, *seen = found
        return Glimpse(dict(zip(self.measures, seen, strict=True)), np.vstack(some))


@dataclass(frozen=True, repr=False)
class Solution:
    """The answer on the small factor, ready to be mapped over rows."""

    regression: Regression
    draws: Draws
    M: Array
    E: Array
    Estar: Array
    remarks: tuple[str, ...]
    shift: Array | None = None
    """The change of a whole level of the absorbed factor, by methods that do not keep its means."""

    @classmethod
    def find(cls, rows: Rows, matrices: Matrices, profile: Profile, method: Isometric, draws: Draws) -> Solution:
        spread = profile.spread
        basis = coordinates(rows, matrices, profile, draws)
        isometry, original = refined(rows, matrices, basis, draws, spread, times=2)
        small = SmallFactor.of(matrices, isometry, spread, method, draws.columns)
        made = small.solved(method, matrices)
        E, Estar = split(small.Y, small.X)[1], split(made.Ystar, small.X)[1]
        explained = ~E.any(axis=0)
        change = np.where(explained, 0.0, made.Ystar - small.Y)  # what X explains, and constants, stay bit for bit
        first = len(small.above)
        M, shift = isometry.carry(change[first:]), small.shift(isometry, change[:first])
        known = Regression(matrices, profile, isometry, original)
        return cls(known, draws, M, E[first:], Estar[first:], made.remarks, shift)

    def mapped(self, block: Block, Ystar: Array | None = None) -> tuple[AlignedBlock, Array]:
        """A block before and after, and its coordinates: where nothing changes, the digits stay.

        Ystar: room for what is released
        """
        known, basis = self.regression, self.regression.isometry.basis
        A = known.matrices.matrix(block, self.draws.columns, basis.centre)
        p = A.shape[1] - self.draws.columns
        Y = known.design.values(block)
        self.draws.fill(A[:, p:], block)
        labels = labels_of(known.design, basis, block)
        basis.divide(A, labels)
        change = (self.M.T @ A.T).T  # column by column, as all else lies in memory
        if self.shift is not None:
            change += self.shift[labels]
        return known.aligned(block, A, Y, change, np.add(Y, change, out=Ystar)), A

    def released(self, block: Block) -> Array:
        """Y* of a block."""
        return self.mapped(block)[0].Ystar

    def map(self, rows: Rows, looks: Looks, sampled: NDArray[np.int64], Ystar: Array | None) -> Glimpse:
        """All rows released and looked at; `Ystar`: room for what is released, if it is kept."""
        known = self.regression
        still = np.asarray(~self.E.any(axis=0))
        glance = Glance({**looks.stratum(known.hat), **looks.file(known.spread, still)}, np.sort(sampled))

        def of(block: Block) -> Product:
            here = slice(block.start, block.start + len(block))  # rows in memory: so are those who work on them
            return glance.of(*self.mapped(block, None if Ystar is None else Ystar[here]))

        found = rows.fold(of, known.matrices.columns, "mapping", self.draws.stream)
        self.draws.forget()
        return glance.glimpse(found)

    def sample(self, glimpse: Glimpse) -> tuple[Array, Array]:
        """Original and released residuals of sampled rows."""
        return residual_rows(self.regression.isometry, self.E, self.Estar, glimpse.sample)


def residual_rows(isometry: Isometry, E: Array, Estar: Array, A: Array) -> tuple[Array, Array]:
    found = A @ isometry.carry(np.hstack([E, Estar]))
    return found[:, : E.shape[1]], found[:, E.shape[1] :]


@dataclass(frozen=True, repr=False)
class RecordComparison:
    """Released rows that a method has made record by record, beside the original: residuals of both."""

    regression: Regression
    isometry: Isometry
    E: Array
    Estar: Array
    glimpse: Glimpse
    original: Standing

    @classmethod
    def of(cls, rows: Rows, regression: Regression, looks: Looks, sampled: NDArray[np.int64]) -> RecordComparison:
        """rows: that hold the released values as companion. One pass: the factor of [X Y Y*-Y], and all measures."""
        design, spread, basis = regression.design, regression.spread, regression.isometry.basis
        matrices, m, k = Matrices(design, companion=True), design.m, design.k
        scale = np.where(spread.sd > 0, spread.sd, 1.0)
        E = regression.residuals()
        glance = Glance({**looks.stratum(regression.hat), **looks.file(spread, _still(E))}, np.sort(sampled))

        def of(block: Block) -> Product:
            A, w = matrices.matrix(block), design.weights(block)
            Y, Ystar = A[:, m : m + k].copy(order="F"), A[:, m + k :].copy(order="F")
            finite(Ystar, Y.shape, "The method")
            A[:, : m + k] -= basis.centre
            original = Standing.of(block, design, A[:, : m + k])
            A[:, m + k :] = (Ystar - Y) / scale
            basis.divide(A)
            found = glance.of(regression.aligned(block, A, Y, Ystar - Y, Ystar), A)
            return Product(RFactor.of(weighed(A, w, regression.mean_weight)), original, found)

        factor, original, found = rows.fold(of, matrices.columns, "comparing")
        wide = Basis(np.pad(basis.centre, (0, k)), _wider(basis.T, scale), np.pad(basis.noise, (0, k)))
        isometry = Isometry.of(wide, RFactor(regression.profile.spread.rows, factor.R))
        X, Y = isometry.spanning(range(m)), isometry.columns(range(m, m + k))
        change = isometry.columns(range(m + k, m + 2 * k))
        E, Estar = split(Y, X)[1], split(Y + change, X)[1]
        return cls(regression, isometry, E, Estar, glance.glimpse(found), original)

    def sample(self) -> tuple[Array, Array]:
        """Original and released residuals of sampled rows."""
        return residual_rows(self.isometry, self.E, self.Estar, self.glimpse.sample)


def _still(E: Array) -> Flags:
    return np.asarray(~E.any(axis=0))


def _wider(T: Array, scale: Array) -> Array:
    """The triangle of coordinates, with columns behind that are only scaled."""
    out = np.zeros((len(T) + len(scale),) * 2)
    out[: len(T), : len(T)], out[len(T) :, len(T) :] = T, np.diag(scale)
    return out


@dataclass(frozen=True, repr=False)
class SmallFactor:
    """What a method is given in place of the rows.

    Where a factor is absorbed and the method does not keep the fits, the factor of P_D [W Z] stands above that of
    (I - P_D) [W Z], and X spans the former: the method then sees what it would see with the dummies.
    """

    X: Array
    Y: Array
    Z: Array
    G: Array
    n: int
    """Records, less the dimensions of the absorbed factor that are not among these rows."""
    above: Array = field(default_factory=lambda: np.empty((0, 0)))
    """The rows that stand above, with the columns of [W Z]."""

    @classmethod
    def of(cls, matrices: Matrices, isometry: Isometry, spread: Spread, method: Isometric, q: int) -> SmallFactor:
        m, k, p = matrices.design.m, matrices.design.k, len(spread.mean)
        absorbed = isometry.basis.absorbed
        X, within = isometry.spanning(range(m)), isometry.columns(range(p + q))
        n = spread.rows - (0 if absorbed is None else absorbed.rank)
        above = np.zeros((0, p + q))
        if absorbed is not None and "fit" not in method.kept:
            above = absorbed.factor(spread.weight / spread.rows)
            X = np.block(
                [[np.eye(len(above)), np.zeros((len(above), X.shape[1]))], [np.zeros((len(X), len(above))), X]]
            )
        W = np.vstack([above, within])
        return cls(X, W[:, m : m + k], W[:, p:], W[:, m + k : p], n + len(above), above)

    def solved(self, method: Isometric, matrices: Matrices) -> Masked:
        """Y*, and what must be said about it."""
        small = method.with_companion(self.G) if matrices.companion else method
        try:
            made = small.mask(self.X, self.Y, self.Z, self.n)
            finite(made.Ystar, self.Y.shape, method.name)
            return made
        except InfeasibleError as problem:
            if matrices.design.absorbed is None or hasattr(problem, "named"):
                raise
            term, levels = matrices.design.terms[-1], matrices.design.levels
            raise InfeasibleError(f"{problem}\n  (apart from the {levels:,} levels of {term})") from None

    def shift(self, isometry: Isometry, change: Array) -> Array | None:
        """The change of each level: P_D [W Z] M with R M = change."""
        absorbed = isometry.basis.absorbed
        if absorbed is None or not len(self.above):
            return None
        size = np.linalg.norm(self.above, axis=0)
        size[size == 0] = 1.0
        M = np.linalg.lstsq(self.above / size, change)[0]
        return np.asarray(absorbed.mean @ (M / size[:, None]))
