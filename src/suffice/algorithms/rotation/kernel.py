"""Which kernel turns: the compiled one if numba is there and so is work for it, else NumPy. The release is the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algorithms.rotation import turn
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.densities import Densities

Kernel = Callable[[NDArray[np.float64], Constraints, Densities, NDArray[np.int64], turn.Chance], None]
FEW = 50_000
"""Records turned, over all sweeps, before the compiled loops are loaded: that takes as long as turning so many."""
turned = 0


def compiled(records: int) -> Any | None:
    """The module of compiled loops, if this machine has it and it is worth loading.

    records: how many are to be turned now
    """
    global turned
    turned += records
    return _module() if turned > FEW or "numba" in sys.modules else None


@cache
def _module() -> Any | None:
    try:
        from suffice.algorithms.rotation import compiled as module
    except (ImportError, RuntimeError):  # not installed, or nowhere to keep what it compiles
        return None
    return module


def kernel(records: int) -> Kernel:
    """The kernel that is done first."""
    module = compiled(records)
    return turn.turn if module is None else module.turn
