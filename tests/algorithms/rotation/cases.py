"""Files to walk on: given columns, weights, bounds and a random polyhedron of edits that the start keeps."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from suffice.algebra.array import Array
from suffice.design.limits import Limits
from suffice.method.records import Records


def limits(Y: Array, low: float = -np.inf, C: Array | None = None, room: Array | None = None) -> Limits:
    """The same lower bound for every column, and edits C y <= C y + room of each record."""
    n, k = Y.shape
    C = np.empty((0, k)) if C is None else C
    rhs = Y @ C.T + (0.0 if room is None else room)
    names = (*(f"edit {i}" for i in range(len(C))), *(f"bounds of {j}" for j in range(k) if low > -np.inf))
    return Limits(np.full(k, low), np.full(k, np.inf), C, rhs.reshape(n, len(C)), names)


def skewed(n: int, k: int, given: int = 0, seed: int = 0) -> Records:
    """Exponential columns at or above zero that follow the given ones a little."""
    rng = np.random.default_rng(seed)
    X = np.hstack([np.ones((n, 1)), rng.normal(size=(n, given))])
    Y = rng.exponential(size=(n, k)) * np.exp(0.3 * X[:, -1:])
    return Records(X, Y, Y, limits=limits(Y, 0.0))


@st.composite
def tasks(draw: st.DrawFn) -> Records:
    """Given columns, weights (some zero), cells, cells exactly at a bound, and edits with and without room."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    given, k = draw(st.integers(0, 3)), draw(st.integers(1, 4))
    n = given + 3 + draw(st.integers(0, 40))
    X = np.hstack([np.ones((n, 1)), rng.normal(size=(n, given))])
    Y = rng.exponential(size=(n, k)) * 10.0 ** rng.integers(-6, 7, size=k)
    if draw(st.booleans()):
        Y[rng.random((n, k)) < 0.3] = 0.0  # at the bound
    w = rng.exponential(size=n) * (rng.random(n) > 0.2) if draw(st.booleans()) else None
    edits = draw(st.integers(0, 3))
    C = rng.normal(size=(edits, k)) / np.abs(Y).mean(axis=0).clip(1e-9)
    room = rng.exponential(size=(n, edits)) * (rng.random((n, edits)) > 0.2)
    cells = rng.integers(0, 2, n) if draw(st.booleans()) else None
    return Records(X, Y, Y, w, limits(Y, 0.0, C, room), cells)
