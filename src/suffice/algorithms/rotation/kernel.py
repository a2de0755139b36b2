"""Which kernel turns: the compiled one where numba is installed, else NumPy. The release is the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algorithms.rotation import turn
from suffice.algorithms.rotation.constraints import Constraints

Kernel = Callable[[NDArray[np.float64], Constraints, NDArray[np.int64], turn.Chance], None]


@cache
def compiled() -> Any | None:
    """The module of compiled loops, if this machine has it."""
    try:
        from suffice.algorithms.rotation import compiled as module
    except (ImportError, RuntimeError):  # not installed, or nowhere to keep what it compiles
        return None
    return module


def kernel() -> Kernel:
    """The fastest kernel that this machine has."""
    module = compiled()
    return turn.turn if module is None else module.turn
