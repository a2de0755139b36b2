"""From rows to the small factor: random numbers, coordinates, one fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.algebra.absorption import Absorption, Codes, LevelSums
from suffice.algebra.array import Array
from suffice.algebra.factor import RFactor
from suffice.algebra.isometry import Basis, Isometry
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.design.profile import Matrices, Profile, centre_of
from suffice.rows.rows import BLOCK, Block, Product, Rows
from suffice.seed import Stream
from suffice.statistics.standing import Standing

LABELLED = 2**27
"""Records whose level of an absorbed factor is kept, at four bytes each; of more it is looked up in every pass."""
STEEP = 20.0
"""Coordinates whose condition is above this are made anew from all rows."""


class Draws:
    """Z of every block: drawn from the block's own key in each pass, or kept after the first where rows are held."""

    def __init__(self, stream: Stream | None, columns: int, kept: int = 0) -> None:
        """kept: how many rows to keep numbers for"""
        self.stream, self.columns = stream if columns else None, columns
        self.room = np.empty((kept, columns), order="F") if kept and columns else None
        self.filled: set[int] = set()

    def fill(self, Z: Array, block: Block) -> None:
        """Z becomes the block's; its columns lie one behind the other in memory."""
        number, rows = block.start // BLOCK, slice(block.start, block.start + len(block))
        if not self.columns:
            return
        if self.room is not None and number in self.filled:
            Z[:] = self.room[rows]
            return
        assert block.key is not None
        block.key.fill(Z)
        if self.room is not None:
            self.room[rows] = Z
            self.filled.add(number)

    def place_of(self, rows: int, k: int) -> Array:
        """Room for k columns of a last pass: a block's own numbers, which it has used then, make room for what it made.

        Fresh memory of that size takes longer to get than to fill.
        """
        return self.room if self.room is not None and self.columns == k else np.empty((rows, k), order="F")

    def forget(self) -> None:
        """Nothing is kept any longer."""
        self.room, self.filled = None, set()

    def __getstate__(self) -> dict[str, Any]:  # a worker has the keys of its blocks and no other
        return {"stream": None, "columns": self.columns, "room": None, "filled": set()}


NONE = Draws(None, 0)
"""No random numbers."""


def coordinates(rows: Rows, matrices: Matrices, profile: Profile, draws: Draws) -> Basis:
    """The centre and coordinates that the profile suggests, and the means in the levels of an absorbed factor."""
    centre = centre_of(matrices.design, profile.spread)
    if matrices.design.absorbed is None:
        return Basis.choose(profile.sample, profile.spread, centre)
    return Basis.scaled(profile.spread, centre, absorbed(rows, matrices, centre, draws))


def absorbed(rows: Rows, matrices: Matrices, centre: Array, draws: Draws) -> Absorption:
    """Means of [W Z] in the levels of the absorbed factor, about a centre: an offset costs them no digits."""
    design, p = matrices.design, len(centre)
    kept = np.empty(rows.n, dtype=np.int32) if rows.n <= LABELLED else None

    def of(block: Block) -> tuple[int, Codes, LevelSums]:
        A, labels = matrices.matrix(block, draws.columns, centre), design.labels(block)
        assert labels is not None
        draws.fill(A[:, p:], block)
        return block.start, labels, LevelSums.of(A, design.weights(block), labels)

    def sums() -> Any:
        for run in rows.map(lambda run: [of(block) for block in run], matrices.columns, "absorbing", draws.stream):
            for start, labels, _ in run:
                if kept is not None:
                    kept[start : start + len(labels)] = labels
            yield [part for _, _, part in run]

    return Absorption.learn(sums(), design.levels, p + draws.columns, kept)


def labels_of(design: Design, basis: Basis, block: Block) -> Codes | None:
    """The level of every record of a block, as kept or looked up anew; None where no factor is absorbed."""
    if basis.absorbed is None or basis.absorbed.labels is None:
        return design.labels(block)
    return basis.absorbed.labels[block.start : block.start + len(block)]


def weighed(A: Array, w: Array | None, mean_weight: float) -> Array:
    """Rows times the roots of their weights."""
    if w is not None:
        A *= np.sqrt(w / mean_weight)[:, None]
    return A


def fold(rows: Rows, matrices: Matrices, basis: Basis, draws: Draws, spread: Spread) -> tuple[Isometry, Standing]:
    """The small factor of all rows in these coordinates, and what the certificate will compare with."""
    mean_weight, plain, p = spread.weight / spread.rows, matrices.design.m + matrices.design.k, len(basis.centre)

    def of(block: Block) -> Product:
        A, w = matrices.matrix(block, draws.columns, basis.centre), matrices.design.weights(block)
        original = Standing.of(block, matrices.design, A[:, :plain])
        draws.fill(A[:, p:], block)
        basis.divide(A, labels_of(matrices.design, basis, block))
        return Product(RFactor.of(weighed(A, w, mean_weight)), original)

    factor, original = rows.fold(of, matrices.columns, "folding", draws.stream)
    return Isometry.of(basis, RFactor(spread.rows, factor.R)), original


def refined(
    rows: Rows, matrices: Matrices, basis: Basis, draws: Draws, spread: Spread, times: int
) -> tuple[Isometry, Standing]:
    """The same in coordinates that are orthonormal over all rows, where those of the sample are not good enough."""
    isometry, original = fold(rows, matrices, basis, draws, spread)
    for _ in range(times):
        if isometry.condition > STEEP:
            isometry, _ = fold(rows, matrices, isometry.refined(), draws, spread)
    return isometry, original
