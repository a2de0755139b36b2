"""Numbers of new records moved a little, in few cells, until their second moments are those of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import gqr
from suffice.algorithms.least_moves import least_moves, unmet
from suffice.algorithms.selection import closing
from suffice.errors import InfeasibleError

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
"""Of the cells of a column that carry the correction, the fewest first: those left alone keep heaps and digits."""
HEAP = 10
"""Records that share a value."""
CLOSELY = 0.5
"""Share of a column's variance that the columns before it explain, from which on it follows their moves."""
ROUNDS = 60
"""How often cells that would leave their bounds are left alone and the others asked again."""
POLISH = 3
"""Times that what rounding left is corrected."""
FAR = 4.0
"""Standard deviations that the mean is from zero, from which on squares would lose digits if it were not the centre."""
CLOSED = 1e-13
"""Of a record: what is left of a sum of standardised values is rounding."""
STOPS = 20
"""Values that are put inside one by one."""
OFF = 0.05
"""Share of cells off heaps that carries a correction by itself; with fewer, cells go from heap to heap."""
CANDIDATES, STEPS = 20_000, 500
"""Cells at heaps that are looked at together, and how many of them go to the next heap at most."""
RANK = 1e-6
"""Of the square of a record: what is left of it by others is rounding."""
DEAR = 100.0
"""What a move of a cell that is to stay costs, beside one of a cell that is free."""


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
    given: Sequence[str] = (),
    within: tuple[Array, Array] | None = None,
) -> Array:
    """Y with D'Y = D0'Y0 and Y'Y = Y0'Y0, where D'D = D0'D0: columns in turn, each in some of its free cells.

    With A = [D, columns before] and F the cells that may move: y_F + A_F c + s v, where A_F'A_F c closes the gap of A'y
    and v = y_F less its fit by A_F, which changes no product with A; s then gives y'y. So the whole Gram matrix of
    [D Y] is that of [D0 Y0]: this is `Restore` between two files, with the original's B and loadings, in few cells.
    Where few cells do not suffice, a column that is at heaps nearly everywhere comes near by steps between these first.
    Where the free cells do not suffice, A'y is closed first by the least moves of all cells, a linear programme in
    which the others are dear: at most as many of these move as there are sums.

    D, D0: of the new records and of the original, a constant among the columns
    free: cells that may move; others (spikes, bounds, holes) stay where they can
    low, high: bounds of the columns, which moved cells keep
    within: ends that moved cells keep as long as sums and squares can be met so, in few cells the lower one alone if
        not both; values beyond are codes, which stay or come inside
    names, given: of the columns of Y and of D, for a message

    >>> rng = np.random.default_rng(1)
    >>> Y0, Y, one = rng.gamma(2.0, size=(900, 2)), rng.gamma(2.1, size=(900, 2)), np.ones((900, 1))
    >>> made = in_moments(one, Y, one, Y0, Y > 0.3, np.zeros(2), np.full(2, np.inf), rng)
    >>> np.allclose(made.sum(axis=0), Y0.sum(axis=0)), np.allclose(made.T @ made, Y0.T @ Y0), bool((made >= 0).all())
    (True, True, True)
    >>> float((made == Y).mean()) > 0.6
    True
    """
    centre, scale = _units(Y0)
    E, E0, made = (Y - centre) / scale, (Y0 - centre) / scale, np.array(Y, dtype=np.float64)
    names = names or [f"{j + 1}" for j in range(Y.shape[1])]
    given = given or [f"column {j + 1}" for j in range(D.shape[1])]
    inner = within or (low, high)
    tries = [[inner, (inner[0], high)], [(low, inner[1])], [(low, high)]] if within else [[inner]]
    for j in range(Y.shape[1]):
        A, A0 = np.column_stack([D, E[:, :j]]), np.column_stack([D0, E0[:, :j]])
        step, slopes = np.zeros(len(Y)), _bound(D0, E0[:, :j], E0[:, j])
        if slopes is not None:  # what the columns before it moved by, it follows
            step = (E[:, :j] - (Y[:, :j] - centre[:j]) / scale[:j]) @ slopes
        products, square = A0.T @ E0[:, j], float(E0[:, j] @ E0[:, j])
        for several in tries:
            found, targets = None, []
            for lows, highs in several:
                ends = (lows[j] - centre[j]) / scale[j], (highs[j] - centre[j]) / scale[j]
                may = free[:, j] & (E[:, j] > ends[0]) & (E[:, j] < ends[1])
                own = np.where(may, np.clip(E[:, j] + step, *ends), E[:, j])
                last = np.where(may & (step != 0), -1.0, _heaped(Y[:, j]))
                targets.append(_Target(A, products, square, ends, own, may, last))
            found = _met(targets, draws)
            if found is not None:
                break
        else:
            if replace(targets[-1], may=np.ones(len(Y), dtype=bool)).closed() is None:
                where = [*given, *map("products with {!r}".format, names)][unmet(A, products, ends)]
                raise _unreached(names[j], f"no values inside its bounds have its sum over {where}")
            raise _unreached(names[j], "its variance is too far from that of what was drawn")
        made[:, j] = _as_drawn(found, E[:, j], Y[:, j], np.clip(centre[j] + scale[j] * found, low[j], high[j]))
        E[:, j] = found
    return made


