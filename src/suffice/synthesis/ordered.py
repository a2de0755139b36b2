"""Regression of a scale: whole numbers of few values, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import UsageError
from suffice.synthesis.model import ModelFit, Places, SynthesisModel
from suffice.synthesis.multinomial import PRIOR
from suffice.synthesis.predictors import Predictors
from suffice.synthesis.variable import Board, Variable

MOST = 64


@dataclass(frozen=True)
class Ordered(SynthesisModel):
    """Proportional odds: P(y <= v_k) = 1 / (1 + exp(x'b - t_k)), for numbers of up to 64 values."""

    numbers: ClassVar = True

    def fit(self, target: Variable, y: Array, names: Sequence[str], board: Board, counted: Array | None) -> ScaleFit:
        values, codes = np.unique(y, return_inverse=True)
        if len(values) > MOST:
            raise UsageError(
                f"ordered draws up to {MOST} values, and {target.name!r} has {len(values)}. Use cart for it."
            )
        predictors = Predictors.learn(names, board)
        X = predictors.matrix(board, len(y))[:, 1:]
        return ScaleFit(predictors, values, *_fitted(X, codes.ravel(), len(values)))


@dataclass(frozen=True, repr=False)
class ScaleFit(ModelFit):
    """Thresholds and coefficients, and a root of their covariance matrix."""

    predictors: Predictors
    values: Array
    cuts: Array
    b: Array
    root: Array

    def proper(self, draws: np.random.Generator) -> Self:
        moved = self.root @ draws.standard_normal(self.root.shape[1])
        k = len(self.cuts)
        return replace(self, cuts=np.sort(self.cuts + moved[:k]), b=self.b + moved[k:])

    def draw(self, board: Board, n: int, draws: np.random.Generator, low: Array, high: Array) -> Array:
        eta = self.predictors.matrix(board, n)[:, 1:] @ self.b

        def drawn(rows: Places) -> Array:
            u = draws.random(len(rows))
            return self.values[np.searchsorted(self.cuts, eta[rows] + np.log(u / (1 - u)))]

        return self.inside(drawn, low, high)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"smooth": False}  # the values are those that there were


def _fitted(X: Array, codes: Places, classes: int) -> tuple[Array, Array, Array]:
    """Fisher scoring, with squared scores in place of the second derivatives; steps are halved where needed."""
    k, p = classes - 1, X.shape[1]
    shares = np.cumsum(np.bincount(codes, minlength=classes))[:-1] / len(codes)
    theta = np.concatenate([np.log(shares / (1 - shares)), np.zeros(p)])
    prior = np.concatenate([np.zeros(k), np.full(p, PRIOR)])
    value, scores = _likelihood(theta, X, codes, k)
    value -= (prior * theta**2).sum() / 2
    for _ in range(100):
        H = scores.T @ scores + np.diag(prior + 1e-9)
        step = np.linalg.solve(H, scores.sum(axis=0) - prior * theta)
        for _ in range(30):
            new, found = _likelihood(theta + step, X, codes, k)
            new -= (prior * (theta + step) ** 2).sum() / 2
            if new >= value:
                break
            step /= 2
        else:
            break
        theta, gain, value, scores = theta + step, new - value, new, found
        if gain < 1e-9 * len(codes):
            break
    root = np.linalg.inv(np.linalg.cholesky(scores.T @ scores + np.diag(prior + 1e-9))).T
    return theta[:k], theta[k:], root


def _likelihood(theta: Array, X: Array, codes: Places, k: int) -> tuple[float, Array]:
    """The log-likelihood, and the derivative of every record's; minus infinity where thresholds are not in order."""
    cuts, n = np.concatenate([[-np.inf], theta[:k], [np.inf]]), len(codes)
    if (np.diff(cuts) <= 0).any():
        return -np.inf, np.empty((0, 0))
    eta = X @ theta[k:]
    with np.errstate(over="ignore"):
        upper, lower = (1 / (1 + np.exp(eta - cuts[codes + up])) for up in (1, 0))
    chance = np.maximum(upper - lower, 1e-300)
    above, below = upper * (1 - upper) / chance, lower * (1 - lower) / chance
    scores, rows = np.zeros((n, k + X.shape[1])), np.arange(n)
    inner, first = codes < k, codes > 0
    scores[rows[inner], codes[inner]] = above[inner]
    scores[rows[first], codes[first] - 1] -= below[first]
    scores[:, k:] = -(above - below)[:, None] * X
    return float(np.log(chance).sum()), scores
