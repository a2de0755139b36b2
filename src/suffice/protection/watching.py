"""The map, watched: what the guards must see of every record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.isometry import Basis, Isometry
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.protection.fold import labels_of
from suffice.protection.watch import Giants, Leverage, Peak, Watch, copies, negatives, outliers
from suffice.rows.rows import Block

if TYPE_CHECKING:
    from suffice.protection.solution import Solution


@dataclass(frozen=True, repr=False)
class Hat:
    """Leverages of the rows of sqrt(w) X, with what an absorbed factor adds."""

    design: Design
    given: list[int] | slice
    leverage: Leverage
    mean_weight: float
    basis: Basis

    @classmethod
    def of(cls, design: Design, isometry: Isometry, spread: Spread) -> Hat:
        first = 0 if isometry.basis.absorbed is None else 1  # the ones lie in the span of the levels
        given = [j for j in isometry.pivots if first <= j < design.m]
        last = first + len(given)
        leading = given == list(range(first, last))  # a slice is not copied
        leverage = Leverage.of(isometry.R[first:last, given])
        mean_weight = spread.weight / spread.rows
        return cls(design, slice(first, last) if leading else given, leverage, mean_weight, isometry.basis)

    def __call__(self, A: Array, block: Block) -> tuple[NDArray[np.int64], Peak]:
        """Counts and the highest of a block, from its coordinates."""
        w, labels = self.design.weights(block), labels_of(self.design, self.basis, block)
        own = None if labels is None or self.basis.absorbed is None else self.basis.absorbed.leverage(labels, w)
        return self.leverage(A[:, self.given], None if w is None else w / self.mean_weight, block.start, own)


@dataclass(frozen=True, repr=False)
class Watching:
    """Maps a block and watches it at the same time."""

    solution: Solution
    spread: Spread
    sampled: NDArray[np.int64]
    leverage: Hat
    ME: Array
    independent: bool

    def __call__(self, block: Block) -> tuple[Array, Watch]:
        solution, k = self.solution, self.solution.design.k
        Y, change, Ystar, A = solution.mapped(block)
        first, last = np.searchsorted(self.sampled, [block.start, block.start + len(block)])
        rows, w = self.sampled[first:last] - block.start, self.weights(block)
        residuals = A[rows] @ self.ME
        if w is not None:
            residuals *= np.sqrt(w[rows])[:, None]
        explained = np.asarray(~solution.E.any(axis=0))
        watch = Watch(
            *self.leverage(A, block),
            copies(self.spread, explained, Y, change, block.start),
            *outliers(self.spread, explained, Y, change),
            negatives(self.spread, explained, Ystar),
            ((residuals[:, :k], residuals[:, k:]),),
            self.giants(explained, Y, Ystar),
        )
        return Ystar, watch

    def giants(self, constant: NDArray[np.bool_], Y: Array, Ystar: Array) -> tuple[Giants, Giants]:
        if self.independent:
            return Giants(Y[:0]), Giants(Y[:0])
        return Giants.of(self.spread, constant, Y), Giants.of(self.spread, constant, Ystar)

    def weights(self, block: Block) -> Array | None:
        w = self.solution.design.weights(block)
        return None if w is None else w * (self.spread.rows / self.spread.weight)
