"""Blends: every record mixed with a synthetic one, its own or the nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from suffice.algebra.array import Array
from suffice.errors import InfeasibleError, UsageError
from suffice.method.masked import Masked
from suffice.method.parameter import Choice, Data, Number, Switch, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.progress import Progress
from suffice.seed import Stream

FIRST, MATCHED = 8, 200
"""Neighbours of which the nearest pairs are taken, and records left over whose best match is found at once."""


@dataclass(frozen=True)
class Blend(Recordwise):
    """Mix every record with a synthetic one: the one beside it, or the nearest.

    additive:        Y* = alpha Y + (1 - alpha) Ys
    multiplicative:  Y* = Y^alpha Ys^(1 - alpha)

    **Promises** nothing exactly: follow it with `Restore`. alpha = 1 is the original, and 0 the other data set.

    other: the synthetic data set, row by row beside the original; or none, and a method before it:
        `Ipso().then(Blend(alpha=0.5))`.
    alpha: the part of the original, from 0 to 1.
    how: additive or multiplicative, which needs positive columns.
    pair: row takes the synthetic record beside each record, nearest the one that is nearest in z-scores of the
        original; in a file of more than 2^20 records the nearest of those dealt to the same part.
    once: every synthetic record is used once: nearest pairs first, then those that are left.

    ESSnet (2009), section 1.5; Dandekar, Domingo-Ferrer & Sebe (2002).

    >>> from suffice.seed import Seed
    >>> Y, Ys = np.array([[1.0], [5.0]]), np.array([[4.0], [2.0]])
    >>> records = Records(np.ones((2, 1)), Ys, Y, started=True)
    >>> Blend(alpha=0.5, pair="nearest").mask(records, Seed().derive()).Ystar.T
    array([[1.5, 4.5]])
    """

    rounds: ClassVar = 1
    references: ClassVar = ("ESSnet (2009), section 1.5", "Dandekar, Domingo-Ferrer & Sebe (2002)")

    other: object = parameter(Data(), "the synthetic data set", None)
    alpha: float = parameter(Number(0, 1), "the part of the original", 0.5)
    how: Literal["additive", "multiplicative"] = parameter(
        Choice(("additive", "multiplicative")), "how two records are mixed", "additive"
    )
    pair: Literal["row", "nearest"] = parameter(
        Choice(("row", "nearest")), "which synthetic record each is mixed with", "row"
    )
    once: bool = parameter(Switch(), "whether every synthetic record is used once, for pair = nearest", False)

    @property
    def mixes(self) -> bool:  # type: ignore[override]
        return self.alpha > 0 or self.pair == "nearest"

    @property
    def ranks(self) -> bool:  # type: ignore[override]
        return self.how == "multiplicative"

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        """The blended records, and how often synthetic ones were used."""
        if not records.started:
            raise UsageError(f"{self.name} needs other, or a method before it.")
        Y, Ys, said = records.original, records.Y, tuple[str, ...]()
        if self.pair == "nearest":
            at = nearest(Y, Ys, self.once)
            Ys, said = Ys[at], (f"{len(np.unique(at))} of {len(Ys)} synthetic records are used",)
        if self.how == "additive":
            return Masked(self.alpha * Y + (1 - self.alpha) * Ys, said)
        if wrong := [name for name, low in zip(records.names, np.minimum(Y, Ys).min(axis=0), strict=True) if low <= 0]:
            raise InfeasibleError(
                "Multiplicative blends need positive columns: zeros or negative values, here or in synthetic data, in "
                f"{', '.join(map(repr, wrong))}.\nUse how = additive, or synthetic data that are positive."
            )
        return Masked(Y**self.alpha * Ys ** (1 - self.alpha), said)

    @classmethod
    def examples(cls) -> tuple[Blend, ...]:
        return cls(alpha=0.3), cls(alpha=0.5, pair="nearest"), cls(alpha=0.2, pair="nearest", once=True)


def nearest(Y: Array, Ys: Array, once: bool) -> NDArray[np.int64]:
    """For every record the synthetic one nearest to it in standard deviations of Y.

    once: each is used once, nearest pairs first, among some neighbours; what is left is paired part by part.

    >>> nearest(np.array([[0.0], [1.0], [9.0]]), np.array([[0.9], [8.0], [4.0]]), once=True).tolist()
    [2, 0, 1]
    """
    sd = Y.std(axis=0)
    A, B = (each / np.where(sd > 0, sd, 1.0) for each in (Y, Ys))
    if not once:
        return np.asarray(KDTree(B).query(A)[1], dtype=np.int64)
    k = min(FIRST, len(B))
    far, at = map(np.asarray, KDTree(B).query(A, k=range(1, k + 1)))
    wants, has, taken = np.full(len(A), -1).tolist(), at.ravel().tolist(), [False] * len(B)
    for pair in np.argsort(far, axis=None, kind="stable").tolist():
        if wants[pair // k] < 0 and not taken[has[pair]]:
            wants[pair // k], taken[has[pair]] = has[pair], True
    found, free = np.array(wants, dtype=np.int64), np.flatnonzero(~np.array(taken))
    left = np.flatnonzero(found < 0)
    found[left] = free[_in_halves(A[left], B[free])]
    return found


def _in_halves(A: Array, B: Array) -> NDArray[np.int64]:
    """Pairs of as many records: both files are halved where they are widest, again and again, and few matched best."""
    found, parts = np.empty(len(A), dtype=np.int64), [(np.arange(len(A)), np.arange(len(B)))]
    while parts:
        one, two = parts.pop()
        a, b, half = A[one], B[two], len(one) // 2
        if len(one) <= MATCHED:
            rows, columns = linear_sum_assignment(cdist(a, b))
            found[one[rows]] = two[columns]
            continue
        j = int(np.argmax(np.vstack([a, b]).var(axis=0)))
        one, two = one[np.argsort(a[:, j], kind="stable")], two[np.argsort(b[:, j], kind="stable")]
        parts += [(one[:half], two[:half]), (one[half:], two[half:])]
    return found
