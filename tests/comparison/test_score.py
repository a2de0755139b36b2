"""Calvino's score on Tarragona: the printed figures of methods that can be made here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from suffice.algebra.array import Array
from suffice.comparison.score import Score
from suffice.utility.shape_bias import shape_bias
from tests.places import SHARED, needs_shared


def components(Y: Array, rng: np.random.Generator, count: int) -> Array:
    """Calvino's own method: the first so many principal components of standardised columns in any order."""
    Z = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    T = U * s
    T[:, :count] = np.column_stack([rng.permutation(t) for t in T[:, :count].T])
    return T @ Vt * Y.std(axis=0) + Y.mean(axis=0)


def swapped(Y: Array, rng: np.random.Generator, count: int) -> Array:
    """Rank swapping with p = 1: every column in an order of its own."""
    return np.column_stack([rng.permutation(y) for y in Y.T])


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "count", "parts", "scores", "shape"),
    [
        (components, 3, (0.0104, 0.2200, 0.2487, 0.0974, 0.4269), (0.1958, 0.2482), (0.4869, 0.5421)),
        (components, 13, (0.0280, 0.3612, 0.2501, 0.0012, 0.3973), (0.1691, 0.2525), (0.5268, 0.5751)),
        (swapped, 1, (0.8572, 0.867, 0.3930, 0.0015, 0.2362), (0.3720, 0.376), (0, 0)),  # PS3: a fit that converged
    ],
)
def test_printed_scores(
    method: Callable[..., Array],
    count: int,
    parts: tuple[float, ...],
    scores: tuple[float, ...],
    shape: tuple[float, ...],
):
    """Table 4: PS2, PS3, PIL, DBRL, ID, the two scores, skewness and kurtosis bias (832 of the 834 records there)."""
    assert SHARED is not None
    Y, rng = pd.read_csv(SHARED / "data" / "Tarragona.csv").to_numpy(dtype=float), np.random.default_rng(1)
    files = [method(Y, rng, count) for _ in range(2)]
    found = [Score.of(Y, each) for each in files]
    means = np.mean([(each.PS2, each.PS3, each.loss, each.linkage, each.intervals) for each in found], axis=0)
    assert means == pytest.approx(parts, abs=0.03)
    assert np.mean([each.second for each in found]) == pytest.approx(scores[0], abs=0.006)
    assert np.mean([each.third for each in found]) == pytest.approx(scores[1], abs=0.01)
    assert np.mean([shape_bias(Y, each) for each in files], axis=0) == pytest.approx(shape, abs=0.05)


def test_a_copy_is_all_risk_and_no_loss():
    Y = np.exp(np.random.default_rng(1).normal(size=(60, 2)))
    score = Score.of(Y, Y)
    assert (score.linkage, score.intervals, score.loss) == (1, 1, 0)
    assert score.second == pytest.approx(0.5)
    assert score.third == pytest.approx(0.5)
