"""Partners for swapping of ranks, found in rounds that the random numbers alone decide, compiled or by NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.jit import COMPILED, loops

Ranks = NDArray[np.int64]

LEARNT, TRIED = 2**13, (8, 64)
"""Values of a column, in order, from which a window is learnt, and swaps that are tried: of few values more."""


def partners(ranks: Ranks, window: int, draws: np.random.Generator) -> Ranks:
    """For each of some ranks, which are in order, the place of its partner: at most `window` ranks away, or itself.

    In every round half of those that are free call another of the other half, uniformly among all within reach; who is
    called several times takes the last. A rank stays alone where no other is left within reach.

    >>> found = partners(np.arange(6), 2, np.random.default_rng(1))
    >>> np.array_equal(found[found], np.arange(6)), int(np.abs(found - np.arange(6)).max()) <= 2
    (True, True)
    """
    partner, free = np.arange(len(ranks)), _within_reach(np.arange(len(ranks)), ranks, window)
    left = _left if COMPILED else _left_at_once
    while len(free):
        free = left(ranks, window, free, draws.random(len(free)), partner)
    return partner


def _within_reach(free: Ranks, ranks: Ranks, window: int) -> Ranks:
    """Those that have another one, before or behind them, within reach."""
    near = np.diff(ranks[free], prepend=-window - 1, append=ranks[-1:] + window + 1) <= window
    return free[near[1:] | near[:-1]]


def _left_at_once(ranks: Ranks, window: int, free: Ranks, u: Array, partner: Ranks) -> Ranks:
    """One round: those that are free after it, and have another one within reach."""
    calls = u < 0.5
    callers, others = free[calls], free[~calls]
    own, theirs = ranks[callers], ranks[others]
    first = np.searchsorted(theirs, own - window, "left")
    count = np.searchsorted(theirs, own + window, "right") - first
    some = np.flatnonzero(count)
    who = others[first[some] + (2 * u[calls][some] * count[some]).astype(np.int64)]
    partner[who] = callers[some]  # the last call counts
    taken = others[partner[others] != others]
    partner[partner[taken]] = taken
    return _within_reach(free[partner[free] == free], ranks, window)


@loops
def _left(ranks: Ranks, window: int, free: Ranks, u: Array, partner: Ranks) -> Ranks:
    others, count = np.empty(len(free), np.int64), 0
    for i in range(len(free)):
        if u[i] >= 0.5:
            others[count] = free[i]
            count += 1
    first, last = 0, 0
    for i in range(len(free)):
        if u[i] < 0.5:
            own = ranks[free[i]]
            while first < count and ranks[others[first]] < own - window:
                first += 1
            while last < count and ranks[others[last]] <= own + window:
                last += 1
            if last > first:
                partner[others[first + int(2 * u[i] * (last - first))]] = free[i]
    for other in others[:count]:
        if partner[other] != other:
            partner[partner[other]] = other
    left, count = others, 0
    for i in range(len(free)):
        if partner[free[i]] == free[i]:
            left[count] = free[i]
            count += 1
    found, near = 0, False
    for i in range(count):
        behind = i + 1 < count and ranks[left[i + 1]] - ranks[left[i]] <= window
        if near or behind:
            left[found] = left[i]  # never ahead of what is looked at
            found += 1
        near = behind
    return left[:found].copy()


def partners_behind(ranks: Ranks, window: int, draws: np.random.Generator) -> Ranks:
    """The same by Moore's sweep: in order of rank, each that is free with one that is free among the next `window`.

    >>> found = partners_behind(np.arange(6), 2, np.random.default_rng(1))
    >>> np.array_equal(found[found], np.arange(6)), int(np.abs(found - np.arange(6)).max()) <= 2
    (True, True)
    """
    return _swept(ranks, window, draws.random(len(ranks)))


@loops
def _swept(ranks: Ranks, window: int, u: Array) -> Ranks:
    n, last, half = len(ranks), 0, 1
    partner, tree = np.arange(n), np.ones(n + 1, np.int64)  # how many are free, in sums over powers of two of them
    while 2 * half <= n:
        half *= 2
    for i in range(1, n + 1):
        if i + (i & -i) <= n:
            tree[i + (i & -i)] += tree[i]
    for i in range(n):
        while last < n and ranks[last] <= ranks[i] + window:
            last += 1
        if partner[i] != i:
            continue
        other, count, j = i, 0, last
        for place in range(2):  # itself first, then its partner: all before them are gone
            j = other + 1
            while j <= n:
                tree[j] -= 1
                j += j & -j
            if place == 1:
                break
            j = last
            while j > 0:
                count += tree[j]
                j -= j & -j
            if count == 0:
                break
            left, other, step = int(u[i] * count) + 1, 0, half
            while step > 0:
                if other + step <= n and tree[other + step] < left:
                    other += step
                    left -= tree[other]
                step //= 2
            partner[i], partner[other] = other, i
    return partner


def window_of(
    columns: list[Array], correlation: float, paired: Callable[[Ranks, int, np.random.Generator], Ranks] = partners
) -> float:
    """The share of the ranks at which the smallest mean correlation of old and new column falls to `correlation`.

    columns: some values of each in order, as many of one as of another; one that does not vary tells nothing
    """
    Z = [(y - y.mean()) / y.std() for y in columns if y[0] < y[-1]]
    low, high, own = 0.0, 1.0, np.arange(len(columns[0]))
    tried = max(TRIED[0], min(TRIED[1], TRIED[0] * LEARNT // len(own)))
    for _ in range(14 if Z else 0):
        share = (low + high) / 2
        draws = np.random.default_rng(0)  # swaps that are tried, whatever the key
        pairs = [paired(own, max(1, round(share * len(own))), draws) for _ in range(tried)]
        kept = min(float(np.mean([np.mean(z * z[pair]) for pair in pairs])) for z in Z)
        low, high = (share, high) if kept > correlation else (low, share)
    return high
