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
    """How many there are in each confidential column; of the original it is not asked."""

    def before(self, reference: Reference) -> Look:
        yield from ()

    def after(self, known: None, reference: Reference) -> Look:
        names = reference.design.confidential

        def of(block: Block) -> NDArray[np.int64]:
            return np.array([np.count_nonzero(as_float(block.columns[name]) < 0) for name in names])

        return (yield Fold.by_block(of, names))


NEGATIVES = Negatives()
