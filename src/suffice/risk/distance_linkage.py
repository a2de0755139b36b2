"""Distance-based record linkage of two whole files (Pagliuca & Seri 1999; Calvino 2017, section 4.1)."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure
from suffice.risk.linkage import LinkMeasure


def distance_linkage(Y: Array, Ystar: Array) -> float:
    """The share of records whose own released record is the nearest of all; m that are equally near count 1/m.

    Distances are Euclidean, in columns that are divided by the original's standard deviation. 1 / n is chance.

    >>> Y = np.arange(8.0).reshape(4, 2)
    >>> distance_linkage(Y, Y), distance_linkage(Y, Y[::-1]), distance_linkage(Y, 0 * Y)
    (1.0, 0.0, 0.25)
    """
    sd = Y.std(axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    measure = LinkMeasure(tuple(range(Y.shape[1])), scale, Y / scale, Ystar / scale)
    return measure.matches(measure.compared(measure.Ystar), len(Y)).found / max(1, len(Y))


MEASURES = (
    Measure(
        "distance-linkage",
        lambda pair: distance_linkage(pair.Y, pair.Ystar),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records whose own released record is the nearest of all, by Euclidean distance in columns divided "
        "by the original's standard deviation; of m that are equally near each counts 1/m",
        "Pagliuca & Seri (1999); Calvino (2017), section 4.1",
        most=20_000,
    ),
)