def _as_drawn(found: Array, drawn: Array, y: Array, other: Array) -> Array:
    """To the last digit the number y of the cells where the same was drawn, and the other of those that are new."""
    values, first = np.unique(drawn, return_index=True)
    place = np.minimum(np.searchsorted(values, found), len(values) - 1)
    return np.where(values[place] == found, y[first[place]], other)


def _units(Y0: Array) -> tuple[Array, Array]:
    """A centre and a scale of every column, which small numbers of a few records survive to their last digit: a power
    of two, and no centre but of numbers that all lie far from zero."""
    mean, sd = Y0.mean(axis=0), Y0.std(axis=0)
    return np.where(np.abs(mean) > FAR * sd, mean, 0.0), np.exp2(np.rint(np.log2(np.where(sd > 0, sd, 1.0))))


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


def _of_rank_first(rows: Array) -> NDArray[np.intp]:
    """The rows in their order, but first the earliest ones that have the rank of all: a sum that a single cell can
    change, as of a level whose other cells stay, is met by that cell or not at all.

    >>> _of_rank_first(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [3.0, 1.0]])).tolist()
    [0, 3, 1, 2]
    """
    left, first = rows.copy(), np.zeros(len(rows), dtype=bool)
    least = RANK * np.einsum("ij,ij->i", rows, rows)
    for _ in range(rows.shape[1]):
        sizes = np.einsum("ij,ij->i", left, left)
        new = np.flatnonzero(sizes > least)
        if not len(new):
            break
        first[new[0]] = True
        way = left[new[0]] / np.sqrt(sizes[new[0]])
        left -= np.outer(left @ way, way)
    return np.argsort(~first, kind="stable")


def _met(targets: Sequence[_Target], draws: np.random.Generator) -> Array | None:
    """The column as it is wanted, in as few cells as do, and then by the first of the targets that can be met; with
    steps between heaps where the fewest cells do not do, and cells that may not move where the others do not."""
    if targets[0].is_met:
        return targets[0].y
    found = targets[0].moved(SHARES[0], draws)
    if found is not None:
        return found
    targets = [each.stepped(draws) for each in targets]
    found = _in_few(targets, draws)
    if found is not None:
        return found
    closed = [each for target in targets if (each := target.closed()) is not None]
    found = _in_few(closed, draws)
    return _in_few([each.anywhere() for each in closed], draws) if found is None else found


def _in_few(targets: Sequence[_Target], draws: np.random.Generator) -> Array | None:
    for share in SHARES:
        for target in targets:
            found = target.moved(share, draws)
            if found is not None:
                return found
    return None


