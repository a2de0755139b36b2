"""Probabilistic information loss: statistics of a release against their sampling error (Mateo-Sanz et al. 2005)."""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair

QUANTILES = np.arange(1, 20) / 20
ROUNDING = 1e-12
"""Statistics of standardised columns that differ by less are equal."""


def information_loss(Y: Array, Ystar: Array) -> float:
    """The mean of the five families' losses: 0 where all statistics are those of the original, 1 where none is near."""
    return float(np.mean(list(families(Y, Ystar).values())))


def families(Y: Array, Ystar: Array) -> dict[str, float]:
    """For means, variances, covariances, correlations and quantiles 5(5)95: the mean of 2 Phi(|d| / sqrt V) - 1.

    d is the difference of a statistic between the files, V its variance in samples from the original:

    - mean mu2 / n; variance (mu4 - mu2^2) / n; covariance (mu22 - mu11^2) / n;
    - correlation [mu22 + r^2 (mu40 + mu04 + 2 mu22) / 4 - r (mu31 + mu13)] / n, in standardised columns;
    - quantile q (1 - q) / (n f^2), f a Gaussian kernel estimate there, h = .9 min(sd, IQR / 1.34) n^-1/5.

    Columns that do not vary in the original are left out; a single column has no covariance or correlation.
    (Calvino 2017, (20).)
    """
    sd = Y.std(axis=0)
    moves = sd > 0
    Z, Zstar = ((A[:, moves] - Y[:, moves].mean(axis=0)) / sd[moves] for A in (Y, Ystar))
    n, (one, two) = len(Z), np.triu_indices(Z.shape[1], 1)
    squares, cross = Z**2, Z[:, one] * Z[:, two]
    mu22, r = (cross**2).mean(axis=0), cross.mean(axis=0)
    mu4, mixed = (Z**4).mean(axis=0), (cross * (squares[:, one] + squares[:, two])).mean(axis=0)
    correlation = mu22 + r**2 * (mu4[one] + mu4[two] + 2 * mu22) / 4 - r * mixed
    covariance, after = Z.T @ Z / n, np.cov(Zstar.T, bias=True).reshape(Z.shape[1], -1)
    spread = np.sqrt(np.diag(after))
    size = np.where(spread > 0, spread, 1.0)
    q, qstar = (np.quantile(A, QUANTILES, axis=0) for A in (Z, Zstar))
    density = np.column_stack([_density(z, at) for z, at in zip(Z.T, q.T, strict=True)])
    found = {
        "means": _loss(Zstar.mean(axis=0), 1 / n),
        "variances": _loss(np.diag(after) - 1, (mu4 - 1) / n),
        "covariances": _loss((after - covariance)[one, two], (mu22 - r**2) / n),
        "correlations": _loss((after / np.outer(size, size) - covariance)[one, two], correlation / n),
        "quantiles": _loss(qstar - q, (QUANTILES * (1 - QUANTILES))[:, None] / (n * density**2)),
    }
    return {name: float(each.mean()) for name, each in found.items() if each.size}


def _loss(d: Array, V: Array | float) -> Array:
    """2 Phi(|d| / sqrt V) - 1; a statistic without sampling error is kept, or lost."""
    V = np.broadcast_to(np.maximum(V, 0.0), d.shape)
    at = np.divide(np.abs(d), np.sqrt(2 * V), out=np.full(d.shape, np.inf), where=V > ROUNDING**2)
    return np.asarray(np.where(np.abs(d) <= ROUNDING, 0.0, erf(at)))


def _density(z: Array, at: Array) -> Array:
    """A Gaussian kernel estimate; where half of the values are alike, the bandwidth goes by the sd alone."""
    width = float(np.subtract(*np.quantile(z, [0.75, 0.25]))) / 1.34
    h = 0.9 * (min(z.std(), width) if width > 0 else z.std()) * len(z) ** -0.2
    return np.asarray(np.exp(-0.5 * ((at[:, None] - z) / h) ** 2).mean(axis=1) / (h * np.sqrt(2 * np.pi)))


def _by_family(pair: FilePair) -> Value:
    found = families(pair.Y, pair.Ystar)
    said = "two samples of one file would have about a half" if pair.sampled else ""
    return Value(float(np.mean(list(found.values()))), found, said=said)


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
    ),
)
