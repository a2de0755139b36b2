"""Whether records can be put into groups of k at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InfeasibleError, InputError, UsageError

LARGEST = 1e150


def checked(V: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """V as floats, row after row; refused where no group of k can be made of it."""
    V = np.ascontiguousarray(V, dtype=np.float64)
    if k < 1:
        raise UsageError(f"A group needs at least one record; k is {k}. Give k = 3 or more.")
    if V.ndim != 2 or V.shape[1] == 0:
        raise InputError(f"Groups need a table of records; the shape is {V.shape}. Give at least one column.")
    if len(V) < k:
        raise InfeasibleError(f"Groups of {k} need at least {k} records and there are {len(V)}. Use a smaller k.")
    if missing := int((~np.isfinite(V)).sum()):
        raise InputError(f"{missing} of {V.size} cells are missing or infinite. Drop or fill them first.")
    if large := int((np.abs(V) > LARGEST).sum()):
        raise InputError(f"{large} of {V.size} cells are too large to be squared. Standardise the columns first.")
    return V
