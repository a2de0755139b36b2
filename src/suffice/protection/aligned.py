"""Records before and after, side by side: what every measure of risk is folded over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.rows.arrow import as_float
from suffice.rows.derived import RELEASED
from suffice.rows.rows import Block


@dataclass(frozen=True, repr=False)
class AlignedBlock:
    """Some records: confidential values before and after, and where they stand in the span of X.

    change: Y* - Y, where nothing changes zero to the last digit
    U: coordinates of the given columns; w: relative weights; own: what an absorbed factor adds to leverages.
        None where the records of several strata are looked at together.
    """

    block: Block
    Y: Array
    change: Array
    Ystar: Array
    U: Array | None = None
    w: Array | None = None
    own: Array | None = None
    hole: Flags | None = None
    """Cells that are missing before and after: zeros in Y and Y*."""

    @property
    def start(self) -> int:
        return self.block.start

    @classmethod
    def read(cls, block: Block, design: Design) -> AlignedBlock:
        """From rows that hold both; a cell that is missing before and after is a zero that stays."""
        Y, Ystar = (
            np.column_stack([as_float(block.columns[mark + name]) for name in design.confidential])
            for mark in ("", RELEASED)
        )
        hole = np.isnan(Y)
        if hole.any():
            Y, Ystar = np.where(hole, 0.0, Y), np.where(hole, 0.0, Ystar)
            return cls(block, Y, Ystar - Y, Ystar, hole=hole)
        return cls(block, Y, Ystar - Y, Ystar)

    def about(self, middle: Array) -> tuple[Array, Array]:
        """Values before and after, those of missing cells in the middle: they lie nowhere."""
        if self.hole is None:
            return self.Y, self.Ystar
        return np.where(self.hole, middle, self.Y), np.where(self.hole, middle, self.Ystar)


class BlockMeasure(Protocol):
    """Something that is seen of records before and after: a value for each block, which `+` merges."""

    def of(self, aligned: AlignedBlock) -> Any: ...


class StratumMeasure(BlockMeasure, Protocol):
    """One that is seen of every stratum by itself."""

    def parts(self, value: Any, count: int, size: int) -> Sequence[Any]:
        """What was seen of `count` strata of one size together, dealt to them so that the sum stays."""
        ...


class Looks(Protocol):
    """What is to be seen while records are protected, so that no pass is made for it alone."""

    def stratum(self, hat: Array) -> Mapping[str, StratumMeasure]:
        """Of records protected together; `hat`: the triangle that makes their coordinates of X orthonormal."""
        ...

    def file(self, spread: Spread, still: NDArray[np.bool_]) -> Mapping[str, BlockMeasure]:
        """Of all records; `spread`: of the confidential columns, `still`: those of them that do not change."""
        ...
