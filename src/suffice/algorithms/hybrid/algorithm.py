"""Generalized microaggregation: the algorithm of Langsrud (2019), section 6, with all its modifications."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from suffice.algebra.array import Array
from suffice.algorithms.hybrid.bases import sizes
from suffice.algorithms.hybrid.local import ClusterFactors, Counts, Long, in_clusters
from suffice.algorithms.hybrid.model import Model, model
from suffice.algorithms.hybrid.overall import Overall, over_clusters
from suffice.algorithms.hybrid.slopes import Shares, Slopes, shares, usable
from suffice.progress import Progress


@dataclass(frozen=True, repr=False)
class Parts:
    """Y* and what it is made of: Y = Yhat_1 + Yhat_2 + E_3 + E_4, Y* = Yhat_1 + Yhat_2 + alpha E_3* + E_4* (19)."""

    Y: Array
    s: Array | None
    longs: tuple[Long, ...]
    small: ClusterFactors
    overall: Overall
    held: Shares | None
    """The residuals of each cluster beside the new slopes, where modification a, b or c was asked."""
    alpha: float
    """1 in the main algorithm and in modification b, 0 in a."""
    C: Array
    """E_4* = T_s4 C in each cluster; W_4 in the main algorithm."""

    @cached_property
    def Ystar(self) -> Array:
        """The change is added to Y, so a column that does not change stays bit for bit."""
        D = self.alpha * self.overall.E3star - self.overall.E3
        return self.Y + self._rows(lambda f: _times(f.Q, D[f.stack.groups]) + _times(f.T, self._C(f)) - f.E4)

    @property
    def Yhat1(self) -> Array:
        return self.Y - self.Yhat2 - self.E3 - self.E4

    @property
    def Yhat2(self) -> Array:
        D = self.small.Y2 - self.overall.E3
        return self._rows(lambda f: _times(f.Q, D[f.stack.groups]))

    @property
    def E3(self) -> Array:
        return self._rows(lambda f: _times(f.Q, self.overall.E3[f.stack.groups]))

    @property
    def E4(self) -> Array:
        return self._rows(lambda f: f.E4)

    @property
    def E3star(self) -> Array:
        return self._rows(lambda f: self.alpha * _times(f.Q, self.overall.E3star[f.stack.groups]))

    @property
    def E4star(self) -> Array:
        return self._rows(lambda f: _times(f.T, self._C(f)))

    @property
    def clusters(self) -> int:
        return len(self.small.n)

    @property
    def freedom(self) -> Counts:
        """Dimensions left in each cluster by its own fit on all given columns."""
        return self.small.freedom

    @property
    def ranks(self) -> tuple[int, int, int]:
        """Independent columns of X_1, X_2 and X_3 of (18)."""
        return int(self.small.rank1.sum()), self.overall.rank, self.overall.freedom

    @property
    def largest(self) -> float:
        """The largest alpha that every cluster can hold; infinite where nothing limits it."""
        return np.inf if self.held is None else float(self.held.largest.min(initial=np.inf))

    @property
    def impossible(self) -> int:
        """In how many clusters C of modification b does not exist."""
        return 0 if self.held is None else int((self.held.largest <= 1.0).sum())

    def _C(self, f: Long) -> Array:
        return self.C[f.stack.groups]

    def _rows(self, of: Callable[[Long], Array]) -> Array:
        """Something of every cluster as a long matrix, in the units of the data."""
        out = np.empty_like(self.Y)
        for f in self.longs:
            f.stack.put(of(f), out)
        out *= sizes(self.Y)
        return out if self.s is None else out / self.s[:, None]

    def __repr__(self) -> str:
        return f"Parts({len(self.Y)} x {self.Y.shape[1]}, {self.clusters} clusters, ranks {self.ranks})"


def _times(Q: Array, coefficients: Array) -> Array:
    return np.asarray(coefficients.transpose(0, 2, 1) @ Q)


def hybrid(
    Y: Array,
    Z: Array,
    *,
    clusters: ArrayLike | None = None,
    local: Array | None = None,
    overall: Array | None = None,
    pieces: ArrayLike | None = None,
    pieces_given: Array | None = None,
    cluster_groups: ArrayLike | None = None,
    groups_given: Array | None = None,
    slopes: Slopes = None,
    weights: Array | None = None,
    progress: Progress | None = None,
) -> Parts:
    """Hybrid data that keep some regressions in every cluster and others overall.

    Y  = Yhat_1 + Yhat_2 + E_3 + E_4                                 (19)
    Y* = Yhat_1 + Yhat_2 + alpha T_s3 W_3 + T_s4 C                   items 6, 9 and 10

    **Promises** what `kept` lists; nothing more. What some cluster cannot hold is refused with the number of clusters
    and the largest alpha.

    Y, Z: confidential columns and standard normals, of the same shape.
    clusters: a label for each row; one cluster unless told. The rows may be in any order.
    local: X_A, crossed with clusters; the constant is always one of them.
    overall: X_B, not crossed.
    pieces: labels of smaller parts of clusters (modification e); the constant and `pieces_given` are crossed with them.
    cluster_groups: labels of groups of clusters (modification d), with which `groups_given` is crossed.
    slopes: None is the main algorithm. A number from 0 to 1 is alpha of modification c (0 is a, 1 is b); "largest" is
        the share BELOW of the largest alpha, and at most 1.
    weights: positive; means, covariances and fits are then the weighted ones.

    Langsrud (2019), section 6.

    >>> rng = np.random.default_rng(1)
    >>> x, Y, Z = rng.normal(size=(40, 1)), rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    >>> found = hybrid(Y, Z, clusters=np.arange(40) // 8, overall=x)
    >>> np.allclose(np.cov(found.Ystar.T), np.cov(Y.T)), np.allclose(x.T @ found.Ystar, x.T @ Y)
    (True, True)
    >>> np.allclose(found.Ystar[:8].mean(axis=0), Y[:8].mean(axis=0))
    True
    """
    crossing = model(len(Y), clusters, local, overall, pieces, pieces_given, cluster_groups, groups_given)
    crossing.check(Y, Z, slopes, weights)
    s = None if weights is None else np.sqrt(weights)
    longs, small = in_clusters(Y, Z, crossing, s, progress)
    return _finished(Y, s, longs, small, crossing, slopes)


def _finished(
    Y: Array, s: Array | None, longs: list[Long], small: ClusterFactors, crossing: Model, slopes: Slopes
) -> Parts:
    found = over_clusters(small, crossing.groups, crossing.XG.shape[1])
    if slopes is None:
        return Parts(Y, s, tuple(longs), small, found, None, 1.0, small.W4)  # item 6
    held = shares(small, found)
    alpha = usable(slopes, held, small)
    return Parts(Y, s, tuple(longs), small, found, held, alpha, held.C(alpha))
