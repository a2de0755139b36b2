"""Microaggregation plus noise: the covariance that averaging takes away is put back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import GQR, gqr, split
from suffice.algorithms.partition.aggregates import means
from suffice.errors import InfeasibleError
from suffice.method.masked import Masked
from suffice.method.parameter import Choice, Count, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.microdata.microaggregate import PARTITIONS, Microaggregate, Partition
from suffice.progress import Progress
from suffice.seed import Stream


@dataclass(frozen=True)
class MicroaggregateNoise(Recordwise):
    """Group means plus noise with exactly the covariance that was lost.

    Y* = M + T* W,  M the group means,  W'W = (Y - M)'(Y - M),  T* orthogonal to 1 and M

    **Promises** means and covariances: the noise is new scores with the loadings of what averaging took away. In the
    literature both hold on average; here they hold in the release. Regressions are not kept: follow it with `Restore`.

    k: the least number of records in a group.
    partition: how like records are found, as in `Microaggregate`.

    Oganian & Karr (2006), Privacy in Statistical Databases, LNCS 4302, 59-70; Woo, Reiter, Oganian & Karr (2009),
    Journal of Privacy and Confidentiality 1, 111-124.

    >>> from suffice.seed import Seed
    >>> Y = np.random.default_rng(1).normal(size=(40, 2))
    >>> stream = Seed.for_tests(1).derive("doctest")
    >>> Ystar = MicroaggregateNoise(k=4).mask(Records(np.ones((40, 1)), Y, Y), stream).Ystar
    >>> np.allclose(Ystar.mean(axis=0), Y.mean(axis=0)), np.allclose(np.cov(Ystar.T), np.cov(Y.T))
    (True, True)
    """

    keeps: ClassVar[tuple[str, ...]] = ("mean", "covariance")
    by_parts: ClassVar = False
    references: ClassVar = ("Oganian & Karr (2006)", "Woo, Reiter, Oganian & Karr (2009)")

    k: int = parameter(Count(low=2), "the least number of records in a group", 3)
    partition: Partition = parameter(
        Choice(tuple(name for name in PARTITIONS if name != "individual")), "how like records are found", "mdav"
    )

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        """Means with noise, and how much of the variance is noise."""
        root = np.ones((records.n, 1)) if records.w is None else np.sqrt(records.w)[:, None]
        labels = Microaggregate(k=self.k, partition=self.partition).labels(records.Y, progress)
        M = means(labels, records.Y, records.w)
        E = root * (records.Y - M)
        lost = gqr(E)
        Z = root * stream.generator("noise").standard_normal((records.n, lost.rank))
        T = self._scores(Z, M, root, lost, records)
        noise = np.divide(T @ lost.R, root, out=np.zeros_like(E), where=root > 0)
        return Masked(M + noise, (f"share of the variance that is noise: {_share(E, root * _centred(records)):.4f}",))

    def _scores(self, Z: Array, M: Array, root: Array, lost: GQR, records: Records) -> Array:
        """T*, orthogonal to 1 and M."""
        means_too = np.hstack([root, root * (M - np.average(M, axis=0, weights=records.w))])
        T = gqr(split(Z, means_too)[1]).Q
        if T.shape[1] < lost.rank:
            raise InfeasibleError(
                f"The noise needs {lost.rank} directions and the data leave {T.shape[1]}.\n"
                f"  rows {records.n} . confidential {records.Y.shape[1]}\nMask fewer variables together."
            )
        return T

    @classmethod
    def examples(cls) -> tuple[MicroaggregateNoise, ...]:
        return cls(), cls(k=6, partition="univariate")


def _centred(records: Records) -> Array:
    return np.asarray(records.Y - np.average(records.Y, axis=0, weights=records.w))


def _share(E: Array, D: Array) -> float:
    """Of the columns that vary, on average."""
    lost, all_ = np.linalg.norm(E, axis=0), np.linalg.norm(D, axis=0)
    return float(np.mean((lost[all_ > 0] / all_[all_ > 0]) ** 2)) if all_.any() else 0.0
