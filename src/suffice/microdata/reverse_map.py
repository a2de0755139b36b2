"""Reverse mapping: the original values, in the order of a masked column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from suffice.design.design import Design
from suffice.errors import UsageError
from suffice.method.parameter import Data, parameter
from suffice.method.rowwise import Rowwise
from suffice.rows.derived import ORIGINAL
from suffice.rows.ranks import by_rank
from suffice.rows.rows import Rows
from suffice.seed import Stream


@dataclass(frozen=True)
class ReverseMap(Rowwise):
    """Give every masked column the original values back, the smallest to the smallest and so on.

    y*_i = y_(r),   r the rank of the masked value of record i,   y_(1) <= ... <= y_(n)

    **Promises** the distribution of every column, value by value, whatever the masked data set is: the counterpart of
    `Restore`. How much is given away, and what joins the columns, is decided by the masked data set.

    candidate: the masked data set, row by row beside the original; or none, and a method before it:
        `method.then(ReverseMap())`. Equal masked values are ordered at random.

    Muralidhar, Sarathy & Domingo-Ferrer (2014).

    >>> import numpy as np
    >>> y, masked = np.array([9.0, 1, 5]), np.array([0.3, 0.2, 0.7])
    >>> np.sort(y)[np.argsort(np.argsort(masked))].tolist()
    [5.0, 1.0, 9.0]
    """

    keeps: ClassVar = ("distribution",)
    kinds: ClassVar = ("integer", "date")
    ranks: ClassVar = True
    references: ClassVar = ("Muralidhar, Sarathy & Domingo-Ferrer (2014)",)

    candidate: object = parameter(Data(), "the masked data set whose order is used", None)

    def columns(self, rows: Rows, design: Design, stream: Stream) -> Mapping[str, Any]:
        if not all(ORIGINAL + name in rows.kinds for name in design.confidential):
            raise UsageError(
                "reverse-map needs a masked data set: give one (candidate), or let a method come before it, "
                "as in ipso then reverse-map."
            )
        return {
            name: by_rank(rows, name, ORIGINAL + name, lambda ranks, y, own, draws: own, stream.child(name))
            for name in design.confidential
        }

    @classmethod
    def examples(cls) -> tuple[ReverseMap, ...]:
        return (cls(),)
