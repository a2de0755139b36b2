"""How well a score tells released records from original ones, whatever made the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array

SPECKS = "specks: the Kolmogorov-Smirnov distance of the two files' p"


@dataclass(frozen=True, repr=False)
class Discrimination:
    """Original and released records at every value of a score, in its order.

    >>> told = Discrimination.of(np.array([0.2, 0.5, 0.5, 0.9]), np.array([0, 0, 1, 1]))
    >>> told.pmse, told.specks, told.correct, told.wilcoxon
    (0.0625, 0.5, 25.0, 3.5)
    """

    score: Array
    original: Array
    released: Array

    @classmethod
    def of(cls, score: Array, released: Array) -> Discrimination:
        """released: 1 for a released record, 0 for an original one"""
        return cls.counted(score, 1.0 - released, np.asarray(released, dtype=np.float64))

    @classmethod
    def counted(cls, score: Array, original: Array, released: Array) -> Discrimination:
        """Records by score, of which several may be equal."""
        at, place = np.unique(score, return_inverse=True)
        before, after = (np.bincount(place, each, len(at)).astype(np.float64) for each in (original, released))
        return cls(at, before, after)

    @property
    def share(self) -> float:
        """c, the share of released records."""
        return float(self.released.sum() / (self.original.sum() + self.released.sum()))

    @property
    def pmse(self) -> float:
        """The mean of (score - c)^2 over both files."""
        both = self.original + self.released
        return float(both @ (self.score - self.share) ** 2 / both.sum())

    @property
    def specks(self) -> float:
        """The Kolmogorov-Smirnov distance of the two files' scores: 0 alike, 1 apart."""
        below = [np.cumsum(each) / each.sum() for each in (self.original, self.released)]
        return float(np.abs(below[0] - below[1]).max())

    @property
    def correct(self) -> float:
        """Per cent of the records that a guess by score > c tells rightly, beyond the 50 of a coin."""
        high = self.score > self.share
        right = self.released[high].sum() + self.original[~high].sum()
        return float(100 * right / (self.original.sum() + self.released.sum()) - 50)

    @property
    def wilcoxon(self) -> float:
        """Pairs of an original and a released record of which the released has the higher score; ties are halves."""
        return float(self.released @ (np.cumsum(self.original) - self.original / 2))
