"""Microaggregation plus noise as in the literature: drawn, so that covariances are right on average only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import GQR
from suffice.method.records import Records
from suffice.microdata.microaggregate_noise import MicroaggregateNoise


@dataclass(frozen=True)
class MicroaggregateDraws(MicroaggregateNoise):
    """Group means plus normal noise with the covariance that was lost, on average.

    Y* = M + e,  M the group means,  e ~ N(0, (Y - M)'(Y - M) / n)

    **Promises** nothing exactly: it is the literature's method, for comparison. `MicroaggregateNoise` is the same with
    noise that is exact; `Restore` mends this one.

    k: the least number of records in a group.
    partition: how like records are found, as in `Microaggregate`; in a file of more than 2^20 records among those dealt
        to the same part.

    Oganian & Karr (2006), Privacy in Statistical Databases, LNCS 4302, 59-70; Woo, Reiter, Oganian & Karr (2009),
    Journal of Privacy and Confidentiality 1, 111-124.

    >>> from suffice.seed import Seed
    >>> Y = np.random.default_rng(1).normal(size=(40, 2))
    >>> stream = Seed.for_tests(1).derive("doctest")
    >>> Ystar = MicroaggregateDraws(k=4).mask(Records(np.ones((40, 1)), Y, Y), stream).Ystar
    >>> np.allclose(Ystar.mean(axis=0), Y.mean(axis=0)), np.allclose(np.cov(Ystar.T), np.cov(Y.T), atol=0.8)
    (False, True)
    """

    keeps: ClassVar = ()
    by_parts: ClassVar = True
    rounds: ClassVar = 1

    def _scores(self, Z: Array, M: Array, root: Array, lost: GQR, records: Records) -> Array:
        """Scores of the noise, of length one on average."""
        return np.asarray(Z / np.sqrt(float((root**2).sum())))
