"""Records at risk by density: few others are near in what is public (ESSnet 2009, chapter 5; Ichim 2009)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure
from suffice.measure.pair import FilePair
from suffice.risk.keys import Levels, combined, joint

REACH, LEAST = 0.1, 5
ROUNDING = 1e-9


def neighbours(
    X: Array, stratum: Levels | None = None, reach: float = REACH, dates: Sequence[int] = ()
) -> NDArray[np.int64]:
    """For each record, how many others of its stratum have every number within 10 % of its own.

    (1 - r) x <= z <= (1 + r) x has one width in logarithms: a cube about log x + log(1 - r^2) / 2. Zero is near zero.
    dates: places of columns in which 10 % are of the standard deviation

    >>> neighbours(np.array([[100.0], [109.0], [-100.0], [0.0], [0.0]])).tolist()
    [1, 1, 0, 1, 1]
    """
    n = len(X)
    logs = np.log(np.abs(X), out=np.zeros_like(X), where=X != 0)
    signs = [np.sign(x).astype(np.int64) for j, x in enumerate(X.T) if j not in dates]
    group = joint([*signs, *([] if stratum is None else [stratum])], n)
    shift, half = np.log1p(-reach * reach) / 2, (np.log1p(reach) - np.log1p(-reach)) / 2 * (1 + ROUNDING)
    moved = np.where(X != 0, shift, 0.0)
    for j in dates:
        logs[:, j], moved[:, j] = X[:, j] / (reach * (X[:, j].std() or 1.0)) * half, 0.0
    found, order = np.zeros(n, dtype=np.int64), np.argsort(group, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if len(places) == 1:
            continue
        at = logs[places] + moved[places]
        count = KDTree(logs[places]).query_ball_point(at, half, p=np.inf, return_length=True)
        found[places] = np.asarray(count) - 1
    return found


def sparse_records(
    X: Array, stratum: Levels | None = None, least: int = LEAST, reach: float = REACH, dates: Sequence[int] = ()
) -> NDArray[np.intp]:
    """Places of the records with fewer than `least` others near: a private list, which leaves with no release."""
    return np.flatnonzero(neighbours(X, stratum, reach, dates) < least)


def _measured(pair: FilePair) -> float:
    apart = {*pair.categories, *pair.roles.confidential, *pair.roles.identifiers, pair.roles.weight}
    public = [
        name for name, each in pair.before.items() if name not in apart and _numeric(each) and name in pair.after[0]
    ]
    names = public or pair.numbers
    X, dates = pair.matrix(pair.before, names), [j for j, name in enumerate(names) if name in pair.dates]
    stratum = combined(pair)[0] if pair.known else None
    there = np.isfinite(X).all(axis=1)
    found = sparse_records(X[there], None if stratum is None else stratum[there], dates=dates)
    return len(found) / max(1, len(X))


def _numeric(column: object) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind in "fiu"


MEASURES = (
    Measure(
        "sparse-records",
        _measured,
        frozenset({"numbers"}),
        SHARE,
        "higher is riskier",
        "share of original records with fewer than 5 others near: within 10 % (dates: of the standard deviation) in "
        "every number that leaves as it is, or, if none does, in every confidential one, among those with the same "
        "known categories",
        "ESSnet (2009), chapter 5; Ichim (2009)",
    ),
)
