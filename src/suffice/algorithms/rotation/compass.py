"""Which records are alike along a direction of log y: told in a few passes, without a logarithm or a full sort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.rotation.kernel import loaded
from suffice.algorithms.rotation.trigonometry import signed_lg

Rows = NDArray[np.int64]

SMALL = 0.1
"""Below this share of a column's mean size, logarithms no longer tell values apart."""
NO_SAY = 1e-9
"""A column whose logarithms spread by less than this share of the largest has no say."""
BINS = 2**16
"""Records of one bin are alike: the numbers of so many bins are sorted digit by digit, in time that is linear in n."""
RECORDS = 2**13
"""Records worked on at once, so that they stay near the processor."""


def along(Y: Array, scale: Array, factor: Array) -> Array:
    """Where each record stands: the sum over the columns, one after the other, of factor x signed lg."""
    out = np.zeros(len(Y))
    for first in range(0, len(Y), RECORDS):
        part = slice(first, first + RECORDS)
        for y, small, by in zip(Y[part].T, scale, factor, strict=True):
            out[part] += signed_lg(y, small) * by
    return out


@dataclass(frozen=True, repr=False)
class Compass:
    """Puts records in order along a direction.

    scale: per column, what counts as small.
    weight: per column, one over the spread of its logarithms.
    X, pull: given columns and, per column, its say: all of them together have as much as all of Y.
    """

    scale: Array
    weight: Array
    X: Array
    pull: Array

    @classmethod
    def of(cls, Y: Array, X: Array | None = None) -> Compass:
        X = Y[:, :0] if X is None else X
        size = np.abs(Y).mean(axis=0)
        scale = np.maximum(SMALL * np.where(size > 0, size, 1.0), np.finfo(np.float64).tiny)
        weight = np.array([_weight(signed_lg(y, s)) for y, s in zip(Y.T, scale, strict=True)])
        pull = np.array([_weight(x) for x in X.T])
        share = int(np.count_nonzero(weight)) / max(int(np.count_nonzero(pull)), 1)
        return cls(scale, weight, X, np.sqrt(share) * pull)

    def order(self, Y: Array, generator: np.random.Generator) -> Rows:
        """Neighbours are alike along a random direction; records of one bin are in random order."""
        direction = generator.standard_normal((Y.shape[1],))
        stand = along if (fast := loaded()) is None else fast.along
        score = stand(Y, self.scale, direction * self.weight)
        if self.pull.any():
            score += self._given(generator)
        return _in_order(score, generator)

    def given_order(self, generator: np.random.Generator) -> Rows:
        """The same along a random direction of the given columns alone; where the groups begin is random too."""
        if not self.pull.any():
            return generator.permutation(len(self.X))
        return np.roll(_in_order(self._given(generator), generator), int(generator.integers(len(self.X))))

    def _given(self, generator: np.random.Generator) -> Array:
        return np.asarray(self.X @ (self.pull * generator.standard_normal(len(self.pull))))


def _in_order(score: Array, generator: np.random.Generator) -> Rows:
    place, shuffled = bins(score), generator.permutation(len(score))
    return shuffled[np.argsort(place[shuffled], kind="stable")]


def bins(score: Array) -> NDArray[np.uint16]:
    """The bin of each score, from the lowest to the highest.

    >>> bins(np.array([-1.0, 0.0, 3.0])).tolist()
    [0, 16383, 65535]
    """
    low = score.min(initial=np.inf)
    width = score.max(initial=-np.inf) - low
    return np.asarray((score - low) * ((BINS - 1) / (width if width > 0 else 1.0)), dtype=np.uint16)


def _weight(L: Array) -> float:
    spread = float(L.std())
    return 1.0 / spread if spread > NO_SAY * float(np.abs(L).max(initial=0.0)) else 0.0
