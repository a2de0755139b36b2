"""What every method gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array


@dataclass(frozen=True, repr=False)
class Masked:
    """Released values, and what must be said about them.

    remarks: sentences for the data holder: counts and names only
    labels: columns that the method made to tell groups, and that leave with the release
    unmoved: rows released where they were, all-zero ones aside
    """

    Ystar: Array
    remarks: tuple[str, ...] = ()
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    unmoved: tuple[int, ...] = ()
