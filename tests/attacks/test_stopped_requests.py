"""Ordinary requests of public files: most end in a file, whatever the key, and each that is stopped is broken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from suffice import Seed, protect
from tests.guards.requests import BY_SECTOR, HOUSE, REQUESTS, Ordinary
from tests.places import needs_shared

pytestmark = [needs_shared, pytest.mark.slow]


def of(rule: str, file: str, **asked: object) -> Ordinary:
    """The request that a rule stops."""
    found = [each for each in REQUESTS if rule in each.stops and each.file == file]
    return next(each for each in found if asked.items() <= each.roles.items() and len(each.roles) - len(asked) <= 3)


def broken(request: Ordinary, attack: Callable[[pd.DataFrame, pd.DataFrame], None]) -> None:
    frame, roles = request.prepared()
    attack(frame, protect(frame, roles, request.method, Seed.for_tests(5)).aligned())


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: each.name)
def test_what_stops_a_request_does_not_depend_on_the_key(request_: Ordinary) -> None:
    frame, roles = request_.prepared()
    for key in (11, 12):
        findings = protect(frame, roles, request_.method, Seed.for_tests(key)).findings
        stops = {each.rule for each in findings if each.level in ("stop", "never")} - {"seed"}
        assert stops == {*request_.stops}


def test_four_of_five_end_in_a_file() -> None:
    assert len(REQUESTS) == 40
    assert sum(not each.stops for each in REQUESTS) >= 32


def test_equal_cells() -> None:
    """Whoever takes the given income for the confidential one has it exactly for one person in five."""

    def attack(frame: pd.DataFrame, released: pd.DataFrame) -> None:
        assert (released["AGI"] == frame["PTOTVAL"]).mean() > 0.2
        assert (released["AGI"] == frame["PTOTVAL"].sample(frac=1, random_state=1).to_numpy()).mean() < 0.01

    broken(of("equal-cells", "CASCrefmicrodata"), attack)


def test_nearness() -> None:
    """Four of five persons leave within 5 % of their own tax."""

    def attack(frame: pd.DataFrame, released: pd.DataFrame) -> None:
        y, guess = frame["FEDTAX"][frame["FEDTAX"] > 0], released["FEDTAX"][frame["FEDTAX"] > 0]
        assert ((guess - y).abs() <= 0.05 * y).mean() > 0.8
        assert ((guess.sample(frac=1, random_state=1).to_numpy() - y).abs() <= 0.05 * y).mean() < 0.15

    broken(of("nearness", "CASCrefmicrodata"), attack)


def test_explained_columns() -> None:
    def attack(frame: pd.DataFrame, released: pd.DataFrame) -> None:
        assert (released["PTOTVAL"] == frame["PTOTVAL"]).all()

    broken(of("explained-columns", "CASCrefmicrodata"), attack)


@pytest.mark.parametrize("merged", [False, True])
def test_dominance_of_states(merged: bool) -> None:
    """The second largest utility subtracts itself from its state's total, which is kept."""

    def attack(frame: pd.DataFrame, released: pd.DataFrame) -> None:
        told = 0
        for state in frame["STATE"].value_counts().loc[lambda size: size >= 5].index:
            here = frame["STATE"] == state
            for column in BY_SECTOR:
                total, own = released.loc[here, column].sum(), np.sort(frame.loc[here, column])
                told += own[-1] > 0 and total - own[-2] <= 1.1 * own[-1]
        assert told >= 5

    broken(of("dominance", "EIA", **({"merge_below": 5} if merged else {"given": "C(STATE)"})), attack)


def test_leverage_of_states() -> None:
    """Of two utilities in a state each has the other's revenue exactly."""

    def attack(frame: pd.DataFrame, released: pd.DataFrame) -> None:
        two = frame["STATE"].value_counts().loc[lambda size: size == 2].index[0]
        here = np.flatnonzero(frame["STATE"] == two)
        other = released.loc[here, "COMREVENUE"].sum() - frame.loc[here[0], "COMREVENUE"]
        assert np.isclose(other, frame.loc[here[1], "COMREVENUE"], rtol=1e-9)

    broken(of("leverage", "EIA"), attack)


def test_copies_of_households() -> None:
    """Who is alone in a category leaves as he is."""

    def attack(frame: pd.DataFrame, released: pd.DataFrame) -> None:
        alone = frame["relat"].map(frame["relat"].value_counts()) == 1
        assert alone.any()
        assert np.allclose(released.loc[alone, HOUSE], frame.loc[alone, HOUSE], rtol=1e-6)

    broken(of("copies", "testdata"), attack)


def test_dominance_of_eight_records() -> None:
    """mean + sd sqrt(n - 1) is the largest of eight to within a tenth."""

    def attack(frame: pd.DataFrame, released: pd.DataFrame) -> None:
        columns = [released[name] for name in ("Num1", "Num2", "Num3")]
        guesses = [y.mean() + y.std(ddof=0) * np.sqrt(len(y) - 1) for y in columns]
        largest = [frame[y.name].max() for y in columns]
        assert min(abs(a / b - 1) for a, b in zip(guesses, largest, strict=True)) < 0.1

    broken(of("dominance", "francdat"), attack)
