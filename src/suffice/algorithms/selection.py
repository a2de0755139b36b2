"""Records chosen among many that were drawn, so that tables of their categories are those of the original."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.algorithms.margins import Codes, cell_numbers
from suffice.errors import InfeasibleError

Places = NDArray[np.intp]
Counts = NDArray[np.int64]

NODES = 2000
"""Of the search at most: it ends by its own steps, never by a clock, so that it ends alike everywhere."""
ENOUGH = 0.5
"""How far from the fewest exchanges the search may stop, as a share of them."""

PAIRINGS, EXCHANGES, CANDIDATES = 200, 20, 4000
"""Pairings at most, exchanges out of each, and pairs that are looked at."""
NEAR = 0.02
"""Standard errors: nearer need the sums not come by exchanges."""


def table_rows(codes: Codes, sizes: tuple[int, ...], order: int) -> NDArray[np.int64]:
    """For every record the cell that it is in, of every table of `order` columns; cells are numbered through.

    >>> table_rows(np.array([[0, 1], [1, 2]]), (2, 3), 2).tolist()
    [[1], [5]]
    """
    found, first = [], 0
    for names in combinations(range(len(sizes)), min(order, len(sizes))):
        cell = np.zeros(len(codes), dtype=np.int64)
        for name in names:
            cell = cell * sizes[name] + codes[:, name]
        found.append(cell + first)
        first += int(np.prod([sizes[name] for name in names]))
    return np.column_stack(found)


def selected(pool: Codes, original: Codes, order: int, draws: np.random.Generator) -> Places:
    """As many places in the pool as there are original records, with every table of `order` columns as theirs.

    First n records by chance; then as few as can be are exchanged: x = x_0 + up - down with A x = the tables, the least
    sum of up + down, whole numbers of every pattern between none and what the pool has of it.

    >>> rng = np.random.default_rng(1)
    >>> pool, original = rng.integers(3, size=(400, 3)), rng.integers(3, size=(80, 3))
    >>> found = selected(pool, original, 2, rng)
    >>> cells = [np.bincount(table_rows(each, (3, 3, 3), 2).ravel()) for each in (pool[found], original)]
    >>> bool((cells[0] == cells[1]).all()), len(np.unique(found))
    (True, 80)
    """
    n, sizes = len(original), tuple(int(each) + 1 for each in np.maximum(pool.max(axis=0), original.max(axis=0)))
    _, first, pattern = np.unique(cell_numbers(list(pool.T), len(pool)), return_index=True, return_inverse=True)
    there: Counts = np.bincount(pattern)
    cells, wanted = table_rows(pool[first], sizes, order), table_rows(original, sizes, order)
    width = int(max(cells.max(), wanted.max())) + 1
    rows, columns = cells.ravel(), np.repeat(np.arange(len(first)), cells.shape[1])
    A = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(width, len(first)))
    target = np.bincount(wanted.ravel(), minlength=width)
    if (A @ there < target).any():
        raise _lacking(int((A @ there < target).sum()))
    start: Counts = draws.multivariate_hypergeometric(there, n)
    change: Counts = _exchanged(A, target - A @ start, there - start, start)
    counts: Counts = np.asarray(start) + change
    mixed = draws.permutation(len(pool))
    by_pattern = mixed[np.argsort(pattern[mixed], kind="stable")]
    place = np.arange(len(pool)) - np.repeat(np.cumsum(there) - there, there)
    return np.asarray(draws.permutation(by_pattern[place < np.repeat(counts, there)]))


def _exchanged(A: sparse.csr_array, gap: Array, up: Counts, down: Counts) -> Counts:
    """The change of every pattern's count that closes the gap, with few records exchanged."""
    if not gap.any():
        return np.zeros(A.shape[1], dtype=np.int64)
    from scipy.optimize import Bounds, LinearConstraint, milp

    kept = np.flatnonzero(np.diff(A.indptr) > 0)
    both = sparse.hstack([A, -A], format="csr")[kept]
    found = milp(
        np.ones(2 * A.shape[1]),
        integrality=np.ones(2 * A.shape[1], dtype=np.int64),
        bounds=Bounds(np.zeros(2 * A.shape[1]), np.concatenate([up, down]).astype(float)),
        constraints=LinearConstraint(both, gap[kept], gap[kept]),
        options={"node_limit": NODES, "mip_rel_gap": ENOUGH},
    )
    if found.x is None:
        raise _lacking()
    moved = np.rint(found.x).astype(np.int64)
    change = moved[: A.shape[1]] - moved[A.shape[1] :]
    if (A @ change != gap).any() or (change > up).any() or (-change > down).any():
        raise _lacking()
    return np.asarray(change)


