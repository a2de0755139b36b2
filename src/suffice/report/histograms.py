"""Binned counts and correlations of columns, by folds over rows of any number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.moments import Moments, Spread
from suffice.rows.rows import Block, Product, Rows

Counts = NDArray[np.int64]
BINS = 40


@dataclass(frozen=True)
class Histograms:
    """Original and released columns: records per bin on one scale, and correlations."""

    names: tuple[str, ...]
    edges: Array
    counts: tuple[Counts, Counts]
    correlations: tuple[Array, Array]

    @classmethod
    def of(cls, original: Rows, released: Rows, names: Sequence[str], weight: str | None = None) -> Histograms:
        """Two passes over each: where the columns begin and end, then the counts. New records have no weight."""
        pair = original, released
        spreads = [rows.fold(lambda b: Spread.of(_matrix(b, names)), names, "report") for rows in pair]
        edges, mean = _edges(spreads[0] + spreads[1]), spreads[0].mean

        def tally(block: Block) -> Product:
            Y, w = _matrix(block, names), _matrix(block, [weight])[:, 0] if weight and weight in block.columns else None
            return Product(_counts(Y, edges), Moments.of(Y - mean, w))

        columns = [[*names, *([weight] if weight and weight in rows.kinds else [])] for rows in pair]
        one, two = (rows.fold(tally, own, "report") for rows, own in zip(pair, columns, strict=True))
        return cls(tuple(names), edges, (one[0], two[0]), (_correlation(one[1]), _correlation(two[1])))


def _matrix(block: Block, names: Sequence[str]) -> Array:
    return np.column_stack([np.asarray(block.columns[name], dtype=np.float64) for name in names])


def _edges(spread: Spread) -> Array:
    """Bins of one width per column; a constant column has a width too."""
    high = np.where(spread.high > spread.low, spread.high, spread.low + 1)
    return np.linspace(spread.low, high, BINS + 1, axis=1)


def _counts(Y: Array, edges: Array) -> Counts:
    return np.array([np.histogram(y, at)[0] for y, at in zip(Y.T, edges, strict=True)])


def _correlation(moments: Moments) -> Array:
    """A constant column correlates with nothing."""
    sd = np.sqrt(np.diagonal(moments.covariance))
    sd = np.where(sd > 0, sd, np.inf)
    return np.asarray(moments.covariance / np.outer(sd, sd))
