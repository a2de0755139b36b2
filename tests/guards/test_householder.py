"""The rule on reflections through the whole way: what it looks at in a file, at its thresholds and beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Householder, Ipso, ResidualCorrelation, Restore, Roles, Romm, Seed, protect
from suffice.guards.finding import Finding
from suffice.method.method import Method
from suffice.risk.reflection import one_direction

N = 300


def people(**columns: object) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    y = rng.normal(size=(N, 2))
    return pd.DataFrame({"y0": 50 + y[:, 0], "y1": 20 + y.sum(axis=1), "region": "n"}).assign(**columns)


def finding(frame: pd.DataFrame, method: Method, confidential: tuple[str, ...] = ("y0", "y1")) -> Finding | None:
    release = protect(frame, Roles(confidential=list(confidential)), method, seed=Seed.for_tests(1))
    return next((each for each in release.findings if each.rule == "householder"), None)


def test_at_the_threshold_and_below_it() -> None:
    assert finding(people(), Householder(change=0.3)) is None
    below = finding(people(), Householder(change=0.3 - 1e-6))
    assert below is not None
    assert below.level == "stop"
    assert below.numbers["change"] == pytest.approx(0.3 - 1e-6, rel=1e-6)


def test_the_plain_reflection_is_stopped() -> None:
    assert finding(people(), Householder()) is not None


@pytest.mark.parametrize(
    ("column", "stopped"),
    [
        (np.random.default_rng(1).poisson(30, N), True),
        (np.random.default_rng(1).poisson(30, N).astype(float), True),  # whole numbers as floats
        (np.random.default_rng(1).poisson(30, N) + np.r_[0.5, np.zeros(N - 1)], False),  # all but one
    ],
)
def test_whole_numbers(column: object, stopped: bool) -> None:
    found = finding(people(y1=column), Householder(change=0.6))
    assert (found is not None) == stopped
    if found is not None:
        assert found.message.count("y1") == 1
        assert "y0" not in found.message


@pytest.mark.parametrize("method", [Ipso(), ResidualCorrelation(d=0.5), Romm(correlation=0.5)])
def test_other_methods_are_not_spoken_of(method: Method) -> None:
    counted = people(y1=np.random.default_rng(1).poisson(30, N))
    assert finding(counted, method) is None
    assert finding(counted, method, ("y1",)) is None  # one column: every exact release is a reflection


def test_restoring_does_not_hide_a_reflection() -> None:
    assert finding(people(), Householder().then(Restore())) is not None


def test_one_column() -> None:
    assert finding(people(), Householder(change=0.6), ("y0",)) is None
    assert finding(people(), Householder(), ("y0",)) is not None


def test_one_direction() -> None:
    rng = np.random.default_rng(3)
    E, u, v = rng.normal(size=(9, 3)) * [1, 1e6, 1e-6], rng.normal(size=(9, 1)), rng.normal(size=(9, 1))
    scale = np.linalg.norm(E, axis=0)
    assert one_direction(E, E + 0.1 * u * scale)
    assert not one_direction(E, E + 0.1 * u * scale + 1e-3 * v * scale * [1, 0, 0])
    assert not one_direction(E[:, :1], E[:, :1] + u)  # of one column every change is
    assert not one_direction(np.zeros((9, 2)), np.zeros((9, 2)))
