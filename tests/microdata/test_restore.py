"""Restore and ROMM: scores from other data."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.errors import InfeasibleError
from suffice.microdata import Ipso, Mixture, Restore, Romm
from tests.tolerances import CHANCE

rng = np.random.default_rng(2019)
X: Array = np.hstack([np.ones((30, 1)), rng.normal(size=(30, 2))])
Y: Array = rng.normal(size=(30, 3)) @ (np.eye(3) + 0.3)
Z: Array = rng.normal(size=(30, 3))


def test_a_good_candidate_is_corrected_a_little() -> None:
    candidate = np.round(Y, 1)
    released = Restore(candidate).solve(X, Y, Z)
    assert np.allclose(np.cov(released.T), np.cov(Y.T))
    assert np.abs(released - candidate).max() < 0.15
    assert Restore(candidate).mask(X, Y, Z).remarks == ()


def test_a_candidate_that_lacks_rank_is_filled_and_counted() -> None:
    candidate = np.column_stack([Y[:, 0], Y[:, 0], np.full(30, 5.0)])
    method = Restore(candidate)
    released = method.solve(X, Y, Z)
    assert np.allclose(released.T @ released, Y.T @ Y)
    assert np.allclose(released[:, 0], Y[:, 0])  # its own score is there
    assert method.mask(X, Y, Z).remarks == ("2 of 3 residual scores are new: the candidate lacks them.",)
    with pytest.raises(InfeasibleError, match="needs 3 residual scores and the candidate has 1"):
        Restore(candidate, fill=False).solve(X, Y, Z)


def test_a_candidate_with_nothing_is_ipso() -> None:
    assert np.allclose(Restore(np.ones((30, 3))).solve(X, Y, Z), Ipso().solve(X, Y, Z))


def test_the_missing_score_is_new_at_its_own_place() -> None:
    candidate = Y.copy()
    candidate[:, 1] = candidate[:, 0]
    released = Restore(candidate).solve(X, Y, Z)
    assert np.allclose(released[:, 0], Y[:, 0])
    assert not np.allclose(released[:, 1], Y[:, 1])


def test_mixtures_are_scaled_to_the_residuals() -> None:
    random = Mixture(0.0).solve(X, Y, Z)
    sd = np.linalg.norm(split(Y, X)[1], axis=0) / np.sqrt(27)
    assert np.allclose(random, Z * sd)
    assert np.allclose(Mixture((1.0, 0.5, 0.0)).solve(X, Y, Z)[:, 0], Y[:, 0])


def test_romm_aims_at_the_correlation() -> None:
    x, y = np.ones((400, 1)), rng.normal(size=(400, 1))
    _, e = split(y, x)

    def z(method: Romm) -> float:
        reached = [
            (e.T @ method.solve(x, y, h)).item() / (e.T @ e).item()
            for h in np.random.default_rng(1).normal(size=(300, 400, 1))
        ]
        return float((np.mean(reached) - 0.7) / (np.std(reached) / np.sqrt(300)))

    assert abs(z(Romm(correlation=0.7))) < CHANCE
    assert abs(z(Romm(lam=1.05 * Romm(correlation=0.7).rate(x)))) > CHANCE  # the test sees a wrong lam


def test_romm_counts_the_records_not_the_rows_of_the_factor() -> None:
    assert Romm(correlation=0.6).rate(X, 10_003) == pytest.approx(np.sqrt((1 / 0.36 - 1) / 10_000))
    assert Romm(lam=0.3).rate(X, 10_003) == 0.3


def test_romm_prints_the_correlation_reached_for_every_variable() -> None:
    method = Romm(lam=0.05)
    (said,) = method.mask(X, Y, Z).remarks
    E, Estar = split(Y, X)[1], split(method.solve(X, Y, Z), X)[1]
    assert said.startswith("lam = 0.05; ")
    assert [float(c) for c in said.split(": ")[1].split(", ")] == [
        pytest.approx(np.corrcoef(E[:, j], Estar[:, j])[0, 1], abs=5.1e-4) for j in range(3)
    ]
    assert method.mask(X, np.ones((30, 1)), Z).remarks == ()
