"""Hellinger distance: how far the shares of a column's values are from the original's."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.utility.table_fit import TableFit
from suffice.utility.two_files import TwoFiles

GROUPS = 20
"""Groups, about equally large in both files together, of a column of numbers."""


def hellinger(files: TwoFiles) -> Array:
    """For each column sqrt(1 - sum of sqrt(p q)), p and q the shares of its levels: 0 alike, 1 with none in common.

    Numbers are cut into 20 groups; missing cells are a level.

    >>> hellinger(TwoFiles.of({"x": np.arange(40.0)}, {"x": np.arange(40.0) + 100}))
    array([1.])
    """
    return np.array([TableFit.of(*files.counts([name], GROUPS)).hellinger for name in files.names])


def _largest(pair: FilePair) -> Value:
    names = dict.fromkeys((*pair.numbers, *pair.categories))
    found = {name: float(hellinger(TwoFiles.of(*pair.whole(name, holes=True), pair.categories))[0]) for name in names}
    return Value(max(found.values()), found)


MEASURES = (
    Measure(
        "hellinger",
        _largest,
        frozenset({"numbers or categories"}),
        SHARE,
        "lower is better",
        f"sqrt(1 - sum of sqrt(p q)), p and q the shares of a column's levels, or of {GROUPS} groups of its numbers, "
        "in the two files: the largest over columns",
        "Hellinger (1909)",
        whole=True,
    ),
)
