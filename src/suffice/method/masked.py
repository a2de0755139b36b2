"""What every method gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.errors import UsageError


@dataclass(frozen=True, repr=False)
class Masked:
    """Released values, and what must be said about them.

    remarks: sentences for the data holder: counts and names only; below one a table with tabs, which pages show
    labels: columns that the method made to tell groups, and that leave with the release
    unmoved: rows released where they were, all-zero ones aside
    anew: whether records were drawn, so that no value of the original is handed on
    """

    Ystar: Array
    remarks: tuple[str, ...] = ()
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    unmoved: tuple[int, ...] = ()
    anew: bool = False


@dataclass(frozen=True, repr=False)
class MaskedColumns:
    """Released columns as `Rows.with_columns` takes them, and what must be said about them.

    makes: what the literature calls such data, where that can be told: masked, hybrid, synthetic
    anew: whether records were drawn, so that no value of the original is handed on
    facts: what guards should know of the models that they were drawn from, as counts and names
    """

    columns: Mapping[str, Any]
    remarks: tuple[str, ...] = ()
    makes: str = ""
    anew: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)


def finite(Ystar: Any, shape: tuple[int, ...], method: str) -> Array:
    """Released values as a method gave them, if they are numbers, one for each cell.

    >>> finite(np.ones((2, 1)), (2, 1), "mine").shape
    (2, 1)
    """
    if not isinstance(Ystar, np.ndarray) or Ystar.dtype.kind not in "fiu" or Ystar.shape != shape:
        found = f"a table of {' x '.join(map(str, Ystar.shape))}" if isinstance(Ystar, np.ndarray) else "no table"
        raise UsageError(f"{method} gave {found}: it must give numbers, {' x '.join(map(str, shape))}.")
    if wrong := int(Ystar.size - np.isfinite(Ystar).sum()):
        raise UsageError(
            f"{method} gave {wrong:,} values of {Ystar.size:,} that are missing or infinite.\n"
            "It must give a number for every cell: look at what it does where a column or a group hardly varies."
        )
    return Ystar
