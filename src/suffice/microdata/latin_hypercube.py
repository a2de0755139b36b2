"""Records whose columns have the quantiles, and together the rank correlations, of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.latin_hypercube import rank_correlations, reordered, stratified
from suffice.design.design import Design
from suffice.method.parameter import Count, parameter
from suffice.method.synthetic import Synthetic, records_of
from suffice.rows.rows import Rows
from suffice.seed import Stream


@dataclass(frozen=True, repr=False)
class Quantiles:
    """Every column in order, with its weights, and the rank correlations."""

    columns: tuple[Array, ...]
    weights: tuple[Array | None, ...]
    correlations: Array


@dataclass(frozen=True)
class LatinHypercube(Synthetic):
    """Draw one value from each of m strata of every column, and order them to have the rank correlations.

    x_(i)* = Q((i - 1 + u) / m),   Q the quantile function, linear between values
    Z'Z = I,   S = Z W,   W'W = 2 sin(pi r / 6),   columns in the order of S;   r := r + (r_S - r_S*)

    **Promises** nothing exactly: quantiles within a stratum, Spearman's correlations within .001 where ties allow it;
    `Restore` behind it makes means and covariances exact. Nothing of a record stays but its values, each between two
    neighbours in its column: an end of a column leaves between the two largest.

    m: how many records; as many as there were unless told

    Dandekar, Cohen & Kirkendall (2002); Florian (1992).

    >>> rng = np.random.default_rng(1)
    >>> values, wanted = np.sort(rng.exponential(size=(500, 2)), axis=0), np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> made, error, rounds = reordered(values, wanted, rng)
    >>> error < 0.001, np.array_equal(np.sort(made, axis=0), values)
    (True, True)
    """

    learns: ClassVar = True
    references: ClassVar = ("Dandekar, Cohen & Kirkendall (2002)", "Florian (1992)")

    m: int | None = parameter(Count("as many as there were", low=1), "how many records to draw", None)

    @property
    def records(self) -> int | None:
        return self.m

    def learn(self, rows: Rows, design: Design) -> Quantiles:
        Y, w = records_of(rows, design)
        orders = [np.argsort(y, kind="stable") for y in Y.T]
        weights = tuple(None if w is None else w[order] for order in orders)
        return Quantiles(tuple(y[o] for y, o in zip(Y.T, orders, strict=True)), weights, rank_correlations(Y, w))

    def draw(self, mean: Array, R: Array, model: Quantiles, count: int, stream: Stream) -> Array:
        draws = stream.generator("strata")
        pairs = zip(model.columns, model.weights, strict=True)
        values = np.column_stack([stratified(y, w, count, draws) for y, w in pairs])
        return reordered(values, model.correlations, stream.generator("order of values"))[0]

    @classmethod
    def examples(cls) -> tuple[LatinHypercube, ...]:
        return cls(), cls(m=70)
