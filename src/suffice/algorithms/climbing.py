"""A climb of masked records towards the moments of the original, none of them easier to link than before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags

SOME, AMONG = 500, 2000
"""Records that are linked, and those that they are looked for among, at most: the same ones all the time."""
PERCENT = np.linspace(0.05, 0.95, 19)
PATIENCE = 40
"""Batches refused one after the other before the climb ends."""


@dataclass(frozen=True, repr=False)
class ClimbTarget:
    """Moments of the original, in standard deviations from its means: `moments` those of order three and more."""

    mean: Array
    scale: Array
    S: Array
    moments: Array
    quantiles: Array | None

    @classmethod
    def of(cls, Y: Array, power: int, quantiles: bool) -> ClimbTarget:
        sd = Y.std(axis=0)
        mean, scale = Y.mean(axis=0), np.where(sd > 0, sd, 1.0)
        Z = (Y - mean) / scale
        higher = np.array([(Z**r).mean(axis=0) for r in range(3, power + 1)]).reshape(-1, Y.shape[1])
        return cls(mean, scale, Z.T @ Z / len(Z), higher, np.quantile(Z, PERCENT, axis=0) if quantiles else None)

    def loss(self, Z: Array) -> float:
        """Squared differences of means, covariances, higher moments (each in units of its size) and quantiles."""
        found = (Z.mean(axis=0) ** 2).sum() + ((Z.T @ Z / len(Z) - self.S) ** 2).sum()
        for r, m in enumerate(self.moments, 3):
            found += ((((Z**r).mean(axis=0) - m) / (1 + np.abs(m))) ** 2).sum()
        if self.quantiles is not None:
            found += ((np.quantile(Z, PERCENT, axis=0) - self.quantiles) ** 2).mean(axis=0).sum()
        return float(found)

    def downhill(self, Z: Array) -> Array:
        """For every record where the loss falls, up to a factor."""
        D = -(Z.mean(axis=0) + 2 * Z @ (Z.T @ Z / len(Z) - self.S))
        for r, m in enumerate(self.moments, 3):
            D -= r * Z ** (r - 1) * ((Z**r).mean(axis=0) - m) / (1 + np.abs(m)) ** 2
        if self.quantiles is not None:
            for j, (z, q) in enumerate(zip(Z.T, self.quantiles.T, strict=True)):
                D[:, j] += np.interp(z, *_rising(np.quantile(z, PERCENT), q)) - z
        return np.asarray(D)


def _rising(x: Array, y: Array) -> tuple[Array, Array]:
    kept = np.append(True, np.diff(x) > 0)
    return x[kept], y[kept]


@dataclass(frozen=True, repr=False)
class LinkCounts:
    """Records of the original that are looked for by distance and by rank, whatever is released."""

    Z: Array
    inorder: Array
    some: NDArray[np.intp]
    among: NDArray[np.intp]

    @classmethod
    def of(cls, Z: Array) -> LinkCounts:
        among = np.linspace(0, len(Z) - 1, min(AMONG, len(Z))).astype(np.intp)
        some = np.linspace(0, len(among) - 1, min(SOME, len(among))).astype(np.intp)
        return cls(Z[among], np.sort(Z, axis=0), some, among)

    def found(self, Zstar: Array) -> tuple[int, int]:
        """How many are linked to their own released one: by distance, and by rank."""
        own = Zstar[self.among]
        return _nearest(self.Z, own, self.some), _nearest(self._ranks(self.Z), self._ranks(own), self.some)

    def _ranks(self, Z: Array) -> Array:
        pairs = zip(self.inorder.T, Z.T, strict=True)
        return np.column_stack([np.searchsorted(y, z) for y, z in pairs]) / len(self.inorder)


def _nearest(A: Array, B: Array, some: NDArray[np.intp]) -> int:
    distance = (B**2).sum(axis=1) - 2 * A[some] @ B.T
    return int((distance[np.arange(len(some)), some] <= distance.min(axis=1) + 1e-12).sum())


def climbed(
    original: Array,
    start: Array,
    target: ClimbTarget,
    rounds: int,
    draws: np.random.Generator,
    broken: Callable[[Array], Flags],
    going: Callable[[int], bool],
) -> tuple[Array, int, tuple[float, float]]:
    """The best found, batches that were taken, and the loss before and after.

    In every round some records, drawn at random, go downhill. They do so where the loss falls, no more records are
    linked than at the start, by distance or by rank, and those that would break a limit stay.
    """
    Z = (start - target.mean) / target.scale
    links = LinkCounts.of((original - target.mean) / target.scale)
    most, before = links.found(Z), target.loss(Z)
    now, step, taken, refused = before, 0.25, 0, 0
    Y = start.copy()
    for number in range(rounds):
        if refused >= PATIENCE or now < 1e-24 or not going(number):
            break
        batch = draws.random(len(Z)) < 0.5
        D = target.downhill(Z) * (batch * draws.random(len(Z)))[:, None]
        moved = Y + step * np.clip(D, -3, 3) * target.scale
        stays = broken(moved)
        moved[stays] = Y[stays]
        new = (moved - target.mean) / target.scale
        loss = target.loss(new)
        if loss < now and all(a <= b for a, b in zip(links.found(new), most, strict=True)):
            Y, Z, now, step, taken, refused = moved, new, loss, min(1.5 * step, 2.0), taken + 1, 0
        else:
            step, refused = 0.6 * step, refused + 1
    return Y, taken, (before, now)
