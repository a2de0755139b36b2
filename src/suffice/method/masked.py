"""What a method that needs all rows says, where nothing more is to be said than the rows and a few sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array


@dataclass(frozen=True, repr=False)
class Made:
    """Released rows, sentences for the reader of the certificate, and label columns that leave with the rows."""

    Ystar: Array
    said: tuple[str, ...] = ()
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    unmoved: tuple[int, ...] = ()

    def remarks(self) -> tuple[str, ...]:
        return self.said
