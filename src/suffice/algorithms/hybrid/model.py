"""Which columns are crossed with what: X_1, X_2 and X_3 of (18)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from suffice.algebra.array import Array
from suffice.algorithms.hybrid.stacks import Labels, crossed, nested, numbered
from suffice.errors import InputError, UsageError


class ModelColumns(NamedTuple):
    """Where the columns of the four matrices stand in [X_A X_B Ys Y]."""

    A: slice
    B: slice
    Z: slice
    Y: slice


@dataclass(frozen=True, repr=False)
class Model:
    """X_A is crossed with clusters, X_P with pieces; X_G with groups of clusters, and the rest of X_B with nothing."""

    clusters: Labels
    XA: Array
    XB: Array
    """X_G first."""
    pieces: Labels | None
    """Pieces of different clusters are different pieces."""
    XP: Array
    groups: Labels | None
    """The group of each cluster."""
    XG: Array

    @property
    def count(self) -> int:
        """The number of clusters."""
        return int(self.clusters.max(initial=-1)) + 1

    def columns(self, k: int) -> ModelColumns:
        edges = np.cumsum([0, self.XA.shape[1], self.XB.shape[1], k, k]).tolist()
        return ModelColumns(*(slice(a, b) for a, b in pairwise(edges)))

    def check(self, Y: Array, Z: Array, slopes: object, weights: Array | None) -> None:
        """Refuses what section 6 does not define."""
        if Z.shape != Y.shape:
            raise UsageError(
                f"The random matrix is {Z.shape[0]} x {Z.shape[1]}; it must be {Y.shape[0]} x {Y.shape[1]}."
            )
        if slopes is not None and not self.XB.shape[1]:
            raise UsageError(
                "slopes are those of overall columns or columns of groups, and there are none. Leave it out."
            )
        if slopes is not None and slopes != "largest" and not (isinstance(slopes, int | float) and 0 <= slopes <= 1):
            raise UsageError('slopes must be a number from 0 to 1, "largest" or None.')
        if weights is not None and not (len(weights) == len(Y) and np.all(weights > 0) and np.isfinite(weights).all()):
            raise InputError(
                "Weights must be positive numbers, one for each record: leave out records that count nowhere."
            )


def model(
    n: int,
    clusters: ArrayLike | None,
    local: Array | None,
    overall: Array | None,
    pieces: ArrayLike | None,
    pieces_given: Array | None,
    cluster_groups: ArrayLike | None,
    groups_given: Array | None,
) -> Model:
    """The model of a request; what has no meaning is refused."""
    if pieces is None and pieces_given is not None:
        raise UsageError(
            "pieces_given are crossed with pieces, and there are none. Name pieces, or give them as local."
        )
    if (cluster_groups is None) != (groups_given is None):
        raise UsageError(
            "cluster_groups and groups_given belong together: groups are what groups_given is crossed with."
        )
    labels = _labels(n, clusters, "clusters") if clusters is not None else np.zeros(n, dtype=np.int64)
    XG = _matrix(n, groups_given, "groups_given")
    return Model(
        labels,
        _matrix(n, local, "local"),
        np.hstack([XG, _matrix(n, overall, "overall")]),
        None if pieces is None else crossed(labels, _labels(n, pieces, "pieces")),
        _matrix(n, pieces_given, "pieces_given"),
        None if cluster_groups is None else nested(labels, _labels(n, cluster_groups, "cluster_groups")),
        XG,
    )


def _labels(n: int, labels: ArrayLike, name: str) -> Labels:
    found = numbered(labels)
    if len(found) != n:
        raise UsageError(f"{name} has {len(found)} labels for {n} records.")
    return found


def _matrix(n: int, X: Array | None, name: str) -> Array:
    if X is None:
        return np.zeros((n, 0))
    if X.ndim != 2 or len(X) != n:
        raise UsageError(f"{name} must be a matrix of {n} rows.")
    return X
