"""Regression of a scale: whole numbers of few values, in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import UsageError
from suffice.rows.rows import Product
from suffice.synthesis.model import ModelFit, Passes, Places, Sums, SynthesisModel
from suffice.synthesis.multinomial import PRIOR
from suffice.synthesis.predictors import Predictors
from suffice.synthesis.variable import Board, Variable

MOST = 64


@dataclass(frozen=True)
class Ordered(SynthesisModel):
    """Proportional odds: P(y <= v_k) = 1 / (1 + exp(x'b - t_k)), for numbers of up to 64 values."""

    numbers: ClassVar = True

    def passes(self, target: Variable, names: Sequence[str], board: Board) -> Passes:
        """The values that there are, then Fisher's steps."""
        predictors = Predictors.learn(names, board)
        found = yield lambda y, _: Counter(y.tolist())
        if len(found) > MOST:
            raise UsageError(
                f"ordered draws up to {MOST} values, and {target.name!r} has {len(found)}. Use cart for it."
            )
        values = np.array(sorted(found))
        shares = np.cumsum([found[each] for each in values.tolist()])[:-1] / found.total()
        return ScaleFit(
            predictors,
            values,
            *(yield from _fitted(
                lambda y, part: (predictors.matrix(part, len(y))[:, 1:], np.searchsorted(values, y)), shares
            )),
        )  # fmt: skip


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


def _fitted(
    of: Callable[[Array, Board], tuple[Array, Places]], shares: Array
) -> Generator[Sums, Any, tuple[Array, Array, Array]]:
    """Fisher scoring, with squared scores in place of the second derivatives; steps are halved where needed."""
    k = len(shares)
    n, inner = yield lambda y, part: Product(len(y), (X := of(y, part)[0]).T @ X)
    p = len(inner)
    prior = np.concatenate([np.zeros(k), np.full(p, PRIOR)])

    def at(theta: Array) -> Sums:
        def sums(y: Array, part: Board) -> Any:
            value, scores = _likelihood(theta, *of(y, part), k)
            return Product(value, scores.sum(axis=0), scores.T @ scores)

        return sums

    theta = np.concatenate([np.log(shares / (1 - shares)), np.zeros(p)])
    value, total, squares = yield at(theta)
    value -= (prior * theta**2).sum() / 2
    for _ in range(100):
        step = np.linalg.solve(squares + np.diag(prior + 1e-9), total - prior * theta)
        for _ in range(30):
            if (np.diff((theta + step)[:k]) > 0).all():
                new, *found = yield at(theta + step)
                new -= (prior * (theta + step) ** 2).sum() / 2
                if new >= value:
                    break
            step /= 2
        else:
            break
        theta, gain, value, (total, squares) = theta + step, new - value, new, found
        if gain < 1e-9 * n:
            break
    root = np.linalg.inv(np.linalg.cholesky(squares + np.diag(prior + 1e-9))).T
    return theta[:k], theta[k:], root


def _likelihood(theta: Array, X: Array, codes: Places, k: int) -> tuple[float, Array]:
    """The log-likelihood, and the derivative of every record's; thresholds are in order."""
    cuts, n = np.concatenate([[-np.inf], theta[:k], [np.inf]]), len(codes)
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
