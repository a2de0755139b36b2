"""Some neighbouring groups, parted anew: everything here sees only the squared distances D of their few records.

A group's sum of squares is W / size with W = sum of D over its pairs; R[a, B] = sum of D from record a to group B, so
that the gain of any move is a formula of a few numbers.
"""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import numpy as np

from suffice.algorithms.jit import loops

ROUNDS = 20
"""A descent takes three or four; rounding must not keep it going."""


@loops
def squares(V, pool, D) -> None:  # type: ignore[no-untyped-def]
    """D: squared distances between the records of the pool."""
    for a in range(len(pool)):
        D[a, a] = 0.0
        for b in range(a):
            total = 0.0
            for j in range(V.shape[1]):
                t = V[pool[a], j] - V[pool[b], j]
                total += t * t
            D[a, b], D[b, a] = total, total


@loops
def tally(D, group, R, W, size) -> None:  # type: ignore[no-untyped-def]
    """R, W and size of a partition; records without a group (-1) count nowhere."""
    W[:], size[:], R[:] = 0.0, 0, 0.0
    for a in range(len(group)):
        if group[a] >= 0:
            size[group[a]] += 1
            for b in range(len(group)):
                R[b, group[a]] += D[b, a]
    for a in range(len(group)):
        if group[a] >= 0:
            W[group[a]] += 0.5 * R[a, group[a]]


@loops
def cost(D, group, R, W, size):  # type: ignore[no-untyped-def]
    """The sum of squares inside groups, summed afresh."""
    tally(D, group, R, W, size)
    total = 0.0
    for g in range(len(W)):
        if size[g] > 0:
            total += W[g] / size[g]
    return total


@loops
def join(a, B, D, group, R, W, size) -> None:  # type: ignore[no-untyped-def]
    """Record a, without a group, enters B."""
    W[B] += R[a, B]
    size[B] += 1
    group[a] = B
    for b in range(len(group)):
        R[b, B] += D[b, a]


@loops
def move(a, B, D, group, R, W, size) -> None:  # type: ignore[no-untyped-def]
    """Record a leaves its group for B."""
    A = group[a]
    W[A] -= R[a, A]
    size[A] -= 1
    for b in range(len(group)):
        R[b, A] -= D[b, a]
    join(a, B, D, group, R, W, size)


@loops
def dearer(a, B, R, W, size):  # type: ignore[no-untyped-def]
    """What record a adds to the sum of squares of B."""
    return (W[B] + R[a, B]) / (size[B] + 1) - W[B] / size[B]


@loops
def best_change(a, D, group, groups, k, R, W, size, least):  # type: ignore[no-untyped-def]
    """Where record a should go, and who should take its place (-1: nobody), for a gain above `least`; else -1, -1."""
    A, to, other = group[a], -1, -1
    if size[A] > k:
        rid = W[A] / size[A] - (W[A] - R[a, A]) / (size[A] - 1)
        for B in range(groups):
            if B != A and size[B] < 2 * k - 1:
                gain = rid - dearer(a, B, R, W, size)
                if gain > least:
                    least, to = gain, B
    for b in range(len(group)):
        B = group[b]
        if B != A:
            gain = (R[a, A] - R[b, A] + D[a, b]) / size[A] + (R[b, B] - R[a, B] + D[a, b]) / size[B]
            if gain > least:
                least, to, other = gain, B, b
    return to, other


@loops
def descend(D, group, groups, k, R, W, size, least) -> None:  # type: ignore[no-untyped-def]
    """Move records, or change two for each other, as long as one of these gains more than `least`."""
    for _ in range(ROUNDS):
        moved = False
        for a in range(len(group)):
            A = group[a]
            to, other = best_change(a, D, group, groups, k, R, W, size, least)
            if to >= 0:
                move(a, to, D, group, R, W, size)
                moved = True
            if other >= 0:
                move(other, A, D, group, R, W, size)
        if not moved:
            return


@loops
def draw(state, below):  # type: ignore[no-untyped-def]
    """The next of a fixed row of numbers below `below` (Lehmer's generator): chance has no part in a partition."""
    state[0] = state[0] * 48271 % 2147483647
    return state[0] % below


@loops
def compose(D, group, groups, k, R, W, size, state) -> None:  # type: ignore[no-untyped-def]
    """Groups of k around drawn records, or each around the farthest from the last; who is left joins the cheapest."""
    group[:] = -1
    drawn, centre = draw(state, 2) == 0, draw(state, len(group))
    for g in range(groups):
        centre = next_free(draw(state, len(group)), group) if drawn else utmost(D[centre], group, 1.0)
        group[centre] = g
        for _ in range(k - 1):
            group[utmost(D[centre], group, -1.0)] = g
    tally(D, group, R, W, size)
    for a in range(len(group)):
        if group[a] < 0:
            join(a, cheapest(a, groups, k, R, W, size), D, group, R, W, size)


@loops
def next_free(a, group):  # type: ignore[no-untyped-def]
    while group[a] >= 0:
        a = (a + 1) % len(group)
    return a


@loops
def utmost(d, group, sign):  # type: ignore[no-untyped-def]
    """The farthest record without a group (sign 1), or the nearest (-1)."""
    found, best = -1, -np.inf
    for a in range(len(group)):
        if group[a] < 0 and sign * d[a] > best:
            found, best = a, sign * d[a]
    return found


@loops
def cheapest(a, groups, k, R, W, size):  # type: ignore[no-untyped-def]
    """The group with room to which record a adds least."""
    found, least = -1, np.inf
    for B in range(groups):
        if size[B] < 2 * k - 1 and dearer(a, B, R, W, size) < least:
            found, least = B, dearer(a, B, R, W, size)
    return found
