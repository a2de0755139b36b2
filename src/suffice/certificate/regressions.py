"""Regressions of the confidential columns on the given ones, in both files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import independent
from suffice.algebra.moments import Moments
from suffice.statistics.standing import Pair

STEEP = 1e6
"""Condition of X above which coefficients, unlike fits, are not compared."""


@dataclass(frozen=True, repr=False)
class Regressions:
    """A coefficient for every independent given column (a row) and every confidential one, and its standard error."""

    terms: tuple[str, ...]
    before: Array
    after: Array
    error: Array
    condition: float

    @classmethod
    def of(cls, pair: Pair) -> Regressions:
        """From correlations; where X is too steep there is nothing but its condition."""
        m = len(pair.given)
        kept = [j for j in range(m) if not pair.constant[j]]
        before, after = (_correlation(pair, moments) for moments in pair.whole)
        kept = [kept[j] for j in independent(before[np.ix_(kept, kept)], 1e-14)]
        none = np.empty((0, len(pair.confidential)))
        if not kept:
            return cls((), none, none, none, 1.0)
        S = before[np.ix_(kept, kept)]
        condition = float(np.sqrt(np.linalg.cond(S)))
        if not condition < STEEP:
            return cls((), none, none, none, condition)
        B, Bstar = (np.linalg.solve(C[np.ix_(kept, kept)], C[kept, m:]) for C in (before, after))
        residual = np.maximum(1.0 - np.einsum("ij,ij->j", before[kept, m:], B), 1e-12)
        nu = max(pair.whole[0].rows - len(kept) - 1, 1)
        error = np.sqrt(np.outer(np.diagonal(np.linalg.inv(S)), residual) / nu)
        unit = pair.sd[m:] / pair.sd[kept][:, None]  # from standard deviations to the columns' own units
        return cls(tuple(pair.given[j] for j in kept), B * unit, Bstar * unit, error * unit, condition)

    @property
    def gap(self) -> float:
        """The largest difference, in standard errors; NaN where coefficients are not compared."""
        if self.condition >= STEEP:
            return float("nan")
        return float(np.abs((self.after - self.before) / self.error).max(initial=0.0))


def _correlation(pair: Pair, moments: Moments) -> Array:
    second = moments.covariance if pair.spans_one else moments.products / moments.weight
    return np.asarray(second / np.outer(pair.sd, pair.sd))