@dataclass(frozen=True, repr=False)
class _Target:
    """A column, its products with others and with itself as they are wanted, and its ends.

    may: cells that may move; those that come `last` are left longest
    """

    A: Array
    products: Array
    square: float
    ends: tuple[float, float]
    y: Array
    may: Flags
    last: Array

    @property
    def is_met(self) -> bool:
        return float(self.y @ self.y) == self.square and not self._gap(self.y).any()

    def stepped(self, draws: np.random.Generator) -> _Target:
        """Where few cells are off heaps: some of those at heaps are moved to the next heap, up or down, as long as that
        brings the products nearer, so that little is left for cells that leave the heaps."""
        heaped = self.may & (self.last > 0)
        if (self.may & ~heaped).sum() >= OFF * len(self.y):
            return self
        cells, y = np.flatnonzero(heaped), self.y.copy()
        heaps, scale = np.unique(y[cells]), np.append(np.linalg.norm(self.A, axis=0), 2 * np.sqrt(self.square))
        scale = np.where(scale > 0, scale, 1.0)
        for _ in range(ROUNDS):
            some = draws.permutation(cells)[:CANDIDATES]
            way = draws.choice([-1, 1], len(some))
            to = heaps[np.clip(np.searchsorted(heaps, y[some]) + way, 0, len(heaps) - 1)]
            change = np.column_stack([(to - y[some])[:, None] * self.A[some], to**2 - y[some] ** 2])
            gap = np.append(self._gap(y), self.square - y @ y)
            taken = closing(-gap / scale, change / scale, STEPS)
            if not len(taken):
                break
            y[some[taken]] = to[taken]
        return replace(self, y=y)

    def closed(self) -> _Target | None:
        """With A'y as it is wanted, by the least moves. Values beyond the ends stay or come inside: of those that would
        stop on the way the one that came farthest is put inside, and all are asked again."""
        low, high = self.ends
        start, cost = self.y.copy(), np.where(self.may, 1.0 + np.abs(self.last), DEAR)
        for _ in range(STOPS):
            inside = (start >= low) & (start <= high)
            ends = np.where(inside, low, np.minimum(self.y, low)), np.where(inside, high, np.maximum(self.y, high))
            found = least_moves(self.A, start, self.products, ends, cost)
            if found is None:
                return None
            way = np.where((found < low) | (found > high), np.abs(found - self.y), 0.0)
            if not way.any():
                moved = found != self.y
                return replace(self, y=found, may=self.may | moved, last=np.where(moved, -2.0, self.last))
            far = int(np.argmax(way))
            start[far], cost[far] = np.clip(self.y[far], low, high), 1.0
        return None

    def anywhere(self) -> _Target:
        return replace(self, may=np.ones(len(self.y), dtype=bool), last=np.where(self.may, self.last, 2.0))

    def moved(self, share: float, draws: np.random.Generator) -> Array | None:
        """y as it is wanted, moved in a share of the cells that may."""
        cells = draws.permutation(np.flatnonzero(self.may))
        cells = cells[np.argsort(self.last[cells], kind="stable")]
        cells = cells[_of_rank_first(self.A[cells])]
        few = max(int(share * len(self.y)), 1)
        return self._in(np.sort(cells[:few]), cells[few:])

    def _in(self, cells: NDArray[np.intp], others: NDArray[np.intp]) -> Array | None:
        """y with A'y and y'y as they are wanted, moved in some cells, inside the ends; None where there is none.

        others: come in the place of cells that would leave the ends
        """
        for _ in range(ROUNDS):
            if not len(cells):
                return None
            z, F = self.y.copy(), gqr(self.A[cells])
            kept = list(F.pivots)
            for _ in range(POLISH):
                z[cells] += F.Q @ np.linalg.solve(F.R[:, kept].T, self._gap(z)[kept])
                v = z[cells] - F.Q @ (F.Q.T @ z[cells])
                v -= F.Q @ (F.Q.T @ v)
                own = float(v @ v)
                room = self.square - float(z @ z) + own
                if room <= 0 or own <= 1e-9 * self.square:
                    return None
                z[cells] += (np.sqrt(room / own) - 1.0) * v
            out = (z[cells] <= self.ends[0]) | (z[cells] >= self.ends[1])
            if not out.any():
                return z if np.abs(self._gap(z)).max() <= CLOSED * len(z) else None
            gone = int(out.sum())
            cells, others = np.sort(np.concatenate([cells[~out], others[:gone]])), others[gone:]
        return None

    def _gap(self, z: Array) -> Array:
        return np.asarray(self.products - self.A.T @ z)


def _unreached(name: str, why: str) -> InfeasibleError:
    return InfeasibleError(
        f"{name!r} cannot be moved to the second moments of the original: {why}.\n"
        "Join levels that few records have, give the column another model, or wider bounds."
    )
