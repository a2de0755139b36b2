"""Probabilistic information loss: statistics of a release against their sampling error (Mateo-Sanz et al. 2005)."""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from suffice.algebra.array import Array
from suffice.algebra.moments import Moments
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.numbers import FileNumbers, Numbers, total
from suffice.measure.pair import FilePair
from suffice.rows.rows import Product

QUANTILES = np.arange(1, 20) / 20
ROUNDING = 1e-12
"""Statistics of standardised columns that differ by less are equal."""
FAR = 39.0
"""Bandwidths at which a Gaussian kernel is 0 to the last digit."""


def information_loss(Y: Numbers, Ystar: Numbers) -> float:
    """The mean of the five families' losses: 0 where all statistics are those of the original, 1 where none is near."""
    return float(np.mean(list(families(Y, Ystar).values())))


def families(Y: Numbers, Ystar: Numbers) -> dict[str, float]:
    """For means, variances, covariances, correlations and quantiles 5(5)95: the mean of 2 Phi(|d| / sqrt V) - 1.

    d is the difference of a statistic between the files, V its variance in samples from the original:

    - mean mu2 / n; variance (mu4 - mu2^2) / n; covariance (mu22 - mu11^2) / n;
    - correlation [mu22 + r^2 (mu40 + mu04 + 2 mu22) / 4 - r (mu31 + mu13)] / n, in standardised columns;
    - quantile q (1 - q) / (n f^2), f a Gaussian kernel estimate there, h = .9 min(sd, IQR / 1.34) n^-1/5.

    Columns that do not vary in the original are left out; a single column has no covariance or correlation.
    (Calvino 2017, (20).)
    """
    before, n = FileNumbers.of(Y), len(Y)
    mean, sd, moves = before.spread.mean, before.scale, before.spread.sd > 0
    one, two = np.triu_indices(int(moves.sum()), 1)

    def standard(A: Array) -> Array:
        return np.asarray(((A - mean) / sd)[:, moves])

    def powers(A: Array) -> Product:
        Z = standard(A)
        squares, cross = Z**2, Z[:, one] * Z[:, two]
        mixed = (cross * (squares[:, one] + squares[:, two])).sum(axis=0)
        return Product((squares**2).sum(axis=0), (cross**2).sum(axis=0), mixed, Z.T @ Z)

    mu4, mu22, mixed, covariance = (np.asarray(each) / n for each in total(powers, before))
    r = covariance[one, two]
    correlation = mu22 + r**2 * (mu4[one] + mu4[two] + 2 * mu22) / 4 - r * mixed
    released = total(lambda A: Moments.of(standard(A)), Ystar)
    after = released.covariance
    spread = np.sqrt(np.maximum(np.diag(after), 0.0))  # of equal values it is 0 but for rounding, on either side
    size = np.where(spread > 0, spread, 1.0)
    files = zip(before.columns(), FileNumbers.of(Ystar).columns(), mean, sd, moves, strict=True)
    quantiles = [_quantiles((y - m) / s, (z - m) / s) for y, z, m, s, there in files if there]
    found = {
        "means": _loss(released.mean, 1 / n),
        "variances": _loss(np.diag(after) - 1, (mu4 - 1) / n),
        "covariances": _loss((after - covariance)[one, two], (mu22 - r**2) / n),
        "correlations": _loss((after / np.outer(size, size) - covariance)[one, two], correlation / n),
        "quantiles": np.concatenate([np.zeros(0), *quantiles]),
    }
    return {name: float(each.mean()) for name, each in found.items() if each.size}


def _loss(d: Array, V: Array | float) -> Array:
    """2 Phi(|d| / sqrt V) - 1; a statistic without sampling error is kept, or lost."""
    V = np.broadcast_to(np.maximum(V, 0.0), d.shape)
    at = np.divide(np.abs(d), np.sqrt(2 * V), out=np.full(d.shape, np.inf), where=V > ROUNDING**2)
    return np.asarray(np.where(np.abs(d) <= ROUNDING, 0.0, erf(at)))


def _quantiles(y: Array, z: Array) -> Array:
    """The losses of the quantiles of a standardised column."""
    y, n = np.sort(y), len(y)
    at = np.quantile(y, QUANTILES)
    V = QUANTILES * (1 - QUANTILES) / (n * _density(y, at) ** 2)
    return _loss(np.quantile(z, QUANTILES) - at, V)


def _density(y: Array, at: Array) -> Array:
    """A Gaussian kernel estimate; where half of the values are alike, the bandwidth goes by the sd alone."""
    width = float(np.subtract(*np.quantile(y, [0.75, 0.25]))) / 1.34
    h = 0.9 * (min(y.std(), width) if width > 0 else y.std()) * len(y) ** -0.2
    ends = np.searchsorted(y, [at - FAR * h, at + FAR * h]).T
    inside = (slice(first, last) for first, last in ends)
    sums = [np.exp(-0.5 * ((x - y[here]) / h) ** 2).sum() for x, here in zip(at, inside, strict=True)]
    return np.asarray(np.array(sums) / (len(y) * h * np.sqrt(2 * np.pi)))


def _by_family(pair: FilePair) -> Value:
    found = families(pair.original, pair.release)
    return Value(float(np.mean(list(found.values()))), found)


MEASURES = (
    Measure(
        "information-loss",
        _by_family,
        frozenset({"numbers"}),
        SHARE,
        "lower is better",
        "mean over means, variances, covariances, correlations and quantiles 5(5)95 of the mean of 2 Phi(|d|/sqrt V) "
        "- 1, d the difference of a statistic between the files and V its variance in samples from the original",
        "Mateo-Sanz, Domingo-Ferrer & Sebé (2005); Calvino (2017), (20)",
        whole=True,
    ),
)
