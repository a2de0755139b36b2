"""Columns before and after: counts in bins, figures, correlations; by folds over rows of any number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.rows.rows import Block, Product, Rows

Counts = NDArray[np.int64]
BINS = 40
SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""Quantiles that are shown."""
MOST = 2**20
"""Records of which quantiles are taken; of more, every second, third and so on."""
LONG = 4.0
"""A column reaches that many times farther than from its first to its last decile: its axis is bent."""


@dataclass(frozen=True, repr=False)
class Figures:
    """Of every column: figures of the cells that are not missing."""

    mean: Array
    """Weighted, as the standard deviation is, where there is a weight."""
    sd: Array
    plain_mean: Array
    low: Array
    high: Array
    quantiles: Array
    negative: Counts
    missing: Counts


@dataclass(frozen=True, repr=False)
class Histograms:
    """Original and released columns: records per bin on one scale, figures, and correlations."""

    names: tuple[str, ...]
    edges: Array
    bends: tuple[float | None, ...]
    """Up to where an axis is nearly straight; beyond it goes with the logarithm (asinh). None: straight throughout."""
    counts: tuple[Counts, Counts]
    figures: tuple[Figures, Figures]
    correlations: tuple[Array, Array]

    @classmethod
    def of(cls, original: Rows, released: Rows, names: Sequence[str], weight: str | None = None) -> Histograms:
        """Two passes over each: where the columns begin and end, then the counts. New records have no weight."""
        pair = original, released
        ends = [_Ends.of(rows, names) for rows in pair]
        bends = tuple(map(_bend, ends[0].some.T))
        low, high = np.minimum(ends[0].low, ends[1].low), np.maximum(ends[0].high, ends[1].high)
        edges = np.array([_edges(*each) for each in zip(low, high, bends, strict=True)])
        centre = ends[0].quantiles[:, SHARES.index(0.5)]

        def tally(block: Block) -> Product:
            Y = _matrix(block, names)
            w = _matrix(block, [weight])[:, 0] if weight and weight in block.columns else np.ones(len(Y))
            there = ~np.isnan(Y)
            A, W = np.where(there, Y - centre, 0.0), there * w[:, None]
            counts = [np.histogram(y[is_there], at)[0] for y, is_there, at in zip(Y.T, there.T, edges, strict=True)]
            return Product(np.array(counts), A.sum(axis=0), (A * W).T @ A, A.T @ W, W.T @ there)

        columns = [[*names, *([weight] if weight and weight in rows.kinds else [])] for rows in pair]
        found = [rows.fold(tally, own, "report") for rows, own in zip(pair, columns, strict=True)]
        covariances = [_covariance(*each[2:]) for each in found]
        figures = [_figures(each, seen, S, centre) for each, seen, S in zip(ends, found, covariances, strict=True)]
        correlations = [_correlation(S) for S in covariances]
        counted = [each[0] for each in found]
        return cls(
            tuple(names),
            edges,
            bends,
            (counted[0], counted[1]),
            (figures[0], figures[1]),
            (correlations[0], correlations[1]),
        )


@dataclass(frozen=True, repr=False)
class _Ends:
    """Where columns begin and end, how many cells are negative or missing, and values of some records."""

    low: Array
    high: Array
    negative: Counts
    missing: Counts
    some: Array

    @classmethod
    def of(cls, rows: Rows, names: Sequence[str]) -> _Ends:
        step = -(-rows.n // MOST)

        def look(block: Block) -> Product:
            Y = _matrix(block, names)
            hole = np.isnan(Y)
            ends = (np.where(hole, np.inf, Y).min(axis=0),), (np.where(hole, -np.inf, Y).max(axis=0),)
            return Product(*ends, (Y < 0).sum(axis=0), hole.sum(axis=0), (Y[-block.start % step :: step],))

        low, high, negative, missing, some = rows.fold(look, names, "report")
        return cls(np.min(low, axis=0), np.max(high, axis=0), negative, missing, np.concatenate(some))

    @property
    def quantiles(self) -> Array:
        return np.array([_quantiles(y) for y in self.some.T])


def _matrix(block: Block, names: Sequence[str]) -> Array:
    return np.column_stack([np.asarray(block.columns[name], dtype=np.float64) for name in names])


def _quantiles(y: Array, shares: Sequence[float] = SHARES) -> Array:
    """Of the cells that are not missing; zeros where all are."""
    there = y[~np.isnan(y)]
    return np.quantile(there, shares) if len(there) else np.zeros(len(shares))


def _bend(y: Array) -> float | None:
    low, decile, last, high = _quantiles(y, (0, 0.1, 0.9, 1))
    if high - low <= LONG * (last - decile):
        return None
    return float(_quantiles(np.abs(y[y != 0]), (0.25,))[0]) or None


def _edges(low: float, high: float, bend: float | None) -> Array:
    """Bins of one width on the axis, straight or bent; a constant column has a width too."""
    low, high = (low, high) if low <= high else (0.0, 0.0)
    high = high if high > low else low + max(1.0, abs(low))
    if bend is None:
        return np.linspace(low, high, BINS + 1)
    edges = bend * np.sinh(np.linspace(np.arcsinh(low / bend), np.arcsinh(high / bend), BINS + 1))
    edges[0], edges[-1] = low, high
    return np.asarray(edges)


def _covariance(products: Array, sums: Array, weights: Array) -> Array:
    """Of every two columns, over the records that have both.

    sums: of column i, over the records that have column j
    """
    weights = np.maximum(weights, np.finfo(np.float64).tiny)
    return np.asarray(products / weights - sums * sums.T / weights**2)


def _figures(ends: _Ends, seen: Product, covariance: Array, centre: Array) -> Figures:
    _, plain, _, sums, weights = seen
    cells = np.maximum(seen[0].sum(axis=1), 1)
    mean = centre + np.diagonal(sums) / np.maximum(np.diagonal(weights), np.finfo(np.float64).tiny)
    sd = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    return Figures(mean, sd, centre + plain / cells, ends.low, ends.high, ends.quantiles, ends.negative, ends.missing)


def _correlation(covariance: Array) -> Array:
    """A constant column correlates with nothing."""
    sd = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    sd = np.where(sd > 0, sd, np.inf)
    return np.asarray(covariance / np.outer(sd, sd))
