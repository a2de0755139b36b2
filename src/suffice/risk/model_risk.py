"""Model-based risk of a file: sample uniques that are alone in the population too (Skinner & Holmes 1998)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.keys import Levels, joint, keyed, released_weight


@dataclass(frozen=True)
class ModelRisk:
    """Of the sample uniques: expected population uniques, and expected right matches; `uniques`: how many they are."""

    unique: float
    matches: float
    uniques: int


def model_risk(counts: Array, means: Array, inclusion: Array) -> ModelRisk:
    """Sums over cells with one record of P(F = 1 | f = 1) = exp(-v) and E(1 / F | f = 1) = (1 - exp(-v)) / v.

    v = (1 - pi) lambda, the Poisson mean of those who are not in the sample; lambda = mean / pi in the population.
    means: fitted means of the cells' *sample* counts
    inclusion: pi, the share of a cell's population that is in the sample

    >>> model_risk(np.array([1.0, 4.0]), np.array([1.0, 4.0]), np.array([0.5, 0.5]))
    ModelRisk(unique=0.36787944117144233, matches=0.6321205588285577, uniques=1)
    """
    one = counts == 1
    v = (1 - inclusion[one]) * means[one] / inclusion[one]
    right = np.divide(-np.expm1(-v), v, out=np.ones_like(v), where=v > 0)
    return ModelRisk(float(np.exp(-v).sum()), float(right.sum()), int(one.sum()))


def main_effects(columns: Sequence[Levels], weights: Array | None = None) -> ModelRisk:
    """Of the log-linear model of the keys' main effects, whose fit is n times the product of the margins' shares.

    Without weights the file is the population, and every unique is one.
    """
    n = len(columns[0])
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    cell = joint(columns, n)
    counts = np.bincount(cell).astype(np.float64)
    first = np.unique(cell, return_index=True)[1]
    means = np.full(len(first), float(n))
    for each in columns:
        level = joint([each], n)
        means *= np.bincount(level)[level[first]] / n
    return model_risk(counts, means, np.clip(counts / np.maximum(np.bincount(cell, w), counts), 0.0, 1.0))


def poisson_means(counts: Array, X: Array, offset: Array | float = 0.0) -> Array:
    """Fitted means of a Poisson regression of counts on the columns of X: Newton's steps, halved where they overshoot.

    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> poisson_means(np.array([1.0, 3.0, 5.0]), X).round(9).tolist()
    [2.0, 2.0, 5.0]
    """
    scale = np.abs(X).max(axis=0)
    Z = X / np.where(scale > 0, scale, 1.0)

    def likelihood(at: Array) -> float:
        return float((counts * at - np.exp(at)).sum())

    b = np.linalg.lstsq(Z, np.log(counts + 0.5) - offset, rcond=None)[0]
    eta = Z @ b + offset
    for _ in range(100):
        found, mean = likelihood(eta), np.exp(eta)
        root = np.sqrt(mean)
        step = np.linalg.lstsq(root[:, None] * Z, (counts - mean) / root, rcond=None)[0]
        while likelihood(Z @ (b + step) + offset) < found - 1e-9 * abs(found):
            step = step / 2
        b = b + step
        eta = Z @ b + offset
        if np.abs(step).max(initial=0.0) < 1e-12 * max(1.0, np.abs(b).max(initial=0.0)):
            break
    return np.asarray(np.exp(eta))


def _measured(pair: FilePair) -> Value:
    columns = [released for _, released in keyed(pair)]
    found, n = main_effects(columns, released_weight(pair)), len(columns[0])
    parts = {"population uniques": found.unique, "right matches": found.matches, "sample uniques": found.uniques}
    return Value(found.matches / n, parts)


MEASURES = (
    Measure(
        "model-risk",
        _measured,
        frozenset({"categories", "weights"}),
        SHARE,
        "higher is riskier",
        "expected right matches of released records that are alone with their known categories, by a Poisson model of "
        "the categories' main effects, over all records; with the numbers that it is made of",
        "Skinner & Holmes (1998)",
        whole=True,
    ),
)
