"""Numbers of new records moved a little, in few cells, until their second moments are those of the original."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import independent
from suffice.errors import InfeasibleError

SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
"""Of the cells of a column that carry the correction, the fewest first: those left alone keep heaps and digits."""
HEAP = 10
"""Records that share a value."""
CLOSELY = 0.5
"""Share of a column's variance that the columns before it explain, from which on it follows their moves."""
ROUNDS = 60
"""How often cells that would leave their bounds are left alone and the others asked again."""
POLISH = 3
"""Times that what rounding left is corrected."""


def in_moments(
    D: Array,
    Y: Array,
    D0: Array,
    Y0: Array,
    free: Flags,
    low: Array,
    high: Array,
    draws: np.random.Generator,
    names: Sequence[str] = (),
) -> Array:
    """Y with D'Y = D0'Y0 and Y'Y = Y0'Y0, where D'D = D0'D0: columns in turn, each in some of its free cells.

    With A = [D, columns before] and F the cells that may move: y_F + A_F c + s v, where A_F'A_F c closes the gap of A'y
    and v = y_F less its fit by A_F, which changes no product with A; s then gives y'y. So the whole Gram matrix of
    [D Y] is that of [D0 Y0]: this is `Restore` between two files, with the original's B and loadings, in few cells.

    D, D0: of the new records and of the original, a constant among the columns
    free: cells that may move; others (spikes, bounds, holes) stay
    low, high: bounds of the columns, which moved cells keep
    names: of the columns, for a message

    >>> rng = np.random.default_rng(1)
    >>> Y0, Y, one = rng.gamma(2.0, size=(900, 2)), rng.gamma(2.1, size=(900, 2)), np.ones((900, 1))
    >>> made = in_moments(one, Y, one, Y0, Y > 0.3, np.zeros(2), np.full(2, np.inf), rng)
    >>> np.allclose(made.sum(axis=0), Y0.sum(axis=0)), np.allclose(made.T @ made, Y0.T @ Y0), bool((made >= 0).all())
    (True, True, True)
    >>> float((made == Y).mean()) > 0.6
    True
    """
    kept = list(independent(D))
    D, D0 = D[:, kept], D0[:, kept]
    centre, scale = Y0.mean(axis=0), np.where(Y0.std(axis=0) > 0, Y0.std(axis=0), 1.0)
    E, E0, made = (Y - centre) / scale, (Y0 - centre) / scale, np.array(Y, dtype=np.float64)
    for j in range(Y.shape[1]):
        A, A0 = np.column_stack([D, E[:, :j]]), np.column_stack([D0, E0[:, :j]])
        ends = (low[j] - centre[j]) / scale[j], (high[j] - centre[j]) / scale[j]
        own, last = E[:, j].copy(), _heaped(Y[:, j]).astype(float)
        slopes = _bound(D0, E0[:, :j], E0[:, j])
        if slopes is not None:  # what the columns before it moved by, it follows
            step = np.where(free[:, j], (E[:, :j] - (Y[:, :j] - centre[:j]) / scale[:j]) @ slopes, 0.0)
            own, last = np.clip(own + step, *np.sort(ends)), np.where(step != 0, -1.0, last)
        for share in SHARES:
            cells = draws.permutation(np.flatnonzero(free[:, j]))
            cells = cells[np.argsort(last[cells], kind="stable")][: max(int(share * len(Y)), 1)]
            found = _column(A, own, A0.T @ E0[:, j], float(E0[:, j] @ E0[:, j]), cells, ends)
            if found is not None:
                break
        else:
            raise InfeasibleError(
                f"{names[j] if names else j + 1!r} cannot be moved to the second moments of the original: too few "
                "cells are free, or what was drawn is too far off.\n"
                "Join levels that few records have, give the column another model, or wider bounds."
            )
        moved = found != E[:, j]
        E[:, j] = found
        made[moved, j] = np.clip(centre[j] + scale[j] * found[moved], low[j], high[j])
    return made


def _bound(D0: Array, before: Array, y: Array) -> Array | None:
    """Slopes of a column on those before it, where these explain most of what D leaves of it."""
    if not before.shape[1]:
        return None
    Q = np.linalg.qr(D0)[0]
    B, r = before - Q @ (Q.T @ before), y - Q @ (Q.T @ y)
    slopes = np.linalg.lstsq(B, r, rcond=1e-9)[0]
    rest = r - B @ slopes
    return np.asarray(slopes) if rest @ rest < (1 - CLOSELY) * (r @ r) else None


def _heaped(y: Array) -> Flags:
    """Cells whose value many share: they are moved last, since a heap that is moved is none."""
    _, place, times = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray(times[place] >= HEAP)


def _column(
    A: Array, y: Array, products: Array, square: float, cells: NDArray[np.intp], ends: tuple[float, float]
) -> Array | None:
    """y with A'y = products and y'y = square, moved in some cells, inside the ends; None where there is none."""
    cells = np.sort(cells)
    for _ in range(ROUNDS):
        if len(cells) <= A.shape[1] + 1:
            return None
        z, F = y.copy(), A[cells]
        Q, R = np.linalg.qr(F)
        if np.abs(np.diag(R)).min() <= 1e-9 * np.abs(np.diag(R)).max():
            return None
        for _ in range(POLISH):
            z[cells] += Q @ np.linalg.solve(R.T, products - A.T @ z)
            v = z[cells] - Q @ (Q.T @ z[cells])
            v -= Q @ (Q.T @ v)
            own = float(v @ v)
            room = square - float(z @ z) + own
            if room <= 0 or own <= 1e-9 * square:
                return None
            z[cells] += (np.sqrt(room / own) - 1.0) * v
        out = (z[cells] <= ends[0]) | (z[cells] >= ends[1])
        if not out.any():
            return z
        cells = cells[~out]
    return None
