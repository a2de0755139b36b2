"""LatinHypercube: a value in each stratum, and rank correlations within .001."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import LatinHypercube, Roles, protect
from suffice.algorithms.latin_hypercube import ROUNDS, rank_correlations, reordered, shared_ranks, stratified
from tests.places import SHARED, needs_shared


def correlated(n: int = 300) -> np.ndarray:
    rng = np.random.default_rng(2)
    Y = np.exp(rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)))
    Y[:, 3] = np.maximum(Y[:, 3] - 1, 0).round(1)  # zeros, and ties
    return Y


def test_one_value_in_every_stratum_and_the_rank_correlations() -> None:
    Y = correlated()
    frame = pd.DataFrame(Y, columns=list("abcd"))
    release = protect(frame, Roles(confidential=list("abcd")), LatinHypercube()).frame.to_numpy()
    places = np.arange(len(Y)) / (len(Y) - 1) * len(Y)
    for y, x in zip(Y.T[:3], release.T[:3], strict=True):
        strata = np.interp(np.sort(x), np.sort(y), places)
        assert (np.abs(strata - np.arange(len(Y)) - 0.5) <= 0.5 + 1e-6).all()
    assert np.abs(rank_correlations(release) - rank_correlations(Y)).max() <= 0.005  # of ties
    assert not np.isin(release[:, :3], Y[:, :3]).any()


def test_without_corrections_ranks_are_farther_off() -> None:
    Y, draws = correlated(), np.random.default_rng(1)
    values = np.column_stack([stratified(np.sort(y), None, len(Y), draws) for y in Y.T])
    _, error, rounds = reordered(values, rank_correlations(Y), draws)
    assert error <= 0.005
    assert 1 < rounds <= ROUNDS


def test_weights_and_ties() -> None:
    assert shared_ranks(np.array([1.0, 2.0]), np.array([1.0, 3.0])).tolist() == [0.125, 0.625]
    drawn = stratified(np.array([0.0, 1.0, 1.0, 5.0]), np.array([9.0, 1.0, 1.0, 1.0]), 1000, np.random.default_rng(1))
    assert (drawn < 1).mean() > 0.6
    assert (stratified(np.ones(3), None, 5, np.random.default_rng(1)) == 1).all()


@needs_shared
@pytest.mark.parametrize("name", ["CASCrefmicrodata", "Tarragona"])
def test_public_files(name: str) -> None:
    Y = pd.read_csv(SHARED / "data" / f"{name}.csv").select_dtypes("number").to_numpy(dtype=float)
    draws = np.random.default_rng(7)
    values = np.column_stack([stratified(np.sort(y), None, len(Y), draws) for y in Y.T])
    made, error, rounds = reordered(values, rank_correlations(Y), draws)
    assert error <= 0.001
    assert rounds <= 10
    assert np.allclose(np.abs(rank_correlations(made) - rank_correlations(Y)).max(), error)
