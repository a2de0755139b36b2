"""Whether releases remember the original: its rank among releases of it, by their distances from each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.spatial import KDTree

from suffice.algebra.array import Array
from suffice.measure.measure import Measure, Value
from suffice.measure.numbers import FileNumbers, Numbers, total
from suffice.measure.pair import FilePair

Apart = Callable[[Any, Any, Array], float]
"""How far two files are from each other, in columns that are divided by a scale."""


@dataclass(frozen=True)
class Memory:
    """Where the original stands among itself and its releases, by mean distance from all the others.

    If the walk has forgotten, original and releases are drawn from one law, and each rank is as likely as another:
    the chance of this rank or a lower one is p. A rank of 1 says that the original is in their midst.

    rank: 1 is the nearest to the others, `of` the farthest
    apart: mean distance of the original from the releases, over that of the releases from each other
    """

    rank: int
    of: int
    apart: float

    @property
    def p(self) -> float:
        return self.rank / self.of

    @classmethod
    def of_releases(cls, Y: Numbers, releases: Sequence[Numbers], distance: Apart) -> Self:
        """Of an original and releases of it with as many keys; all are scaled by the original's standard deviation."""
        files, scale = [Y, *releases], FileNumbers.of(Y).scale
        D = np.zeros((len(files), len(files)))
        for i, one in enumerate(files):
            for j in range(i):
                D[i, j] = D[j, i] = distance(one, files[j], scale)
        mean = D.sum(axis=0) / (len(files) - 1)
        among = D[1:, 1:].sum() / max(1, len(releases) * (len(releases) - 1))
        return cls(1 + int((mean[1:] < mean[0]).sum()), len(files), float(mean[0] / among) if among > 0 else 1.0)


def aligned(one: Numbers, two: Numbers, scale: Array) -> float:
    """Root mean square difference of records, row by row: what is found by who knows which row is whose."""
    squares = total(lambda a, b: float(np.square((a - b) / scale).sum()), one, two)
    return float(np.sqrt(squares / (len(one) * len(scale))))


def unaligned(one: Array, two: Array, scale: Array) -> float:
    """Mean distance of each record of either file from the nearest of the other: the order of records is no matter."""
    one, two = one / scale, two / scale
    return float(np.mean([np.mean(KDTree(a).query(b)[0]) for a, b in ((one, two), (two, one))]))


def average_correlation(Y: Numbers, releases: Sequence[Numbers]) -> float:
    """The mean over columns of the correlation of the releases' average with the original; 0 is no memory."""
    mean, *means = (FileNumbers.of(each).spread.mean for each in (Y, *releases))
    centre = np.mean(means, axis=0)

    def of(A: Array, *after: Array) -> Array:
        Z, average = A - mean, np.mean(after, axis=0) - centre
        return np.array([(Z * average).sum(axis=0), (Z * Z).sum(axis=0), (average * average).sum(axis=0)])

    inner, one, two = total(of, Y, *releases)
    size = np.sqrt(one * two)
    return float(np.mean(np.divide(inner, size, out=np.zeros(len(size)), where=size > 0)))


def permuted(Y: Array, releases: Sequence[Array], times: int = 999, seed: int = 1) -> float:
    """How often the average of releases is as like the original with its rows in any order: p, where nothing is given.

    Without given columns the law of a release is the same for every order of its rows, so this p has no other null.
    """
    rng, average = np.random.default_rng(seed), [np.mean(releases, axis=0)]
    found = average_correlation(Y, average)
    like = sum(average_correlation(Y[rng.permutation(len(Y))], average) >= found for _ in range(times))
    return (1 + like) / (1 + times)


def _remembered(pair: FilePair) -> Value:
    releases = [FileNumbers(rows, pair.numbers) for rows in pair.all_rows[1:]]
    found = Memory.of_releases(pair.original, releases, aligned)
    return Value(average_correlation(pair.original, releases), {"p": found.p, "apart": found.apart})


MEASURES = (
    Measure(
        "memory",
        _remembered,
        frozenset({"aligned rows", "numbers", "several releases"}),
        (-1.0, 1.0),
        "higher is riskier",
        "mean over columns of the correlation of the releases' average with the original; p: the original's rank "
        "among itself and its releases by mean distance from the others, over their number; apart: its mean distance "
        "from the releases over that of the releases from each other",
        whole=True,
    ),
)
