"""Cells below zero in the rows that leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.rows.arrow import as_float
from suffice.rows.rows import Block
from suffice.statistics.sums import Fold, Look, Reference, Sums


@dataclass(frozen=True)
class Negatives(Sums):
    """How many there are in each confidential column; of the original it is not asked.

    A number that stands for a missing cell is none.
    """

    def before(self, reference: Reference) -> Look:
        yield from ()

    def after(self, known: None, reference: Reference) -> Look:
        names, coding = reference.design.confidential, reference.rows.coding
        holes = {} if coding is None else coding.holes

        def of(block: Block) -> NDArray[np.int64]:
            columns = [(as_float(block.columns[name]), holes.get(name, np.nan)) for name in names]
            return np.array([np.count_nonzero((y < 0) & (y != hole)) for y, hole in columns])

        return (yield Fold.by_block(of, names))


NEGATIVES = Negatives()
