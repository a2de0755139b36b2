"""Membership: whether a release tells that a record stands behind it, beside records that do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree
from scipy.stats import rankdata

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value

FALSE = 0.01
COLUMNS, PAIRS, PART = 12, 10**8, 1024
"""From how many columns on all pairs are looked at, if they are not more than these; records at a time."""


@dataclass(frozen=True)
class Membership:
    """auc: the chance that a member is nearer to the release than a record of the hold-out; .5 is none
    found: the share of members that are found where 1 % of the hold-out is taken for members; .01 is chance
    """

    auc: float
    found: float


def membership(Y: Array, holdout: Array, Ystar: Array) -> Membership:
    """By the distance of a record from the nearest released one, in columns divided by the release's sd.

    >>> Y = np.arange(20.0)[:, None]
    >>> membership(Y, Y + 0.5, Y), membership(Y, Y, Y + 3)
    (Membership(auc=1.0, found=1.0), Membership(auc=0.5, found=0.01))
    """
    sd = Ystar.std(axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    return separation(*(-_nearest(A / scale, Ystar / scale) for A in (Y, holdout)))


def _nearest(A: Array, B: Array) -> Array:
    """The distance of every record of A from the nearest of B; where columns are many a k-d tree looks at all."""
    if A.shape[1] <= COLUMNS or len(A) * len(B) > PAIRS:
        return np.asarray(KDTree(B).query(A)[0])
    far, turned = (B * B).sum(axis=1), -2 * B.T
    parts = (A[at : at + PART] @ turned for at in range(0, len(A), PART))
    near = np.concatenate([np.argmin(np.add(part, far, out=part), axis=1) for part in parts])
    return np.asarray(np.sqrt(((A - B[near]) ** 2).sum(axis=1)))


def separation(members: Array, others: Array) -> Membership:
    """The area under the curve of right against false alarms, and its height at 1 %; scores that are equal are drawn
    at random, so that the curve is straight there."""
    ranks = rankdata(np.concatenate([members, others]))
    n, m = len(members), len(others)
    auc = (ranks[:n].sum() - n * (n + 1) / 2) / (n * m)
    at = np.unique(np.concatenate([members, others]))[::-1]
    hit, alarm = (
        np.concatenate([[0.0], (len(each) - np.searchsorted(np.sort(each), at, "left")) / len(each)])  # 2/200 is .01
        for each in (members, others)
    )
    last = int(np.searchsorted(alarm, FALSE, "right")) - 1  # the last point that is not beyond 1 %
    if last + 1 == len(alarm):
        return Membership(float(auc), 1.0)
    part = (FALSE - alarm[last]) / (alarm[last + 1] - alarm[last])
    return Membership(float(auc), float(hit[last] + part * (hit[last + 1] - hit[last])))


DISTANCE = ", by their distances from the nearest released record in columns divided by the release's sd"
MEASURES = (
    Measure(
        "membership-auc",
        lambda pair: Value(membership(pair.Y, pair.holdout, pair.Ystar).auc, {}, 0.5),
        frozenset({"hold-out", "numbers"}),
        SHARE,
        "higher is riskier",
        f"chance that an original record is taken for one rather than a record of the hold-out{DISTANCE}",
        "Stadler, Oprisanu & Troncoso (2022)",
        most=20_000,
    ),
    Measure(
        "membership-tpr",
        lambda pair: Value(membership(pair.Y, pair.holdout, pair.Ystar).found, {}, FALSE),
        frozenset({"hold-out", "numbers"}),
        SHARE,
        "higher is riskier",
        f"share of original records that are told where 1 % of the hold-out is taken for originals{DISTANCE}",
        "Carlini et al. (2022)",
        most=20_000,
    ),
)
