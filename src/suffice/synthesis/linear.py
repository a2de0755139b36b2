"""Normal regression on the columns before, of the values or of their normal scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from suffice.algebra.array import Array
from suffice.method.parameter import Choice, parameter
from suffice.rows.rows import Product
from suffice.synthesis.cart import NEIGHBOURS, smoothed
from suffice.synthesis.model import ModelFit, Passes, Places, SynthesisModel
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

    def passes(self, target: Variable, names: Sequence[str], board: Board) -> Passes:
        """X'X and X'z of all records, then the squares of what is left."""
        predictors, scale = Predictors.learn(names, board), _Scale.of(target, self.scale == "quantile")

        def products(y: Array, part: Board) -> Any:
            X = predictors.matrix(part, len(y))
            return Product(X.T @ X, X.T @ scale(y)[0], len(y))

        gram, right, n = yield products
        values, V = np.linalg.eigh(gram)
        real = values > 1e-10 * values.max(initial=1.0)
        root = V[:, real] / np.sqrt(values[real])  # (X'X)^+ = root root'
        b = root @ (root.T @ right)

        def rest(y: Array, part: Board) -> Any:
            z, within = scale(y)
            return float(((z - predictors.matrix(part, len(y)) @ b) ** 2 + within).sum())

        squares, free = (yield rest), max(n - int(real.sum()), 1)
        sigma = scale.sd * float(np.sqrt(squares / free))
        b = scale.sd * b
        b[0] += scale.mean  # X has a constant
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
    ends: Array | None = None

    def between(self, ends: Array) -> Self:
        return replace(self, ends=ends)

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
        return smoothed(self.target, self.target.values[self._places(z)], draws.random(len(z)), self.ends)

    def _places(self, z: Array) -> Places:
        """Which of the column's values stand at these scores."""
        from scipy.special import ndtr  # a tenth of a second, where it is wanted

        ends = np.cumsum(self.target.counts) / self.target.counts.sum()
        return np.asarray(np.searchsorted(ends, ndtr(z)).clip(max=len(ends) - 1))

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"smooth": not self.scores or len(self.target.values) >= NEIGHBOURS}


@dataclass(frozen=True, repr=False)
class _Scale:
    """Numbers in standard deviations; or the mean of the normal scores that records of one value share, and their
    variance, which a normal variable that is cut into such heaps has within them."""

    mean: float
    sd: float
    values: Array | None = None
    scores: Array | None = None
    within: Array | None = None

    @classmethod
    def of(cls, target: Variable, quantile: bool) -> _Scale:
        values, counts = target.values, target.counts
        n = max(counts.sum(), 1)
        if not quantile or not len(values):
            mean = float((values * counts).sum() / n)
            return cls(mean, float(np.sqrt(((values - mean) ** 2 * counts).sum() / n)) or 1.0)
        return cls(0.0, 1.0, values, *normal_scores(counts / n))

    def __call__(self, y: Array) -> tuple[Array, Array | float]:
        if self.values is None or self.scores is None or self.within is None:
            return (y - self.mean) / self.sd, 0.0
        place = np.searchsorted(self.values, y).clip(max=len(self.values) - 1)
        return self.scores[place], self.within[place]


def normal_scores(shares: Array) -> tuple[Array, Array]:
    """Mean and variance of a normal variable in consecutive parts of so large shares.

    >>> [each.round(3).tolist() for each in normal_scores(np.array([0.5, 0.5]))]
    [[-0.798, 0.798], [0.363, 0.363]]
    """
    from scipy.special import ndtri

    cuts = ndtri(np.cumsum(shares)[:-1].clip(max=1.0))
    dense = np.concatenate([[0.0], np.exp(-cuts * cuts / 2) / np.sqrt(2 * np.pi), [0.0]])
    with np.errstate(invalid="ignore"):
        moment = np.nan_to_num(np.concatenate([[0.0], cuts, [0.0]]) * dense)
    means = -np.diff(dense) / shares
    return means, np.maximum(1 - np.diff(moment) / shares - means**2, 0.0)
