"""The method's answer on the small factor, carried back to the rows: solve, map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algebra.isometry import Isometry
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.design.profile import Matrices, Profile
from suffice.errors import InfeasibleError
from suffice.method.isometric import Isometric
from suffice.method.parameter import Data, parameter
from suffice.protection.fold import STEEP, Draws, coordinates, fold, labels_of
from suffice.protection.watching import Hat, Watching
from suffice.rows.rows import Block, Rows
from suffice.statistics.standing import Standing


@dataclass(frozen=True)
class Supplied(Isometric):
    """Y* that another method has made: nothing is left to solve."""

    made: Any = parameter(Data(), "the released rows", None)

    def draws(self, k: int) -> int:
        return 0

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        return self.aligned(Y)

    @classmethod
    def examples(cls) -> tuple[Supplied, ...]:
        return ()


@dataclass(frozen=True, repr=False)
class Solution:
    """The answer, ready to be mapped over rows; `small` keeps what was solved, for the guards."""

    matrices: Matrices
    profile: Profile
    isometry: Isometry
    original: Standing
    draws: Draws
    M: Array
    E: Array
    Estar: Array
    remarks: tuple[str, ...]
    shift: Array | None = None
    """The change of a whole level of the absorbed factor, by methods that do not keep its means."""
    supplied: bool = False
    """The rows have been made already: they are the companion, and leave as they are."""

    @classmethod
    def find(cls, rows: Rows, matrices: Matrices, profile: Profile, method: Isometric, draws: Draws) -> Solution:
        spread = profile.spread
        basis = coordinates(rows, matrices, profile, draws)
        isometry, original = fold(rows, matrices, basis, draws, spread)
        for _ in range(2):
            if isometry.condition > STEEP:
                isometry, _ = fold(rows, matrices, isometry.refined(), draws, spread)
        small = SmallFactor.of(matrices, isometry, spread, method, draws.columns)
        Ystar, remarks = small.solved(method, matrices)
        E, Estar = split(small.Y, small.X)[1], split(Ystar, small.X)[1]
        explained = ~E.any(axis=0)
        change = np.where(explained, 0.0, Ystar - small.Y)  # what X explains, and constants, stay bit for bit
        first = len(small.above)
        M, shift = isometry.carry(change[first:]), small.shift(isometry, change[:first])
        known = matrices, profile, isometry, original, draws
        return cls(*known, M, E[first:], Estar[first:], remarks, shift, isinstance(method, Supplied))

    @property
    def design(self) -> Design:
        return self.matrices.design

    @property
    def confidential(self) -> slice:
        return slice(self.design.m, self.design.m + self.design.k)

    @property
    def rank(self) -> int:
        """Independent columns of X, those of the absorbed factor among them."""
        absorbed = self.isometry.basis.absorbed
        return sum(j < self.design.m for j in self.isometry.pivots) + (0 if absorbed is None else absorbed.rank)

    @property
    def nu(self) -> int:
        return self.profile.spread.rows - self.rank

    def mapped(self, block: Block) -> tuple[Array, Array, Array, Array]:
        """Y, the change, Y* and the coordinates A of a block: where nothing changes, the digits stay."""
        A = self.matrices.matrix(block, self.draws.columns)
        p = A.shape[1] - self.draws.columns
        Y = A[:, self.confidential].copy(order="F")
        made = A[:, self.confidential.stop : p].copy(order="F") if self.supplied else None
        A[:, :p] -= self.isometry.basis.centre
        A[:, p:] = self.draws.take(block)
        labels = labels_of(self.design, self.isometry.basis, block)
        self.isometry.basis.divide(A, labels)
        change = A @ self.M if made is None else made - Y
        if self.shift is not None and made is None:
            change += self.shift[labels]
        return Y, change, Y + change if made is None else made, A

    def released(self, block: Block) -> Array:
        """Y* of a block."""
        return self.mapped(block)[2]

    def watching(self, sampled: NDArray[np.int64], independent: bool) -> Watching:
        """The map that is watched; `sampled` rows are kept whole. Where nothing is carried over, no giant can be."""
        return Watching(
            self,
            self.profile.spread.columns(self.confidential),
            np.sort(sampled),
            Hat.of(self.design, self.isometry, self.profile.spread),
            self.isometry.carry(np.hstack([self.E, self.Estar])),
            independent,
        )


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
    above: Array
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

    def solved(self, method: Isometric, matrices: Matrices) -> tuple[Array, tuple[str, ...]]:
        """Y*, and what must be said about it."""
        small = method.with_companion(self.G) if matrices.companion else method
        try:
            return small.solve(self.X, self.Y, self.Z, self.n), small.remarks(self.X, self.Y, self.Z, self.n)
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
