"""Normal regression on the columns before, of the values or of their normal scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from suffice.algebra.array import Array
from suffice.method.parameter import Choice, parameter
from suffice.synthesis.cart import NEIGHBOURS, smoothed
from suffice.synthesis.model import ModelFit, Places, SynthesisModel
from suffice.synthesis.predictors import Predictors
from suffice.synthesis.variable import Board, Variable


@dataclass(frozen=True)
class Linear(SynthesisModel):
    """Normal regression: y* = x'b + s z, on the numbers and the levels of the columns before.

    scale: values as they are, or "quantile": their normal scores, and back through the column's own distribution, so
        that heaps and spikes stay what they are and values of few records are drawn between their neighbours
    """

    numbers: ClassVar = True

    scale: Literal["values", "quantile"] = parameter(
        Choice(("values", "quantile")), "values as they are, or their normal scores", "values"
    )

    def fit(self, target: Variable, y: Array, names: Sequence[str], board: Board, counted: Array | None) -> LinearFit:
        z = normal_scores(y) if self.scale == "quantile" else y
        predictors = Predictors.learn(names, board)
        X = predictors.matrix(board, len(y))
        values, V = np.linalg.eigh(X.T @ X)
        real = values > 1e-10 * values.max(initial=1.0)
        root = V[:, real] / np.sqrt(values[real])  # (X'X)^+ = root root'
        b = root @ (root.T @ (X.T @ z))
        free = max(len(y) - int(real.sum()), 1)
        sigma = float(np.sqrt(((z - X @ b) ** 2).sum() / free))
        return LinearFit(target, self.scale == "quantile", predictors, b, root, sigma, free)


@dataclass(frozen=True, repr=False)
class LinearFit(ModelFit):
    """Coefficients, a root of (X'X)^+, the residuals' standard deviation and degrees of freedom."""

    target: Variable
    scores: bool
    predictors: Predictors
    b: Array
    root: Array
    sigma: float
    free: int

    def proper(self, draws: np.random.Generator) -> Self:
        sigma = self.sigma * np.sqrt(self.free / draws.chisquare(self.free))
        b = self.b + sigma * self.root @ draws.standard_normal(self.root.shape[1])
        return replace(self, b=b, sigma=float(sigma))

    def draw(self, board: Board, n: int, draws: np.random.Generator, low: Array, high: Array) -> Array:
        mean = self.predictors.matrix(board, n) @ self.b

        def drawn(rows: Places) -> Array:
            z = mean[rows] + self.sigma * draws.standard_normal(len(rows))
            return self._from_scores(z, draws) if self.scores else self.target.on_grid(z)

        return self.inside(drawn, low, high)

    def _from_scores(self, z: Array, draws: np.random.Generator) -> Array:
        from scipy.special import ndtr  # a tenth of a second, where it is wanted

        ends = np.cumsum(self.target.counts) / self.target.counts.sum()
        y = self.target.values[np.searchsorted(ends, ndtr(z)).clip(max=len(ends) - 1)]
        return smoothed(self.target, y, draws.random(len(z)))

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"smooth": not self.scores or len(self.target.values) >= NEIGHBOURS}


def normal_scores(y: Array) -> Array:
    """Normal scores of the ranks; equal values share theirs out by chance, always the same.

    >>> normal_scores(np.array([3.0, 1.0, 2.0])).round(2).tolist()
    [0.97, -0.97, 0.0]
    """
    from scipy.special import ndtri

    mixed = np.random.default_rng(1).permutation(len(y))
    order = mixed[np.argsort(y[mixed], kind="stable")]
    scores = np.empty(len(y))
    scores[order] = ndtri((np.arange(len(y)) + 0.5) / max(len(y), 1))
    return scores
