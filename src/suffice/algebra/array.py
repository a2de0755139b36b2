"""The arrays that everybody speaks of, and the last digit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)
