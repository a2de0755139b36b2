"""What a walk keeps nearly: third and fourth powers of columns, and how many records are below some cuts of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algorithms.rotation.densities import Densities
from suffice.algorithms.rotation.kernel import loaded

THIRD, LEAST, FOURTH, COUNT = 1.0, 0.03, 0.05, 0.7
"""How far these sums may be from the original's: third powers so many errors of a sample, but no less than a share of
their sum; fourth powers a share; counts so many errors."""
TOLD = 0.1
"""A share of the largest value within which no unit tells it: a sum of r-th powers of which one record has a share s,
and which is kept within u of itself, tells that record within u / (r s)."""
LEAN = 1.0
"""By how much log p rises with a unit of the fourth powers that one record has much of: under the densities it falls by
about as much."""
STEEP = 100.0
"""Beyond its unit log p falls by half of this times the square of what a sum of powers is beyond: no key has shapes
that are far off, and the bell inside may be as wide as hiding a giant needs."""
WIDE, WIDE_THIRD = 2.0, 4.0
"""Times these, errors of third powers by more, and no counts, where groups are large: what is kept there is paid for by
how residuals bend with the given columns."""
ALONE = 1e-3
"""Of a unit of third powers, squared, at least: what columns that are nearly one another must not share."""
CUTS, BETWEEN = 19, 20
"""Cuts of a column, with so many records or more between two of them."""
TERMS = 4
"""Records for each product of columns, without which third powers are compared with the columns alone."""
DECISIONS, CELLS = 2048, 1 << 21
"""Turns that are accepted one by one in a sweep, above that some together; and cells compared at once."""


@dataclass(frozen=True, repr=False)
class ColumnSums:
    """exp(-height(d)): a factor of the law, d how far sums over a release are from the original's, each in its unit.

    height(d) = d'd / 2 + sum over powers of steep / 2 max(0, |d_j| - 1)^2 - lean_j d_j.

    A unit of third powers is the error of their sums in samples, after linear terms, squares and products, which are
    kept anyway; so d has their part W'(sum z*^3 - sum z^3) with W W' = V^-1, of such W the one that leaves every column
    nearest to itself.

    mean, inverse: from a value to z. W: columns x columns. fourth: 1 / unit. cuts: cuts x columns. count: 1 / unit.
    w: weights, if there are any. steep, lean: of the powers. goal: the sums of the original.
    """

    mean: Array
    inverse: Array
    W: Array
    fourth: Array
    cuts: Array
    count: Array
    w: Array | None
    steep: float
    lean: Array
    goal: Array

    @classmethod
    def of(cls, Y: Array, law: Densities, w: Array | None = None, closely: bool = True) -> ColumnSums | None:
        """Of the original; None where it has too few records, or every value is as likely.

        closely: without it units are wide, there are no walls, and no records are counted.
        """
        n, k = Y.shape
        known = np.array([law.known(j) for j in range(k)])
        if not known.any() or n < 2 * BETWEEN:
            return None
        weight = np.ones(n) if w is None else w
        mean = weight @ Y / weight.sum()
        sd = np.sqrt(weight @ (Y - mean) ** 2 / weight.sum())
        inverse = np.divide(1.0, sd, out=np.zeros(k), where=known & (sd > 0))
        Z = (Y - mean) * inverse
        size = np.maximum(np.abs(weight @ Z**3), weight.sum())
        V = _error(Z, weight)
        error = np.sqrt(np.maximum(np.diag(V), (ALONE * size) ** 2))
        three, four = (np.abs(Z**r * weight[:, None]).max(axis=0) for r in (3, 4))
        wide, third = (1.0, THIRD) if closely else (WIDE, WIDE_THIRD * THIRD)
        unit = np.maximum.reduce([third * error, wide * LEAST * size, 3 * TOLD * three])
        s, U = np.linalg.eigh(V / np.outer(error, error))
        many = min(CUTS, n // BETWEEN) if closely else 0
        share = np.arange(1, many + 1) / (many + 1)
        cuts, count = np.zeros((many, k)), np.zeros((many, k))
        for j in np.flatnonzero(inverse).tolist():
            open_ = (Y[:, j] != 0) | ~law.empty[j]
            cuts[:, j] = law.quantiles(j, share, Y[:, j])
            count[:, j] = 1 / (COUNT * np.sqrt((weight[open_] ** 2).sum() * share * (1 - share)))
        within = np.maximum(wide * FOURTH * (weight @ Z**4), 4 * TOLD * four)
        fourth = np.divide(1, within, out=np.zeros(k), where=inverse > 0)
        W = (U / np.sqrt(np.maximum(s, ALONE))) @ U.T / unit[:, None]
        lean = np.concatenate([np.zeros(k), LEAN * (4 * TOLD * four > FOURTH * (weight @ Z**4))])
        made = cls(mean, inverse, W, fourth, cuts, count, w, STEEP if closely else 0.0, lean, np.zeros(0))
        return replace(made, goal=made._sums(Y[None], None if w is None else w[None])[0])

    def apart(self, Y: Array) -> Array:
        """d of a file."""
        return np.asarray(self._sums(Y[None], None if self.w is None else self.w[None])[0] - self.goal)

    def height(self, d: Array) -> float:
        """By how much less likely the densities' law makes a file with these sums."""
        powers = d[: len(self.lean)]
        beyond = np.maximum(np.abs(powers) - 1, 0.0)
        return float(d @ d / 2 + self.steep / 2 * (beyond @ beyond) - self.lean @ powers)

    def accepted(
        self,
        Y: Array,
        before: Array,
        groups: NDArray[np.int64],
        d: Array,
        generator: np.random.Generator,
        known: Array | None = None,
    ) -> Array:
        """The d of records that were turned group by group; those that raise height(d) too much are turned back.

        A turn under the densities alone is a reversible proposal, and is accepted with the chance that height(d) rises
        by no more than an exponential number.

        known: what is known of records, and of those that are turned back no longer.
        """
        together = 1 + len(groups) // DECISIONS
        drops, d = generator.standard_exponential(-(-len(groups) // together)), d.copy()
        turns, fast = (Y, before, groups, together, drops, d), loaded()
        kept = self._decided(*turns) if fast is None else fast.decided(*turns, self.arrays, self.steep)
        undone = groups[~np.repeat(kept, together)[: len(groups)]].ravel()
        Y[undone] = before[undone]
        if known is not None:
            known[undone] = np.nan
        return d

    @property
    def arrays(self) -> tuple[Array, ...]:
        """As compiled loops take them."""
        w = np.zeros(0) if self.w is None else self.w
        return self.mean, self.inverse, self.W, self.fourth, np.ascontiguousarray(self.cuts.T), self.count, w, self.lean

    def _decided(
        self, after: Array, before: Array, groups: NDArray[np.int64], together: int, drops: Array, d: Array
    ) -> Flags:
        """Which turns are accepted, so many together, one after the other; d becomes that of all of them."""
        step = max(1, CELLS // (groups.shape[1] * max(1, self.cuts.size)))
        parts = [groups[first : first + step] for first in range(0, len(groups), step)]
        change = np.concatenate([self._change(before, after, rows) for rows in parts] or [np.empty((0, len(d)))])
        change = np.add.reduceat(change, np.arange(0, len(groups), together)) if together > 1 else change
        kept, height = np.ones(len(change), dtype=bool), self.height(d)
        for i, (each, drop) in enumerate(zip(change, drops, strict=True)):
            if (now := self.height(d + each)) - height > drop:
                kept[i] = False
            else:
                d += each
                height = now
        return kept

    def _change(self, before: Array, after: Array, rows: NDArray[np.int64]) -> Array:
        w = None if self.w is None else self.w[rows]
        return self._sums(after[rows], w) - self._sums(before[rows], w)

    def _sums(self, y: Array, w: Array | None) -> Array:
        """Of every group (groups x records x columns), side by side."""
        z = (y - self.mean) * self.inverse
        below = y[:, :, None] <= self.cuts
        if w is None:
            third, count = z * z * z, np.add.reduce(below.view(np.int8), axis=1, dtype=np.int32)
        else:
            third, count = w[:, :, None] * z**3, np.einsum("gr,grcj->gcj", w, below)
        powers = third.sum(axis=1) @ self.W, (third * z).sum(axis=1) * self.fourth
        return np.hstack([*powers, (count * self.count).reshape(len(y), -1)])

    def __reduce__(self) -> NoReturn:
        raise TypeError("The sums of a walk are a secret and are not pickled or copied.")

    def __repr__(self) -> str:
        return f"ColumnSums({len(self.mean)} columns)"


def _error(Z: Array, weight: Array) -> Array:
    """What sum w z^3 varies by in samples, where sums of the columns, their squares and products do not."""
    n, k = Z.shape
    one, two = np.triu_indices(k)
    kept = [np.ones((n, 1)), Z, Z[:, one] * Z[:, two]]
    basis = np.hstack(kept if TERMS * (1 + k + len(one)) <= n else kept[:2])
    rest = Z**3 - basis @ np.linalg.lstsq(basis, Z**3, rcond=None)[0]
    return np.asarray(rest.T @ (weight[:, None] ** 2 * rest))
