"""From rows to the small factor: random numbers, coordinates, one fold."""

from __future__ import annotations

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
    """Z of every block: drawn anew in each pass, or kept from the first to the last where rows are in memory.

    The room that kept numbers take is given to Y* block by block, as the map has used them: memory that was
    touched before is several times faster than new memory.
    """

    def __init__(self, stream: Stream, columns: int, kept: int = 0) -> None:
        """kept: how many rows to keep numbers for."""
        self.stream, self.columns = stream, columns
        self.room = np.empty((kept, columns), order="F") if kept and columns else None
        self.filled: set[int] = set()

    def of(self, block: Block) -> Array:
        """For a fold: other passes follow."""
        number, rows = block.start // BLOCK, slice(block.start, block.start + len(block))
        if self.room is None:
            return self.stream.normals(number, len(block), self.columns)
        if number not in self.filled:
            self.room[rows] = self.stream.normals(number, len(block), self.columns)
            self.filled.add(number)
        return self.room[rows]

    def take(self, block: Block) -> Array:
        """For the map: the last pass that needs them."""
        number = block.start // BLOCK
        if self.room is not None and number in self.filled:
            self.filled.remove(number)
            return self.room[block.start : block.start + len(block)]
        return self.stream.normals(number, len(block), self.columns)

    def room_for(self, rows: int, columns: int) -> Array:
        """Room for Y*: where Z is until the map has used it, if that has the right size."""
        if self.room is not None and self.room.shape == (rows, columns):
            return self.room
        return np.empty((rows, columns), order="F")

    def forget(self) -> None:
        """Nothing is kept any longer."""
        self.room, self.filled = None, set()


def coordinates(rows: Rows, matrices: Matrices, profile: Profile, draws: Draws) -> Basis:
    """The centre and coordinates that the survey suggests, and the means in the levels of an absorbed factor."""
    centre = centre_of(matrices.design, profile.spread)
    if matrices.design.absorbed is None:
        return Basis.choose(profile.sample, profile.spread, centre)
    return Basis.scaled(profile.spread, centre, absorbed(rows, matrices, centre, draws))


def absorbed(rows: Rows, matrices: Matrices, centre: Array, draws: Draws) -> Absorption:
    """Means of [W Z] in the levels of the absorbed factor, about a centre: an offset costs them no digits."""
    design, p = matrices.design, len(centre)
    kept = np.empty(rows.n, dtype=np.int32) if rows.n <= LABELLED else None

    def of(block: Block) -> LevelSums:
        A, labels = matrices.matrix(block, draws.columns), design.labels(block)
        assert labels is not None
        if kept is not None:
            kept[block.start : block.start + len(block)] = labels
        A[:, :p] -= centre
        A[:, p:] = draws.of(block)
        return LevelSums.of(A, design.weights(block), labels)

    runs = rows.map(lambda run: [of(block) for block in run], matrices.columns, "absorbing")
    return Absorption.learn(runs, design.levels, p + draws.columns, kept)


def labels_of(design: Design, basis: Basis, block: Block) -> Codes | None:
    """The level of every record of a block, as kept or looked up anew; None where no factor is absorbed."""
    if basis.absorbed is None or basis.absorbed.labels is None:
        return design.labels(block)
    return basis.absorbed.labels[block.start : block.start + len(block)]


def fold(rows: Rows, matrices: Matrices, basis: Basis, draws: Draws, spread: Spread) -> tuple[Isometry, Standing]:
    """The small factor of all rows in these coordinates, and what the certificate will compare with."""
    mean_weight, plain, p = spread.weight / spread.rows, matrices.design.m + matrices.design.k, len(basis.centre)

    def of(block: Block) -> Product:
        A, w = matrices.matrix(block, draws.columns), matrices.design.weights(block)
        A[:, :p] -= basis.centre
        original = Standing.of(block, matrices.design, A[:, :plain])
        A[:, p:] = draws.of(block)
        basis.divide(A, labels_of(matrices.design, basis, block))
        if w is not None:
            A *= np.sqrt(w / mean_weight)[:, None]
        return Product(RFactor.of(A), original)

    both = rows.fold(of, matrices.columns, "folding")
    return Isometry.of(basis, RFactor(spread.rows, both.one.R)), both.two
