"""Whether a released record tells which part of the file it was protected with."""

from __future__ import annotations

import numpy as np

from suffice.risk.sample import RecordSample


def told_apart(sample: RecordSample) -> float:
    """How well distances of released records tell two parts apart: the area under a curve, .5 is chance, 1 always."""
    Z = sample.Ystar
    low, middle, high = np.nanquantile(Z, [0.25, 0.5, 0.75], axis=0)
    wide = np.where(high > low, high - low, 1.0)
    far = np.nanmean(np.abs(Z - middle) / wide, axis=1)
    inside = np.flatnonzero(sample.parts // 64 > 0)
    outside = np.flatnonzero(sample.parts // 64 == 0)
    if not len(inside) or not len(outside):
        return 0.5
    order = np.sort(far[outside])
    below, most = np.searchsorted(order, far[inside], "left"), np.searchsorted(order, far[inside], "right")
    return float((below + most).mean() / (2 * len(outside)))
