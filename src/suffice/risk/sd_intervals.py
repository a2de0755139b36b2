"""Standard-deviation intervals: records near their released ones in all columns (Mateo-Sanz et al. 2004; dRisk)."""

from __future__ import annotations

import numpy as np

from suffice.measure.measure import SHARE, Measure, beside_chance
from suffice.measure.numbers import FileNumbers, Numbers, total


def sd_intervals(Y: Numbers, Ystar: Numbers, k: float = 0.05) -> float:
    """The share of records with every original value within k standard deviations of the released one.

    The standard deviation is that of the *released* column, with n - 1.

    >>> Y = np.arange(8.0).reshape(4, 2)
    >>> sd_intervals(Y, Y), sd_intervals(Y, Y[::-1])
    (1.0, 0.0)
    """
    after = FileNumbers.of(Ystar)
    reach = k * after.sd
    found = total(lambda one, two: (np.abs(one - two) <= reach).all(axis=1).sum(), Y, after)
    return float(found / len(Y)) if len(Y) > 1 else 0.0


MEASURES = (
    Measure(
        "sd-intervals",
        lambda pair: beside_chance(sd_intervals, pair.original, pair.release),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records with every original value within .05 standard deviations, of the released column, of its "
        "released value",
        "Mateo-Sanz, Sebe & Domingo-Ferrer (2004)",
        whole=True,
    ),
)
