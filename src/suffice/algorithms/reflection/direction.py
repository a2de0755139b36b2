"""Where to reflect: one direction that changes every column by as much as is asked."""

from __future__ import annotations

import math

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import InfeasibleError

MOST = 0.5
"""The share of a direction, squared, that may lie among the residuals: beyond it the reflection turns back to -E."""
SPREADS = (1.0, 0.5, 0.25, 0.0)
"""How unequal the pull of the columns may be: the most that still reaches the target."""
TIE = 1e-6
"""A gain below this flips no sign, so that rounding decides nothing."""


def aimed(W: Array, g: Array, change: float, most: float = MOST) -> Array:
    """The secret part `a` of a direction u = T a + ..., so that no column of E = T W changes by less than `change`.

    |e*_j - e_j| / |e_j| = 2 |a'w_j| / |w_j| >= change,    |a|^2 <= most

    Signs s are flipped while one of s_j b'w_j is below t_j, b = sum s_j t_j w_j / |w_j|. Each flip makes b longer, so
    it ends, and then every |b'w_j| / |w_j| is at least t_j, while |b| is at most sum t_j (Bang 1951). So any k columns
    allow a change of 2 sqrt(most) / k, and uncorrelated ones of 2 sqrt(most / k). Where more is asked for, the
    shortest `a` with these signs is taken.

    W: loadings, without columns of zeros
    g: random numbers, one for each row of W; they decide signs and, as far as the target allows, the pull t_j
    change: in residual standard deviations
    most: how much of the direction may lie among the residuals

    Mera (1997), section 3.4.

    >>> W = np.array([[1.0, 0.5], [0.0, 2.0]])
    >>> a = aimed(W, np.array([0.3, -1.2]), change=0.9)
    >>> float((2 * np.abs(a @ W) / np.linalg.norm(W, axis=0)).min().round(12))
    0.9
    """
    unit = W / np.linalg.norm(W, axis=0)
    pull = unit.T @ g
    share = np.abs(pull) / np.linalg.norm(g)
    a = np.zeros(len(W))
    for spread in SPREADS:
        b = _agreeing(unit, np.where(pull < 0, -1.0, 1.0), 1.0 + spread * share)
        a = b * (change / 2 / np.abs(b @ unit).min())
        if a @ a <= most * (1 + TIE):
            return np.asarray(a)
    a = _shortest(unit * np.sign(a @ unit)) * (change / 2)
    if a @ a <= most * (1 + TIE):
        return a
    raise _beyond(change, change * math.sqrt(most / (a @ a)), W.shape[1])


def _agreeing(unit: Array, s: Array, t: Array) -> Array:
    """b = sum s_j t_j w_j, with signs for which every s_j b'w_j is at least t_j."""
    b = unit @ (s * t)
    short = s * (b @ unit) - t
    while short.min() < -TIE:
        j = int(short.argmin())
        s[j] = -s[j]
        b = unit @ (s * t)
        short = s * (b @ unit) - t
    return b


def _shortest(A: Array) -> Array:
    """The shortest a with a'A >= 1 (least distance programming; Lawson & Hanson 1974, chapter 23)."""
    from scipy.optimize import nnls  # slow to load

    E, f = np.vstack([A, np.ones(A.shape[1])]), np.r_[np.zeros(len(A)), 1.0]
    r = E @ nnls(E, f)[0] - f
    a = -r[:-1] / r[-1]
    return np.asarray(a / (a @ A).min())


def _beyond(change: float, reached: float, k: int) -> InfeasibleError:
    return InfeasibleError(
        f"No one direction changes every column by {change:g} of a residual standard deviation.\n"
        f"  reached {math.floor(1000 * reached + TIE) / 1000:g} . columns that vary {k}\n"
        "Ask for less, or mask fewer variables together."
    )
