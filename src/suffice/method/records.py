"""What a method that needs all rows at once is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array

if TYPE_CHECKING:
    from suffice.design.limits import Limits

Labels = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Records:
    """The rows of one release, or of one super-block of it.

    X: given columns, the intercept among them, independent and well scaled.
    Y: confidential columns where the walk starts: the original, or another release of it.
    original: confidential columns of the original.
    w: weights with mean one; None if unweighted.
    limits: bounds and edits; None if there are none.
    cells: the cell of each record, where records of one cell share every factor; None without factors.
    names: of the confidential columns.
    """

    X: Array
    Y: Array
    original: Array
    w: Array | None = None
    limits: Limits | None = None
    cells: Labels | None = None
    names: tuple[str, ...] = ()
    inner: int = 1
    """Cells that share the level of the first factor: cells // inner is that level."""
    matrices: Mapping[str, Array] = field(default_factory=dict)
    """Columns of the terms that the method asked for, by its own names, as the file has them."""
    labels: Mapping[str, Labels] = field(default_factory=dict)
    """Groups that the method asked for, by its own names."""
    started: bool = False
    """Whether Y is another data set than the original."""
    learnt: Any = None
    """What the method learnt of the whole file, where these are some of its records."""

    @property
    def n(self) -> int:
        return len(self.Y)

    def __repr__(self) -> str:
        return f"Records({self.n} records, {self.X.shape[1]} given, {self.Y.shape[1]} confidential)"
