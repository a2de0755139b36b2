"""Means, variances and covariances of sets of cells, and the regression of released on original ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import EPS, Array
from suffice.statistics.cells import CellPromise
from suffice.statistics.statistic import Claim

SENTENCES = {
    "means": "means of sets of cells",
    "slope": "means of sets of cells, and of released on original ones slope 1 and intercept 0",
    "moments": "means, variances and covariances of sets of cells",
}
MOST = 8
"""Sets that are named in a sentence."""


@dataclass(frozen=True, repr=False)
class CellMoments(CellPromise):
    """Statistics of sets of cells, the k-th cell of each belonging together, like the columns of a file.

    keep: means, slope or moments; covariances are those between sets of one size
    sets: by name, places in all cells of the first value, then all of the second, and so on
    promised: else how near they are is told, and nothing depends on it
    """

    keep: str
    sets: Mapping[str, NDArray[np.int64]]
    promised: bool = True

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Variances and covariances."""
        every = combinations_with_replacement(self.sets, 2)
        return [(one, two) for one, two in every if len(self.sets[one]) == len(self.sets[two])]

    @property
    def said(self) -> list[str]:
        """The statistics in words."""
        means = [f"the mean of {name}" for name in self.sets]
        if self.keep == "slope":
            return means + [f"the slope of {name}" for name in self.sets]
        seconds = [f"the variance of {i}" if i == j else f"the covariance of {i} and {j}" for i, j in self.pairs]
        return means + seconds * (self.keep == "moments")

    def errors(self, before: Array, after: Array) -> tuple[Array, Array]:
        """Of each statistic the error in standard deviations, and what the digits can hold of it."""
        old, new = ({n: np.asarray(x[at], dtype=np.longdouble) for n, at in self.sets.items()} for x in (before, after))
        apart = {name: (old[name] - old[name].mean(), new[name] - new[name].mean()) for name in self.sets}
        sd = {name: np.sqrt((apart[name][0] ** 2).mean()) or np.longdouble(1) for name in self.sets}
        lost = {name: max(1.0, float(np.abs(old[name]).max() / sd[name])) for name in self.sets}
        found = [abs(new[name].mean() - old[name].mean()) / sd[name] for name in self.sets]
        room = [lost[name] for name in self.sets]
        kept = {"means": [], "slope": [(name, name) for name in self.sets], "moments": self.pairs}[self.keep]
        for one, two in kept:
            left = apart[one][0] if self.keep == "slope" else apart[one][1]
            off = (left * apart[two][1]).mean() - (apart[one][0] * apart[two][0]).mean()
            found.append(abs(off) / (sd[one] * sd[two]))
            room.append(max(lost[one], lost[two]))
        return np.array(found, dtype=float), np.array(room)

    def claim(self, before: Array, after: Array) -> Claim:
        errors, room = self.errors(before.T.ravel(), after.T.ravel())
        names = [*self.sets][:MOST] + [f"and {len(self.sets) - MOST:,} others"] * (len(self.sets) > MOST)
        found = Claim.worst(self.keep, f"{SENTENCES[self.keep]}: {', '.join(names)}", errors, room, self.said)
        return replace(found, promised=self.promised)

    def ratios(self, before: Array, after: Array) -> dict[str, tuple[float, float]]:
        """By statistic: the error, and the error over what the digits can hold."""
        errors, room = self.errors(before, after)
        pairs = zip(errors.tolist(), (errors / (EPS * room)).tolist(), strict=True)
        return dict(zip(self.said, pairs, strict=True))
