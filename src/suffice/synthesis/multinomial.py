"""Regression of classes: all levels of a category at once, not one after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from suffice.algebra.array import Array
from suffice.rows.rows import Product
from suffice.synthesis.model import ModelFit, Passes, Places, Sums, SynthesisModel
from suffice.synthesis.predictors import Predictors
from suffice.synthesis.variable import Board, Variable

PRIOR = 0.1
"""Precision of a normal prior for every coefficient but the constants: what separates classes stays finite."""
CLASSES = 64
"""Levels that a regression tells apart: the most frequent ones; the others are one class."""
LARGEST, STEPS, CLOSE = 1500, 200, 1e-8
"""Coefficients up to which the matrix of second derivatives is used, else a bound of it; steps; the last step."""


@dataclass(frozen=True)
class Multinomial(SynthesisModel):
    """Multinomial regression of all levels: p_k proportional to exp(x'b_k); a missing cell is a level of its own."""

    categories: ClassVar = True

    def check_levels(self, target: Variable, found: int) -> None:
        """Refuses so many levels, missing cells counted."""

    def passes(self, target: Variable, names: Sequence[str], board: Board) -> Passes:
        """The levels that there are, then Newton's steps."""
        predictors = Predictors.learn(names, board)
        counts = yield lambda y, _: np.bincount(y.astype(np.int64), minlength=target.levels + 1)
        self.check_levels(target, len(levels := np.flatnonzero(counts)))
        order = np.argsort(-counts[levels], kind="stable")
        shown = np.sort(levels[order[:CLASSES]])
        rare = np.sort(levels[order[CLASSES:]])
        if len(rare) == 1:
            shown, rare = np.sort(np.append(shown, rare)), rare[:0]
        classes = len(shown) + bool(len(rare))
        place = np.full(len(counts), classes - 1)
        place[shown] = np.arange(len(shown))
        B, root = yield from _coefficients(
            lambda y, part: (predictors.matrix(part, len(y)), place[y.astype(np.int64)]), classes
        )
        ends = np.cumsum(counts[rare]) / max(counts[rare].sum(), 1)
        return ClassFit(predictors, shown.astype(np.float64), rare.astype(np.float64), ends, B, root)


@dataclass(frozen=True, repr=False)
class ClassFit(ModelFit):
    """A column of coefficients for every class but the first, and a root of their covariance matrix.

    rare: levels of which no more is known than the shares that they have of the last class
    """

    predictors: Predictors
    levels: Array
    rare: Array
    shares: Array
    B: Array
    root: Array

    def proper(self, draws: np.random.Generator) -> Self:
        z = draws.standard_normal(self.B.size)
        if len(self.root) == len(self.B):  # the same for every class
            return replace(self, B=self.B + self.root @ z.reshape(self.B.shape, order="F"))
        return replace(self, B=self.B + (self.root @ z).reshape(self.B.shape, order="F"))

    def draw(self, board: Board, n: int, draws: np.random.Generator, low: Array, high: Array) -> Array:
        ends = np.cumsum(_shares(self.predictors.matrix(board, n) @ self.B), axis=1)

        def drawn(rows: Places) -> Array:
            place = (draws.random(len(rows))[:, None] > ends[rows]).sum(axis=1).clip(max=ends.shape[1] - 1)
            y = self.levels[place.clip(max=len(self.levels) - 1)]
            if len(self.rare):
                other = np.searchsorted(self.shares, draws.random(len(rows))).clip(max=len(self.rare) - 1)
                y = np.where(place == len(self.levels), self.rare[other], y)
            return np.asarray(y)

        return self.inside(drawn, low, high)


def _shares(eta: Array) -> Array:
    """The probabilities of all classes, the first of which has eta = 0."""
    eta = np.column_stack([np.zeros(len(eta)), eta])
    odds = np.exp(eta - eta.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _coefficients(
    of: Callable[[Array, Board], tuple[Array, Places]], classes: int
) -> Generator[Sums, Any, tuple[Array, Array]]:
    """The largest posterior density, and a root of the inverse second derivatives there; of: X and the classes."""
    gram = yield lambda y, part: (X := of(y, part)[0]).T @ X
    p, k = len(gram), classes - 1
    if not k:
        return np.zeros((p, 0)), np.zeros((0, 0))
    prior = np.full(p, PRIOR)
    prior[0] = 1e-6
    B, small = np.zeros((p, k)), p * k <= LARGEST
    # Boehning (1992): the second derivatives are never beyond half of (I - 11'/classes) x X'X
    bound = np.linalg.inv(gram / 2 + np.diag(prior))

    def derivatives(y: Array, part: Board) -> Any:
        X, codes = of(y, part)
        P = _shares(X @ B)[:, 1:]
        return Product(X.T @ ((codes[:, None] == np.arange(1, classes)) - P), _curvature(X, P) if small else 0.0)

    for _ in range(STEPS):
        gradient, H = yield derivatives
        gradient = gradient - prior[:, None] * B
        if small:
            H = H + np.kron(np.eye(k), np.diag(prior))
            step = np.linalg.solve(H, gradient.ravel(order="F")).reshape(B.shape, order="F")
            step *= min(1.0, 5.0 / max(np.abs(step).max(), 1e-300))  # no leap where classes are nearly apart
        else:
            step = bound @ (gradient + gradient.sum(axis=1, keepdims=True))
        B = B + step
        if np.abs(step).max() < CLOSE:
            break
    if not small:
        return B, np.linalg.cholesky(bound)
    H = (yield derivatives)[1] + np.kron(np.eye(k), np.diag(prior))
    return B, np.linalg.inv(np.linalg.cholesky(H)).T


def _curvature(X: Array, P: Array) -> Array:
    p, k = X.shape[1], P.shape[1]
    H = np.empty((p * k, p * k))
    for i in range(k):
        for j in range(i + 1):
            w = P[:, i] * ((i == j) - P[:, j])
            block = X.T @ (w[:, None] * X)
            H[i * p : (i + 1) * p, j * p : (j + 1) * p] = block
            H[j * p : (j + 1) * p, i * p : (i + 1) * p] = block.T
    return H
