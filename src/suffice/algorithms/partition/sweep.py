"""One sweep over all groups: each is put together with some near ones and parted anew, if that is cheaper."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, unused-ignore, untyped-decorator, misc, no-any-return"
from __future__ import annotations

import numpy as np

from suffice.algorithms.jit import loops
from suffice.algorithms.partition.exchange import compose, cost, descend, draw, squares

WIDTH = 6
"""At most so many groups are put together."""

TRIES = 2
"""So often they are parted from the beginning, besides improving what is there."""

WORTH = 1e-9
"""A gain below this share is rounding."""


@loops
def sweep(V, k, labels, members, sizes, spare, near, state) -> None:  # type: ignore[no-untyped-def]
    """Groups g hold members[g, :sizes[g]]; spare[1 : spare[0] + 1] are labels without a group."""
    most = (2 * k - 1) * WIDTH
    pool, D, R = np.empty(most, np.int64), np.empty((most, most)), np.empty((most, most // k))
    group, best = np.empty(most, np.int64), np.empty(most, np.int64)
    W, size, chosen = np.empty(most // k), np.empty(most // k, np.int64), np.empty(most // k, np.int64)
    for g in range(len(near)):
        if sizes[g] == 0:
            continue
        count = choose(g, near, sizes, chosen, 2 + draw(state, WIDTH - 1), state)
        n = collect(chosen[:count], members, sizes, pool, group)
        squares(V, pool[:n], D)
        groups = part(D, group[:n], count, k, R[:n], W, size, best[:n], state)
        if groups > 0:
            write(pool[:n], best[:n], chosen, count, groups, labels, members, sizes, spare)


@loops
def choose(g, near, sizes, chosen, count, state):  # type: ignore[no-untyped-def]
    """Group g and up to count - 1 of those near it; how many they are."""
    chosen[0], have = g, 1
    for _ in range(3 * count):
        h = near[g, draw(state, near.shape[1])]
        if have < count and sizes[h] > 0 and not (chosen[:have] == h).any():
            chosen[have] = h
            have += 1
    return have


@loops
def collect(chosen, members, sizes, pool, group):  # type: ignore[no-untyped-def]
    """The records of the chosen groups, and which of them they are in."""
    n = 0
    for c in range(len(chosen)):
        for i in range(sizes[chosen[c]]):
            pool[n], group[n] = members[chosen[c], i], c
            n += 1
    return n


@loops
def part(D, group, count, k, R, W, size, best, state):  # type: ignore[no-untyped-def]
    """The best partition found, into `best`; the number of its groups, or 0 if what is there is as good."""
    old = cost(D, group, R, W, size)
    fewest, most = -(-len(group) // (2 * k - 1)), len(group) // k
    least, found, groups = old - WORTH * old, 0, count
    if old <= 0.0:
        return 0
    for attempt in range(1 + TRIES):
        if attempt > 0:
            around = min(max(count - 1 + draw(state, 3), fewest), most)
            groups = around if draw(state, 2) == 0 else fewest + draw(state, most - fewest + 1)
            compose(D, group, groups, k, R, W, size, state)
        descend(D, group, groups, k, R, W, size, WORTH * old)
        new = cost(D, group, R, W, size)
        if new < least:
            least, found = new, groups
            best[:] = group
    return found


@loops
def write(pool, best, chosen, count, groups, labels, members, sizes, spare) -> None:  # type: ignore[no-untyped-def]
    """Put the new groups in the place of the old ones; labels come from and go to the spare ones."""
    for c in range(count, groups):
        chosen[c] = spare[spare[0]]
        spare[0] -= 1
    for c in range(groups, count):
        spare[0] += 1
        spare[spare[0]] = chosen[c]
    for c in range(max(count, groups)):
        sizes[chosen[c]] = 0
    for a in range(len(pool)):
        g = chosen[best[a]]
        labels[pool[a]], members[g, sizes[g]] = g, pool[a]
        sizes[g] += 1
