"""Noise: what each kind has on average, what it refuses, and that it is exact after Restore."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import MicroaggregateDraws, MicroaggregateNoise, Noise, Restore, Roles, Rotate, Seed, protect
from suffice.errors import InfeasibleError
from tests.tolerances import CHANCE

COLUMNS, N = ["a", "b", "c"], 8_000


def people(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    Y = np.exp(rng.normal(size=(n, 3)) @ np.array([[0.4, 0.2, 0.0], [0.0, 0.3, 0.1], [0.0, 0.0, 0.5]]) + 3)
    return pd.DataFrame(Y, columns=COLUMNS).assign(g=rng.choice(["x", "y"], n), w=rng.gamma(2.0, size=n))


def made(method: Any, frame: pd.DataFrame, key: int = 1, **roles: Any) -> Any:
    return protect(frame, Roles(**{"confidential": COLUMNS, **roles}), method, seed=Seed.for_tests(key))


def close(one: Any, two: Any, error: Any) -> bool:
    return bool((np.abs(np.asarray(one) - np.asarray(two)) <= CHANCE * error).all())


@pytest.mark.parametrize("how", ["independent", "correlated", "kim"])
def test_moments_within_sampling_error(how: Any) -> None:
    frame, delta = people(), 0.5
    Y, Ystar = (each[COLUMNS].to_numpy() for each in (frame, made(Noise(how, delta), frame).aligned()))
    S, sd = np.cov(Y.T), Y.std(axis=0)
    expected = {"independent": S + delta * np.diag(sd**2), "correlated": (1 + delta) * S, "kim": S}[how]
    assert close(Ystar.mean(axis=0), Y.mean(axis=0), sd / np.sqrt(N))
    assert close(np.cov(Ystar.T), expected, 3 * np.outer(sd, sd) / np.sqrt(N))
    own = [np.corrcoef(Y[:, j], Ystar[:, j])[0, 1] for j in range(3)]
    assert close(own, 1 / np.sqrt(1 + delta), 1 / np.sqrt(N))


def test_multiplied_columns_stay_positive_with_their_means() -> None:
    frame, delta = people(), 0.5
    Y, Ystar = (each[COLUMNS].to_numpy() for each in (frame, made(Noise("multiplicative", delta), frame).aligned()))
    assert (Ystar > 0).all()
    assert close(Ystar.mean(axis=0), Y.mean(axis=0), 2 * Y.std(axis=0) / np.sqrt(N))
    ratio = np.log(Ystar / Y)
    assert close(np.cov(ratio.T), delta * np.cov(np.log(Y).T), 0.5 / np.sqrt(N))
    with pytest.raises(InfeasibleError, match="positive columns: zeros or negative values in 'b'"):
        made(Noise("multiplicative"), frame.assign(b=frame["b"] - 30))


@pytest.mark.parametrize("method", [Noise(), Noise("multiplicative"), MicroaggregateDraws(k=5)], ids=str)
def test_exact_after_restore_also_in_groups_with_weights_and_holes(method: Any) -> None:
    frame = people(900)
    frame.loc[:299, "b"] = np.nan
    release = made(method.then(Restore()), frame, groups=["g"], weight="w", missing="patterns")
    assert release.certificate.holds
    assert {claim.statistic for claim in release.certificate.claims} >= {"mean", "covariance"}
    assert release.aligned()["b"].isna().equals(frame["b"].isna())
    whole = people(400)
    turned = made(method.then(Restore(), Rotate(sweeps=20)), whole, bounds="observed-sign")
    assert turned.certificate.holds
    assert turned.frame[COLUMNS].to_numpy().min() >= 0


def test_drawn_noise_is_right_on_average_and_exact_noise_always() -> None:
    frame = people(2000)
    Y = frame[COLUMNS].to_numpy()
    S, sd = np.cov(Y.T), Y.std(axis=0)
    drawn = [made(MicroaggregateDraws(k=20), frame, key).aligned()[COLUMNS].to_numpy() for key in (1, 2, 3, 4)]
    off = [np.abs(np.cov(each.T) - S) / np.outer(sd, sd) for each in drawn]
    assert min(each.max() for each in off) > 1e-4
    assert np.abs(np.mean([np.cov(each.T) - S for each in drawn], axis=0) / np.outer(sd, sd)).max() < 0.05
    exact = made(MicroaggregateNoise(k=20), frame).aligned()[COLUMNS].to_numpy()
    assert np.allclose(np.cov(exact.T), S, rtol=1e-11)


def test_little_noise_is_stopped() -> None:
    release = made(Noise(delta=0.05), people(2000))
    assert {f.rule for f in release.findings if f.blocks} >= {"residual-correlation"}
    assert not any(f.blocks for f in made(Noise(), people(2000)).findings if f.rule != "seed")
