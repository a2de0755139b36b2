"""The law of a walk: how likely each value of a column is, and each combination of values, on grids.

A grid is smooth: its bandwidth comes from all records, and beyond the last few there is a fitted tail. It is as private
as the key: it is kept nowhere, and not pickled. Numbers are rounded, so that the last bit of a logarithm, which
differs from machine to machine, does not change a release.
"""

# mypy: disable-error-code="no-untyped-call, no-untyped-def"
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, NoReturn

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.algorithms.rotation.trigonometry import choose, lg

GRID, FINE = 1024, 4096
"""Points of a grid, and of the finer one that a column is smoothed on."""
BANDWIDTH = 0.36
"""Of min(sd, IQR / 1.34) n^-1/5: less than half of the usual .9, which takes a column for one hump and flattens it."""
EDGE = 5.0
"""Kernels reach this many bandwidths."""
HELD = 2**20
"""Values of a column that are held, at most."""
FEW, TAIL = 10, 0.05
"""Beyond so many records the tail is fitted, to this share of them."""
REACH, FALL = 1.3, 8
"""Times the farthest distance on that side: from there on values are all but forbidden, by this power of the distance:
faster than any variance could pay for."""
LEAST = 1e-12
"""No density on the grid is below this share of the highest."""
LOOSE = 0.05
"""No combination of scores has a smaller variance: columns that are nearly one another would freeze the walk."""
DIGITS = 2.0**20
MANY_ZEROS = 0.05
"""A column with this share of exact zeros is semicontinuous."""


