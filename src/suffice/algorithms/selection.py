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

FEW, NODES = (1000, 2500), (2000, 20)
"""Patterns up to which an integer programme comes first, and last, and nodes of its search: with more of them
one node may take a minute. All searches end by their own steps, never by a clock, so that they end alike everywhere."""
ENOUGH = 0.5
"""How far from the fewest exchanges the search may stop, as a share of them."""
PATIENCE, REST = 10_000, 3
"""Steps of a walk that bring no table nearer, after which it ends; steps at most that what was moved stays as it is."""

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

    First n records by chance; then few are exchanged: x = x_0 + up - down with A x = the tables, a small sum of
    up + down, whole numbers of every pattern between none and what the pool has of it.

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
    A = sparse.csr_array((np.ones(rows.size, dtype=np.int64), (rows, columns)), shape=(width, len(first)))
    target = np.bincount(wanted.ravel(), minlength=width)
    short = np.asarray(A @ there) < target
    if short.any():
        raise _lacking(int(short.sum()))
    start: Counts = draws.multivariate_hypergeometric(there, n)
    counts: Counts = np.asarray(start) + _exchanged(A, target - A @ start, there - start, start, draws)
    mixed = draws.permutation(len(pool))
    by_pattern = mixed[np.argsort(pattern[mixed], kind="stable")]
    place = np.arange(len(pool)) - np.repeat(np.cumsum(there) - there, there)
    return np.asarray(draws.permutation(by_pattern[place < np.repeat(counts, there)]))


def _exchanged(A: sparse.csr_array, gap: Counts, up: Counts, down: Counts, draws: np.random.Generator) -> Counts:
    """The change of every pattern's count that closes the gap, with few records exchanged."""
    first = A.shape[1] <= FEW[0]
    found = _programme(A, gap, up, down, NODES[0]) if first else _walked(A, gap, up, down, draws)
    if found is None and first:
        found = _walked(A, gap, up, down, draws)
    elif found is None and A.shape[1] <= FEW[1]:
        found = _programme(A, gap, up, down, NODES[1])
    if found is None or (A @ found != gap).any() or (found > up).any() or (-found > down).any():
        raise _lacking()
    return found


def _programme(A: sparse.csr_array, gap: Counts, up: Counts, down: Counts, nodes: int) -> Counts | None:
    """By an integer programme, which knows the fewest exchanges that there could be."""
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
        options={"node_limit": nodes, "mip_rel_gap": ENOUGH},
    )
    if found.status == 2:  # there is none
        raise _lacking()
    if found.x is None:
        return None
    moved = np.rint(found.x).astype(np.int64)
    return np.asarray(moved[: A.shape[1]] - moved[A.shape[1] :])


def _walked(A: sparse.csr_array, gap: Counts, up: Counts, down: Counts, draws: np.random.Generator) -> Counts | None:
    """By a walk: at every step the record that tables miss least goes out, and the one that they miss most comes in.

    What they miss is the sum of w gap^2 over all cells, w = 1 first. Where an exchange does not lessen it, open cells
    become heavier, and what was moved rests for a few steps: so the walk leaves where single exchanges lead nowhere.
    """
    gap, change = gap.copy(), np.zeros(A.shape[1], dtype=np.int64)
    by_pattern = A.T.tocsr()
    cells = by_pattern.indices.reshape(A.shape[1], -1)
    weight, rests = np.ones_like(gap), np.zeros(A.shape[1], dtype=np.int64)
    step, since, nearest = 0, 0, np.abs(gap).sum()
    while nearest and step < since + PATIENCE:
        step += 1
        missed, chance, awake = weight @ gap**2, draws.random(A.shape[1]), rests < step
        gone = np.where(awake & (change > -down), by_pattern @ (weight * (1 + 2 * gap)) + chance, np.inf)
        out = int(np.argmin(gone))
        gap[cells[out]] += 1
        awake[out] = False
        come = np.where(awake & (change < up), by_pattern @ (weight * (1 - 2 * gap)) + chance, np.inf)
        into = int(np.argmin(come))
        if not np.isfinite(gone[out] + come[into]):  # all that could be moved rest
            gap[cells[out]] -= 1
            continue
        gap[cells[into]] -= 1
        change[out] -= 1
        change[into] += 1
        rests[[out, into]] = step + draws.integers(1, REST + 1)
        if weight @ gap**2 >= missed:
            weight[gap != 0] += 1
        if (far := np.abs(gap).sum()) < nearest:
            since, nearest = step, far
    return None if nearest else change


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
    why = f"too few were drawn of {cells:,} cells" if cells else "no choice was found with all of them together"
    return InfeasibleError(
        f"No records among those that were drawn have the tables of the original: {why}.\n"
        "Join levels that few records have, or keep fewer tables."
    )