def approached(places: Places, pattern: Codes, features: Array, target: Array, draws: np.random.Generator) -> Places:
    """Places exchanged for others of the pool with the same pattern, until the features' sums are near the target.

    The best of some thousand exchanges at a time, while one helps: what is left is for `in_moments` to close.

    pattern: of every record of the pool; features: records of the pool x sums that are wanted

    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(900, 2))
    >>> found = approached(np.arange(300), np.zeros(900, dtype=int), x, np.array([30.0, 0.0]), rng)
    >>> bool(np.abs(x[found].sum(axis=0) - [30.0, 0.0]).max() < 0.5), len(np.unique(found))
    (True, 300)
    """
    scale = features.std(axis=0) * np.sqrt(len(places))
    F = features / np.where(scale > 0, scale, 1.0)
    gap = F[places].sum(axis=0) - target / np.where(scale > 0, scale, 1.0)
    inside = np.zeros(len(F), dtype=bool)
    inside[places] = True
    for _ in range(PAIRINGS):
        if np.abs(gap).max(initial=0.0) < NEAR:
            break
        out, into = _paired(inside, pattern, draws)
        change = F[into] - F[out]
        best = closing(gap, change, EXCHANGES)
        gap = gap + change[best].sum(axis=0)
        inside[out[best]], inside[into[best]] = False, True
        if not len(best):
            break
    return np.asarray(draws.permutation(np.flatnonzero(inside)))


def closing(gap: Array, change: Array, most: int) -> Places:
    """Changes that bring a gap nearer to none together: the one that helps most, again and again, each once.

    change: changes x sums

    >>> closing(np.array([3.0, 0.0]), np.array([[-1.0, 0.0], [-1.5, 0.1], [1.0, 1.0]]), 5).tolist()
    [1, 0]
    """
    gain = 2 * change @ gap + np.einsum("ij,ij->i", change, change)
    found: list[int] = []
    while len(found) < min(most, len(change)):
        best = int(np.argmin(gain))
        if gain[best] >= 0:
            break
        found.append(best)
        gain += 2 * change @ change[best]
        gain[best] = np.inf
    return np.array(found, dtype=np.intp)


def _paired(inside: Flags, pattern: Codes, draws: np.random.Generator) -> tuple[Places, Places]:
    """Some chosen records, each with another one of its pattern that was not."""
    mixed = draws.permutation(len(inside))[: 10 * CANDIDATES]
    mixed = mixed[np.argsort(pattern[mixed], kind="stable")]
    first = np.searchsorted(pattern[mixed], pattern[mixed])
    keys = []
    for here in (inside[mixed], ~inside[mixed]):
        rank: Counts = np.cumsum(here) - here
        keys.append((mixed[here], pattern[mixed][here] * len(inside) + (rank - rank[first])[here]))
    (one, mine), (two, theirs) = keys
    _, a, b = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    some = draws.permutation(len(a))[:CANDIDATES]
    return one[a[some]], two[b[some]]


def _lacking(cells: int = 0) -> InfeasibleError:
    why = f"too few were drawn of {cells:,} cells" if cells else "no choice has all of them together"
    return InfeasibleError(
        f"No records among those that were drawn have the tables of the original: {why}.\n"
        "Join levels that few records have, or keep fewer tables."
    )