@dataclass(frozen=True, repr=False)
class Densities:
    """log p(y) of a record = sum_j log p_j(y_j) - q' P q / 2, with q_j the normal score of y_j and P = R^-1 - I.

    centre, inverse, origin, step: per column, from a value to its place on the grid.
    table: columns x GRID x (log density, its rise to the next point, score, its rise); no columns: every value is
        as likely.
    atom: the score of an exact zero.
    empty: whether exact zeros are no part of the density, and stay.
    P: without rows where columns count one by one.
    """

    centre: Array
    inverse: Array
    origin: Array
    step: Array
    table: Array
    atom: Array
    P: Array
    empty: Flags

    @classmethod
    def uniform(cls) -> Densities:
        """Every value inside the limits is as likely."""
        none = np.empty(0)
        return cls(none, none, none, none, np.empty((0, GRID, 4)), none, np.empty((0, 0)), none > 0)

    @classmethod
    def of(cls, Y: Array, low: Array, high: Array, shape: str = "copula", zeros: str = "kept") -> Densities:
        """Learnt of the columns of Y inside their bounds."""
        return cls.of_parts(lambda: iter([Y]), len(Y), low, high, shape, zeros)

    @classmethod
    def of_parts(
        cls,
        parts: Callable[[], Iterator[Array]],
        n: int,
        low: Array,
        high: Array,
        shape: str = "copula",
        zeros: str = "kept",
    ) -> Densities:
        """Learnt of a file of n records that comes in parts, twice: of its columns, and of how they go together."""
        if shape == "uniform":
            return cls.uniform()
        k, every = len(low), -(-n // HELD)
        zero, none, found = np.zeros((5, k)), np.zeros(k), [_Order() for _ in range(k)]
        for Y in parts():
            none += (Y == 0).sum(axis=0)
            for column, y in zip(found, Y.T, strict=True):
                column.add(y, every)
        share = none / n
        empty = (share >= MANY_ZEROS) & (zeros == "kept")
        law = cls(zero[0], zero[1], zero[2], zero[3], np.zeros((k, GRID, 4)), zero[4], np.empty((0, 0)), empty)
        for j, column in enumerate(found):
            law._learn(j, column.values(bool(empty[j])), (low[j], high[j]), float(share[j]) if empty[j] else 0.0)
        if shape == "marginals" or k < 2:
            return law
        total, cross = np.zeros(k), np.zeros((k, k))
        for Y in parts():
            scores = [cell_density(Y[:, j], law.arrays, j)[1] for j in range(k)]
            q = np.where(Y.T == 0.0, law.atom[:, None], scores)
            total += q.sum(axis=1)
            cross += q @ q.T
        return replace(law, P=_coupled(total / n, cross / n))

    @property
    def arrays(self) -> tuple[Array, ...]:
        """As the kernels take them."""
        return self.centre, self.inverse, self.origin, self.step, self.table, self.atom, self.P

    def scores(self, Y: Array) -> Array:
        """The normal score of every cell; without a density, how far it is from the mean."""
        cells = (cell_density(y, self.arrays, j)[1] if self.known(j) else _standard(y) for j, y in enumerate(Y.T))
        return np.stack(list(cells), axis=1)

    def quantiles(self, j: int, share: Array, y: Array) -> Array:
        """The values of a column y below which these shares of its density are; without one, of a normal law."""
        if not self.known(j):
            return np.asarray(y.mean() + y.std() * _score(share))
        away = _from_lg(self.origin[j] + np.arange(GRID) / self.step[j])
        p = np.exp(self.table[j, :, 0])
        mass = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) / 2 * np.diff(away))])
        return np.asarray(np.interp(share * mass[-1], mass, self.centre[j] + away / self.inverse[j]))

    def known(self, j: int) -> bool:
        """Whether a column has a density."""
        return len(self.table) > 0 and self.step[j] > 0

    def _learn(self, j: int, values: Array, bounds: tuple[float, float], empty: float) -> None:
        """The grid of one column, of its values in order.

        empty: the share of exact zeros, which are no part of the density.
        """
        quarters = np.quantile(values, (0.25, 0.5, 0.75)) if len(values) else np.zeros(3)
        centre, scale = float(quarters[1]), float(quarters[2] - quarters[0]) / 4
        scale = scale if scale > 0 else float(np.abs(values - centre).mean()) if len(values) else 0.0
        if not (scale > 0 and len(np.unique(values[:: max(1, len(values) // 1000)])) > 2):
            return
        if values[0] >= 0:
            bounds = (
                max(bounds[0], 0.0),
                bounds[1],
            )  # what is never negative is not, whether or not a bound is asked for
        low, high = (float(np.arcsinh((each - centre) / scale)) for each in bounds)
        x, p = _smoothed(np.arcsinh((values - centre) / scale), (low, high))
        away = np.sinh(x)
        ends = np.array([centre - values[0], values[-1] - centre]) / scale
        ends = np.where(np.isfinite(bounds) | (ends <= 0), ends.max(), ends)  # at a bound nothing needs to end
        p = np.log(np.maximum(p, LEAST * p.max())) - (away / (REACH * np.where(away < 0, ends[0], ends[1]))) ** FALL
        share = np.exp(p - p.max())
        share = (np.cumsum(share) - share / 2) / share.sum()
        below = float((values < 0).mean()) * (1 - empty) if empty else 0.0
        q = _score((1 - empty) * share + np.where(scale * away + centre > 0, empty, 0.0))
        first, last = (float(np.copysign(lg(1.0 + abs(each)), each)) for each in (away[0], away[-1]))
        z = np.linspace(first, last, GRID)
        grid = np.arcsinh(_from_lg(z))
        logs = np.interp(grid, x, p) - 0.5 * np.log1p(np.sinh(grid) ** 2)  # d asinh(y) / dy
        scores = np.interp(grid, x, q)
        self.centre[j], self.inverse[j] = centre, 1.0 / scale
        self.origin[j], self.step[j] = _rounded(first), _rounded((GRID - 1) / (last - first))
        for at, each in ((0, _rounded(logs - logs.max())), (2, _rounded(scores))):
            self.table[j, :, at] = each
            self.table[j, :-1, at + 1] = np.diff(each)
        own = (0.0 - centre) / scale
        zero = float(_score(np.array([below + empty / 2]))[0]) if empty else float(np.interp(np.arcsinh(own), x, q))
        self.atom[j] = _rounded(zero)

    def __reduce__(self) -> NoReturn:
        raise TypeError("The densities of a walk are a secret and are not pickled or copied.")

    def __repr__(self) -> str:
        return f"Densities({len(self.table)} columns)"


class _Order:
    """A column in order; of a large file every so many-th value, and the first and the last."""

    def __init__(self) -> None:
        self.parts: list[Array] = []
        self.ends = np.inf, -np.inf

    def add(self, y: Array, every: int) -> None:
        y = np.sort(y)
        self.parts.append(y[every // 2 :: every].copy() if every > 1 else y)
        if len(y):
            self.ends = min(self.ends[0], float(y[0])), max(self.ends[1], float(y[-1]))

    def values(self, filled: bool) -> Array:
        """filled: without exact zeros."""
        y = self.parts[0] if len(self.parts) == 1 else np.sort(np.concatenate(self.parts))
        if len(y):
            y[0], y[-1] = self.ends
        return y[y != 0] if filled else y


def cell_density(y, law, j):
    """log p_j and the normal score of a cell, or of many."""
    centre, inverse, origin, step, table, _, _ = law
    away = (y - centre[j]) * inverse[j]
    place = (np.copysign(lg(1.0 + abs(away)), away) - origin[j]) * step[j]
    at = np.minimum(np.maximum(place, 0.0), GRID - 1.0)
    i = np.int64(at)
    part = at - i
    log = table[j, i, 0] + part * table[j, i, 1] - abs(place - at)  # beyond the grid: ever less
    return log, table[j, i, 2] + part * table[j, i, 3]


def log_density(y, law, q):
    """log p of a record, up to a constant.

    q: where the scores are worked out.
    """
    _, _, _, _, table, atom, P = law
    total = 0.0
    for j in range(len(table)):
        log, score = cell_density(y[j], law, j)
        total = total + log
        if len(P):
            q[j] = choose(y[j] == 0.0, atom[j], score)
    for a in range(len(P)):
        along = 0.5 * P[a, a] * q[a]
        for b in range(a):
            along = along + P[a, b] * q[b]
        total = total - along * q[a]
    return total


def _smoothed(values: Array, ends: tuple[float, float]) -> tuple[Array, Array]:
    """Points and the density at them: a kernel estimate that is reflected at the ends, with tails.

    values: sorted.
    """
    n, (low, high) = len(values), ends
    quarter = np.quantile(values, 0.75) - np.quantile(values, 0.25)
    spread = float(values.std())
    h = BANDWIDTH * (min(spread, float(quarter) / 1.34) if quarter > 0 else spread) * n**-0.2
    first, last = max(low, values[0] - EDGE * h - 1.0), min(high, values[-1] + EDGE * h + 1.0)
    width = (last - first) / FINE
    x = first + (np.arange(FINE) + 0.5) * width
    beside = [2 * end - values[np.abs(values - end) < EDGE * h] for end in ends if np.isfinite(end)]
    edge = int(np.ceil(EDGE * h / width))
    place = (np.concatenate([values, *beside]) - first) / width - 0.5 + edge
    i = np.clip(np.floor(place).astype(np.int64), 0, FINE + 2 * edge - 2)
    part = np.clip(place - i, 0.0, 1.0)
    count = np.bincount(i, 1 - part, FINE + 2 * edge) + np.bincount(i + 1, part, FINE + 2 * edge)
    kernel = np.exp(-0.5 * (np.arange(-edge, edge + 1) * width / h) ** 2)
    p = np.convolve(count, kernel / kernel.sum(), "valid") / (n * width)
    if n >= 4 * FEW:
        if high - values[-FEW - 1] > EDGE * h:
            _tail(p, x, values)
        if values[FEW] - low > EDGE * h:
            _tail(p[::-1], -x[::-1], -values[::-1])
    return x, p


def _tail(p: Array, x: Array, values: Array) -> None:
    """Beyond the FEW largest: exponential on this scale, by the mean excess of the largest TAIL of the values."""
    n = len(values)
    far = values[n - max(FEW, int(TAIL * n)) - 1 :]
    excess, start = float((far[1:] - far[0]).mean()), values[n - FEW - 1]
    if excess > 0:
        out = x > start
        p[out] = FEW / n / excess * np.exp(-(x[out] - start) / excess)


def _coupled(mean: Array, squares: Array) -> Array:
    """P = R^-1 - I of normal scores, from the means of these and of their products."""
    R = squares - np.outer(mean, mean)
    R = _over(R, np.sqrt(np.maximum(np.diag(R), 0.0)))
    np.fill_diagonal(R, 1.0)
    s, V = np.linalg.eigh(R)
    R = (V * np.maximum(s, LOOSE)) @ V.T
    return np.asarray(_rounded(np.linalg.inv(_over(R, np.sqrt(np.diag(R)))) - np.eye(len(R))))


def _over(R: Array, size: Array) -> Array:
    size = np.where(size > 0, size, 1.0)
    return np.asarray(R / np.outer(size, size))


def _score(share: Array) -> Array:
    """By the standard library: SciPy's takes as long to load as a walk of some thousand records."""
    quantile = NormalDist().inv_cdf
    return np.array([quantile(each) for each in np.clip(share, 1e-9, 1 - 1e-9).tolist()])


def _standard(y: Array) -> Array:
    return np.asarray((y - y.mean()) / (y.std() or 1.0))


def _from_lg(z: Array) -> Array:
    """The number whose signed lg(1 + |y|) is z."""
    whole = np.floor(np.abs(z))
    return np.asarray(np.copysign(2.0**whole * (1 + np.abs(z) - whole) - 1, z))


def _rounded(x: Any) -> Any:
    return np.round(x * DIGITS) / DIGITS
