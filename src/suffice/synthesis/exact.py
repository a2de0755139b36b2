"""Files with tables and second moments of the original: records chosen among many draws, few of their cells moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.margins import cell_numbers
from suffice.algorithms.second_moments import in_moments
from suffice.algorithms.selection import approached, selected
from suffice.errors import InfeasibleError, count_of

POOLS = (3, 5, 10)
"""Times as many records as the original has are drawn, to choose among; more where fewer do not do."""
SPIKE, HEAP = 0.1, 10
"""A value that such a share of the records has is a spike, and no cell leaves it; records that share a code."""


def chosen(
    original: Array, draw: Callable[[int], Array], tables: Sequence[int], near: bool, rng: np.random.Generator
) -> Array:
    """New records with every one- and two-way table of some columns, at `tables`, as the original has them.

    draw: as many records as the original has, the i-th time
    near: of records with the same levels those are preferred that bring the moments of the other columns nearer
    """
    pool, wanted = np.empty((0, original.shape[1])), original[:, tables].astype(np.int64)
    for size in POOLS:
        pool = np.vstack([pool, *(draw(i) for i in range(len(pool) // len(original), size))])
        codes = pool[:, tables].astype(np.int64)
        try:
            places = selected(codes, wanted, 2, rng) if tables else rng.permutation(len(pool))[: len(original)]
            break
        except InfeasibleError as found:
            last = found
    else:
        raise last
    if near:
        pattern = np.unique(cell_numbers(list(codes.T), len(pool)), return_inverse=True)[1]
        centre, scale = original.mean(axis=0), original.std(axis=0)
        sums, target = (_products(each, original, tables, centre, scale) for each in (pool, original))
        places = approached(places, pattern, sums, target.sum(axis=0), rng)
    return np.asarray(pool[places])


def _products(codes: Array, original: Array, tables: Sequence[int], centre: Array, scale: Array) -> Array:
    """Of every record its numbers times levels, and times each other."""
    numbers = [j for j in range(codes.shape[1]) if j not in {*tables}]
    shown = _shown(original, tables)
    D, Y = _levels(codes, shown), (codes[:, numbers] - centre[numbers]) / np.maximum(scale[numbers], 1e-300)
    pairs = [Y[:, i] * Y[:, j] for i in range(len(numbers)) for j in range(i + 1)]
    return np.column_stack([*(D * y[:, None] for y in Y.T), *pairs])


def restored(
    original: Array,
    made: Array,
    tables: Sequence[int],
    low: Array,
    high: Array,
    rng: np.random.Generator,
    names: Sequence[str],
) -> tuple[Array, str]:
    """With the Gram matrix of [1, levels at `tables`, other columns] of the original, and how many cells were moved.

    low, high: of the other columns; names: of all
    """
    numbers = [j for j in range(original.shape[1]) if j not in {*tables}]
    shown = _shown(original, tables)
    D0, D = (_levels(each, shown) for each in (original, made))
    sizes = [(names[j], int(count)) for (j, _), count in zip(shown, D0.sum(axis=0), strict=False)]
    given = [f"the level of {name!r} with {count:,} records" for name, count in sizes] or ["all records"]
    Y0, Y = original[:, numbers], made[:, numbers]
    low = np.maximum(low, np.where(Y0.min(axis=0) >= 0, 0.0, -np.inf))
    codes = [_codes(y0) for y0 in Y0.T]
    free = np.column_stack([~np.isin(y, each) & (y != 0.0) for y, each in zip(Y.T, codes, strict=True)])
    free &= (low < Y) & (high > Y)
    within = _within(Y, Y0, codes)
    out = made.copy()
    out[:, numbers] = in_moments(D, Y, D0, Y0, free, low, high, rng, [names[j] for j in numbers], given, within)
    moved = out[:, numbers] != Y
    told = f"{count_of(int(moved.sum()), 'cell')} of {Y.size:,} moved until second moments were those of the original"
    fixed = int((moved & ~free).sum())
    told += f", {fixed:,} of them at zeros, spikes or bounds" * bool(fixed)
    most = [repr(names[j]) for j, share in zip(numbers, moved.mean(axis=0), strict=True) if share > 0.5]
    told += f"; more than half of {', '.join(most)}, of which another variance was drawn" * bool(most)
    beyond = (moved & ((out[:, numbers] < within[0]) | (out[:, numbers] > within[1]))).any(axis=0)
    far = [repr(names[j]) for j, there in zip(numbers, beyond, strict=True) if there]
    return out, told + f"; {', '.join(far)} beyond the values that were drawn" * bool(far)


def _shown(original: Array, tables: Sequence[int]) -> list[tuple[int, float]]:
    """Every level of the column that has most, and of the others all but one: what sums of the others leave is its own,
    with the rounding of them all, which is least beside large numbers."""
    numbers = np.delete(original, [*tables], axis=1)
    sizes = (np.abs(numbers) / np.maximum(numbers.std(axis=0), 1e-300)).sum(axis=1)
    found = {j: np.unique(original[:, j], return_inverse=True) for j in tables}
    whole = max(tables, key=lambda j: len(found[j][0]), default=None)
    left = {j: levels[np.argmax(np.bincount(place, sizes))] for j, (levels, place) in found.items() if j != whole}
    return [(j, float(level)) for j in tables for level in found[j][0] if level != left.get(j)]


def _levels(codes: Array, shown: Sequence[tuple[int, float]]) -> Array:
    """A dummy for every level that is shown; together they have the constant, which is all there is without tables."""
    found = [codes[:, j] == level for j, level in shown] or [np.ones(len(codes))]
    return np.column_stack(found).astype(np.float64)


def _codes(y: Array) -> Array:
    """Values that stay: spikes, which many records have, and negative ones where several records share each of them."""
    values, times = np.unique(y, return_counts=True)
    below = values < 0
    return np.asarray(values[(times >= SPIKE * len(y)) | (below & (times[below].min(initial=HEAP) >= HEAP))])


def _within(Y: Array, Y0: Array, codes: Sequence[Array]) -> tuple[Array, Array]:
    """The ends of what was drawn, without codes at either end: nothing lies between them and the others."""
    found = []
    for y, y0, each in zip(Y.T, Y0.T, codes, strict=True):
        plain = y0[~np.isin(y0, each)]
        inside = y[(y >= plain.min(initial=np.inf)) & (y <= plain.max(initial=-np.inf))]
        found.append((inside.min(), inside.max()) if len(inside) else (y.min(), y.max()))
    low, high = np.array(found).T
    return low, high
