"""Loops that numba compiles where it is installed, and Python runs where it is not: one source, one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from suffice.algorithms.room import ROOMY

F = TypeVar("F", bound=Callable[..., Any])

try:
    if not ROOMY:
        raise ImportError("too few addresses")
    from numba import njit
except (ImportError, OSError):
    njit = None  # type: ignore[assignment]


def loops(function: F) -> F:
    """`function`, compiled if that can be done here. No fast mathematics: it would be another partition."""
    if njit is None:
        return function
    try:
        return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:  # nowhere to keep what it compiles
        return function


COMPILED = hasattr(loops(lambda: None), "py_func")
"""Whether loops are compiled here."""
