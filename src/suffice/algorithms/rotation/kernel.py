"""Which kernel turns: the compiled one if numba is there and so is work for it, else NumPy. The release is the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from suffice.algorithms.room import ROOMY
from suffice.algorithms.rotation import turn

Kernel = Callable[..., None]
"""Of a state, Constraints, Densities, groups and their Chance, and what is known of records."""
SWEEP, FEW = 2_500, 300_000
"""What a sweep in NumPy takes before its first record, in records turned; and how many of these take as long as
loading the compiled loops (measured: 4.9 ms, 1.8 us and .3 to .5 s)."""
STEPS = 2_000_000
"""Products of records and pairs of columns of a sweep, from which on some sweeps take as long as loading does."""
turned = 0


def loaded() -> Any | None:
    """The module of compiled loops, if it is there already, or for the asking."""
    return _module() if "numba" in sys.modules else None


@cache
def _module() -> Any | None:
    if not ROOMY:
        return None
    try:
        from suffice.algorithms.rotation import compiled as module
    except (ImportError, OSError, RuntimeError):  # not installed, no room, or nowhere to keep what it compiles
        return None
    return module


def loops(records: int, columns: int) -> Any | None:
    """The module of compiled loops, where groups of so many given columns are made orthonormal in sweep after sweep."""
    return _module() if columns**2 * records > STEPS else loaded()


def kernel(records: int, ahead: int = 1) -> Kernel:
    """The kernel that is done first with so many records in so many sweeps."""
    global turned
    work = records + SWEEP
    module = _module() if turned + ahead * work > FEW else loaded()
    turned += work
    return turn.turn if module is None else module.turn
