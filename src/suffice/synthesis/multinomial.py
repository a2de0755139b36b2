"""Regression of classes: all levels of a category at once, not one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from suffice.algebra.array import Array
from suffice.synthesis.model import ModelFit, Places, SynthesisModel
from suffice.synthesis.predictors import Predictors
from suffice.synthesis.variable import Board, Variable

PRIOR = 0.1
"""Precision of a normal prior for every coefficient but the constants: what separates classes stays finite."""
LARGEST, STEPS, CLOSE = 1500, 200, 1e-8
"""Coefficients up to which the matrix of second derivatives is used, else a bound of it; steps; the last step."""


@dataclass(frozen=True)
class Multinomial(SynthesisModel):
    """Multinomial regression of all levels: p_k proportional to exp(x'b_k); a missing cell is a level of its own."""

    categories: ClassVar = True

    def fit(self, target: Variable, y: Array, names: Sequence[str], board: Board, counted: Array | None) -> ClassFit:
        predictors = Predictors.learn(names, board)
        levels, codes = np.unique(y, return_inverse=True)
        X = predictors.matrix(board, len(y))
        return ClassFit(predictors, levels, *_coefficients(X, codes.ravel(), len(levels)))


@dataclass(frozen=True, repr=False)
class ClassFit(ModelFit):
    """A column of coefficients for every level but the first, and a root of their covariance matrix."""

    predictors: Predictors
    levels: Array
    B: Array
    root: Array

    def proper(self, draws: np.random.Generator) -> Self:
        moved = (self.root @ draws.standard_normal(self.root.shape[1])).reshape(self.B.shape, order="F")
        return replace(self, B=self.B + moved)

    def draw(self, board: Board, n: int, draws: np.random.Generator, low: Array, high: Array) -> Array:
        ends = np.cumsum(_shares(self.predictors.matrix(board, n) @ self.B), axis=1)

        def drawn(rows: Places) -> Array:
            place = (draws.random(len(rows))[:, None] > ends[rows]).sum(axis=1)
            return np.asarray(self.levels[place.clip(max=len(self.levels) - 1)])

        return self.inside(drawn, low, high)


def _shares(eta: Array) -> Array:
    """The probabilities of all classes, the first of which has eta = 0."""
    eta = np.column_stack([np.zeros(len(eta)), eta])
    odds = np.exp(eta - eta.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _coefficients(X: Array, codes: Places, classes: int) -> tuple[Array, Array]:
    """The largest posterior density, and a root of the inverse second derivatives there."""
    p, k = X.shape[1], classes - 1
    if not k:
        return np.zeros((p, 0)), np.zeros((0, 0))
    Y, prior = (codes[:, None] == np.arange(1, classes)) * 1.0, np.full(p, PRIOR)
    prior[0] = 1e-6
    B, small = np.zeros((p, k)), p * k <= LARGEST
    # Boehning (1992): the second derivatives are never beyond half of (I - 11'/classes) x X'X
    bound = None if small else np.linalg.inv(X.T @ X / 2 + np.diag(prior))
    for _ in range(STEPS):
        P = _shares(X @ B)[:, 1:]
        gradient = X.T @ (Y - P) - prior[:, None] * B
        if bound is None:
            step = np.linalg.solve(_curvature(X, P, prior), gradient.ravel(order="F")).reshape(B.shape, order="F")
            step *= min(1.0, 5.0 / max(np.abs(step).max(), 1e-300))  # no leap where classes are nearly apart
        else:
            step = bound @ (gradient + gradient.sum(axis=1, keepdims=True))
        B = B + step
        if np.abs(step).max() < CLOSE:
            break
    if bound is not None:
        return B, np.asarray(np.kron(np.eye(k), np.linalg.cholesky(bound)), dtype=np.float64)
    H = _curvature(X, _shares(X @ B)[:, 1:], prior)
    return B, np.linalg.inv(np.linalg.cholesky(H)).T


def _curvature(X: Array, P: Array, prior: Array) -> Array:
    p, k = X.shape[1], P.shape[1]
    H = np.empty((p * k, p * k))
    for i in range(k):
        for j in range(i + 1):
            w = P[:, i] * ((i == j) - P[:, j])
            block = X.T @ (w[:, None] * X) + (np.diag(prior) if i == j else 0.0)
            H[i * p : (i + 1) * p, j * p : (j + 1) * p] = block
            H[j * p : (j + 1) * p, i * p : (i + 1) * p] = block.T
    return H
