"""A method that learns by folds and then releases a row at a time, on rows of any engine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.method.masked import MaskedColumns
from suffice.method.method import Method

if TYPE_CHECKING:
    from suffice.design.design import Design
    from suffice.rows.rows import Rows
    from suffice.seed import Stream


@dataclass(frozen=True)
class Rowwise(Method):
    """A method that learns by folds and then releases a row at a time: noise, distortion, swapping of ranks."""

    @abstractmethod
    def columns(self, rows: Rows, design: Design, stream: Stream) -> Mapping[str, Any] | MaskedColumns:
        """The released columns by name, as `Rows.with_columns` takes them; with what must be said: `MaskedColumns`.

        Learn first, by as many folds over `rows` as it takes. What a row's values follow from is then `Computation`
        block by block, with the numbers of the block's own key; rows that were made in another order - sorted,
        swapped - and put back are `Beside`. Two computations with one stream draw the same numbers: give each a child
        of `stream`, or let one compute all columns. An array in row order will do where rows are in memory.

        rows: the original, or what the step before has made of it, beside the original's columns as ORIGINAL + name
        """
