"""The arrays that everybody speaks of, and the last digit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)
CONSTANT = 4 * EPS
"""A column whose standard deviation is at most this share of its largest value is constant."""


def constant(sd: Array, size: Array) -> Flags:
    """Which columns do not vary, by their standard deviations and largest absolute values."""
    return np.asarray(sd <= CONSTANT * size)
