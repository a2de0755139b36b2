"""A climb of masked records towards the moments of the original, none of them easier to link than before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags

AMONG = 2000
"""Records that are linked, at most: the same ones all the time."""
PERCENT = np.linspace(0.05, 0.95, 19)
PATIENCE = 40
"""Batches refused one after the other before the climb ends."""
BACK = 4
"""How often those that a batch would link go back, before it is refused."""


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
    among: NDArray[np.intp]

    @classmethod
    def of(cls, Z: Array) -> LinkCounts:
        among = np.linspace(0, len(Z) - 1, min(AMONG, len(Z))).astype(np.intp)
        return cls(Z[among], np.sort(Z, axis=0), among)

    def found(self, Zstar: Array) -> tuple[Flags, Flags]:
        """Which are linked to their own released one: by distance, and by rank."""
        own = Zstar[self.among]
        return _nearest(self.Z, own), _nearest(self._ranks(self.Z), self._ranks(own))

    def nearest(self, Zstar: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The released one that each takes for its own: by distance, and by rank."""
        own = Zstar[self.among]
        pairs = (self.Z, own), (self._ranks(self.Z), self._ranks(own))
        first, second = (self.among[_distances(A, B).argmin(axis=1)] for A, B in pairs)
        return first, second

    def _ranks(self, Z: Array) -> Array:
        pairs = zip(self.inorder.T, Z.T, strict=True)
        return np.column_stack([np.searchsorted(y, z) for y, z in pairs]) / len(self.inorder)


def _distances(A: Array, B: Array) -> Array:
    """Squared, up to a number for each row."""
    return np.asarray((B**2).sum(axis=1) - 2 * A @ B.T)


def _nearest(A: Array, B: Array) -> Flags:
    distance = _distances(A, B)
    return np.asarray(np.diag(distance) <= distance.min(axis=1) + 1e-12)


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

    In every round some records, drawn at random, go downhill. They do so where the loss falls and no more records are
    linked than at the start, by distance or by rank; those stay that would break a limit, be linked, or no longer hide
    another.
    """
    Z = (start - target.mean) / target.scale
    links = LinkCounts.of((original - target.mean) / target.scale)
    linked, before = links.found(Z), target.loss(Z)
    most = [each.sum() for each in linked]
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
        for _ in range(BACK):
            new = (moved - target.mean) / target.scale
            now_linked = links.found(new)
            fewer = all(each.sum() <= first for each, first in zip(now_linked, most, strict=True))
            if fewer:
                break
            for each, was, near in zip(now_linked, linked, links.nearest(Z), strict=True):
                back = np.concatenate([links.among[each & ~was], near[each & ~was]])  # and who had hidden it
                moved[back] = Y[back]
        loss = target.loss(new)
        if fewer and loss < now:
            Y, Z, linked, now = moved, new, now_linked, loss
            step, taken, refused = min(1.5 * step, 2.0), taken + 1, 0
        else:
            step, refused = 0.6 * step, refused + 1
    return Y, taken, (before, now)
