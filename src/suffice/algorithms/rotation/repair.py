"""From a start that breaks limits to one that keeps them, by turns that break less and less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Dealer
from suffice.algorithms.rotation.kernel import loops
from suffice.algorithms.rotation.trigonometry import direction
from suffice.algorithms.rotation.turn import Chance, beside, radii
from suffice.errors import InfeasibleError
from suffice.progress import Progress
from suffice.seed import Stream

Rows = NDArray[np.int64]

ANGLES = 12
"""Angles tried per group and sweep."""
SMALLEST = 1e-3
"""The smallest of them, in half turns."""
MOST = 1000
"""Sweeps after which no release is found."""
GROUPS = 1024
"""Groups worked on at once."""
LOOK, DONE = 50, 1e-4
"""Sweeps from one forecast to the next; a start that breaks this share of what it broke at first is nearly inside."""
HOPELESS, FEW = 1.5, 0.1
"""Given up where so many times the sweeps that there are would be needed, and more than so many cells a record are
left: the last few may go at once."""


def repaired(
    Y: Array,
    ground: Constraints,
    dealer: Dealer,
    stream: Stream,
    most: int = MOST,
    progress: Progress | None = None,
    still: bool = False,
) -> tuple[Array, int]:
    """Records that keep every limit, and the sweeps that it took; refused if `most` are not, or will not be, enough.

    still: groups that break no limit stay as they are, and others turn by as little as they can.
    """
    if ground.feasible(Y).all():
        return Y, 0
    in_y = replace(dealer.compass, pull=np.zeros(0))
    # records alike in y repair each other soonest; but where a start breaks limits by little, those alike are all near
    # the limit with nothing to give, and only where the order wraps around would they get it, from the largest
    dealer = replace(dealer, kind="random" if still else "near", compass=in_y)
    Y, scale = Y.copy(), np.maximum(np.abs(Y).mean(axis=0), np.finfo(np.float64).tiny)
    left, sizes = int(ground.violations(Y).sum()), [_size(Y, ground, scale)]
    expected = most
    for sweep in range(1, most + 1):
        if not left:
            return Y, sweep - 1
        if progress is not None:
            progress("repairing", sweep, max(expected, sweep + 1) if expected < most else most)
        generator = stream.generator("repair", sweep)
        groups = dealer.groups(Y, sweep, generator)
        if still:
            groups = groups[(ground.violations(Y) > 0)[groups].any(axis=1)]
        chance = Chance.drawn(generator, ground, groups)
        turns = angles(generator.random((len(groups), ANGLES)))
        if still:
            turns = np.take_along_axis(turns, np.argsort(np.minimum(turns, 1 - turns), axis=1), axis=1)
        _improve(Y, ground, groups, chance, turns, scale)
        left = int(ground.violations(Y).sum())
        sizes.append(_size(Y, ground, scale))
        if sweep % LOOK or not left:
            continue
        expected = min(most, needed := forecast(sizes))
        if left > FEW * len(Y) and needed > HOPELESS * most:
            words = f"about {needed:,}" if needed < 100 * most else f"more than {100 * most:,}"
            raise _infeasible(left, f"{sweep} sweeps; at this pace it would take {words}, and {most:,} are tried")
    if left:
        raise _infeasible(left, f"{most:,} sweeps")
    return Y, most


def forecast(sizes: Sequence[float]) -> int:
    """Sweeps that it takes to break next to nothing, at the pace of the last ones: that size falls by a share a sweep.

    >>> forecast([100 * 0.9**sweep for sweep in range(51)])
    87
    """
    now, window = sizes[-1], LOOK // 2
    pace = np.log(sizes[-1 - window] / now) / window
    left = max(0.0, float(np.log(now / (DONE * sizes[0]))))
    return len(sizes) - 1 + int(min(left / max(pace, 1e-9), 1e9))


def _infeasible(left: int, after: str) -> InfeasibleError:
    return InfeasibleError(
        f"Rotate found no release within the limits: {left:,} cells or edits are left over after {after}.\n"
        "Start from the original, which is inside (method rotate alone, not after another); or join small cells "
        "(merge_below=10), give fewer terms, loosen the limits."
    )


def _size(Y: Array, ground: Constraints, scale: Array) -> float:
    """By how much all records break their limits."""
    return float(broken(Y[None], ground, np.arange(len(Y))[None], scale)[0])


def _improve(Y: Array, ground: Constraints, groups: Rows, chance: Chance, turns: Array, scale: Array) -> None:
    for first in range(0, len(groups), GROUPS):
        part = slice(first, first + GROUPS)
        rows = groups[part]
        Y[rows] = _best(Y[rows], ground, rows, chance.normals[part], turns[part], scale)


def _best(y: Array, ground: Constraints, rows: Rows, normals: Array, turns: Array, scale: Array) -> Array:
    """Of the angles tried, the first that breaks least; standing still only where every other breaks more."""
    module = loops(len(ground.X), ground.X.shape[1])
    both = radii(beside(y), ground, rows, normals, module)
    b, d = (np.ascontiguousarray(each.transpose(2, 0, 1)) for each in both)
    best, least = y, broken(y, ground, rows, scale)
    moved = np.zeros(len(y), dtype=bool)
    for angle in turns.T:
        cos, sin = (each[:, None, None] for each in direction(angle))
        new = cos * b + sin * d + y
        size = broken(new, ground, rows, scale)
        better = (size < least) | ((size <= least) & ~moved)
        best, least = np.where(better[:, None, None], new, best), np.where(better, size, least)
        moved |= better
    return best


def angles(uniforms: Array) -> Array:
    """In turns; every other one is uniform; the ones between are small as often as large, either way."""
    spread = 2 * uniforms - 1
    small = 0.5 * SMALLEST ** np.abs(spread)
    either = np.where(spread < 0, 1.0 - small, small)
    return np.where(np.arange(uniforms.shape[1]) % 2 == 0, uniforms, either)


def broken(y: Array, ground: Constraints, rows: Rows, scale: Array) -> Array:
    """By how much each group breaks its limits, in units of the columns' sizes."""
    beyond = np.maximum(ground.low - y, 0.0) + np.maximum(y - ground.high, 0.0)
    size = (beyond / scale).sum(axis=(1, 2))
    if len(ground.C):
        unit = np.abs(ground.C) @ scale
        size = size + (np.maximum(y @ ground.C.T - ground.rhs[rows], 0.0) / unit).sum(axis=(1, 2))
    return np.asarray(size)
