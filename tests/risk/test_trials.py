"""One verdict for a request: where another key might be judged otherwise, trial releases decide for all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, ResidualCorrelation, Roles, Romm, Rotate, Seed, protect
from suffice.errors import GuardError
from suffice.method.method import Method
from suffice.risk import assessment
from suffice.risk.resemblance import Resemblance
from suffice.risk.signs import SignCounts
from suffice.risk.trials import TrialSight, settled


def near(canonical: float, *correlations: float) -> TrialSight:
    return TrialSight(resemblance=Resemblance(canonical, 0.2, correlations))


@pytest.mark.parametrize(
    ("own", "trials", "n", "copies", "unmoved", "canonical"),
    [
        (TrialSight(unmoved=1), [TrialSight(), TrialSight()], 500, 0, 1, 0.0),
        (TrialSight(copies=2), [TrialSight(copies=4), TrialSight(copies=3)], 500, 2, 0, 0.0),
        (replace(near(0.94), copies=1), [near(0.8), near(0.9)], 500, 1, 0, 0.85),
        (near(0.94), [near(0.8), near(0.9)], 500, 0, 0, 0.85),
        (near(0.94), [near(0.8), near(0.9)], 1_000_000, 0, 0, 0.94),
        (near(0.99), [near(0.8), near(0.9)], 500, 0, 0, 0.99),
        (near(0.1, -0.91), [near(0.3, 0.89), near(0.2, -0.87)], 500, 0, 0, 0.25),
    ],
)
def test_what_is_doubtful_is_tried(
    own: TrialSight, trials: list[TrialSight], n: int, copies: int, unmoved: int, canonical: float
) -> None:
    left = iter(trials)
    found = settled(own, lambda number: next(left), len(trials), n)
    assert (found.copies, found.unmoved) == (copies, unmoved)
    assert found.resemblance.canonical == pytest.approx(canonical)


def test_trials_may_begin_anew_or_not() -> None:
    """A walk that finds no start of its own begins at the original, with some numbers."""
    both = iter([replace(near(0.9, 0.9), ends=(), carried=False), replace(near(0.9, 0.9), ends=(1.0,))])
    found = settled(near(0.9, 0.9), lambda number: next(both), 2, 500)
    assert (found.ends, found.carried) == ((0.5,), True)


def few_below(after: int) -> TrialSight:
    return TrialSight(signs=SignCounts(np.array([[0, 100], [after, 120]])))


def test_a_few_negatives_are_those_of_the_request() -> None:
    """One key has two, another none: that there are some on average decides for both."""
    for own in (8, 19):
        signs = settled(few_below(own), lambda number: few_below((18, 12, 11, 13)[number]), 4, 500).signs
        assert signs is not None
        assert (signs.new(("y", "z")), signs.usual(("y", "z"), 500)) == ({"y": 14}, ())
        assert signs.usual(("y", "z"), 200) == ("y",)
    for clear in (0, 2, 60):
        assert not few_below(clear).doubtful(500)
    assert few_below(2).doubtful(50)
    assert TrialSight(signs=SignCounts(np.array([[100], [190]]))).doubtful(500)  # twice as many, or not


def test_negatives_of_a_walk_are_those_of_one_trial() -> None:
    """It is the same for every key, and a walk takes long."""
    made: list[int] = []

    def again(number: int) -> TrialSight:
        made.append(number)
        return replace(few_below(18), walked=True)

    found = settled(replace(few_below(11), walked=True), again, 4, 500)
    assert (found.signs, made) == (few_below(18).signs, [0])
    assert settled(replace(few_below(2), walked=True), again, 4, 500).signs == few_below(2).signs


@pytest.mark.parametrize(("d", "level"), [(0.9, set()), (0.96, {"warn"})])
def test_an_end_that_stays_with_some_keys_has_one_verdict(
    d: float, level: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the farthest record is so in the release too is a coin for a column of few far cells."""
    frame = pd.DataFrame({"y": np.random.default_rng(5).normal(100, 5, 150)})

    def levels() -> list[set[str]]:
        method = ResidualCorrelation(d=d)
        made = [protect(frame, Roles(confidential=["y"]), method, seed=Seed.for_tests(key)) for key in range(6)]
        return [{each.level for each in release.findings if each.rule == "extremes"} for release in made]

    assert all(found == level for found in levels())
    monkeypatch.setattr(assessment, "settled", lambda first, *_: first)
    assert any(found != level for found in levels())


def test_what_draws_no_number_is_not_tried_twice() -> None:
    made: list[int] = []

    def again(number: int) -> TrialSight:
        made.append(number)
        return near(0.95, 0.95)

    assert settled(near(0.95, 0.95), again, 4, 500) == near(0.95, 0.95)
    assert made == [0]


def persons(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    income = rng.lognormal(10, 0.8, n)
    return pd.DataFrame({"income": income, "taxes": income * rng.uniform(0.1, 0.4, n)})


@pytest.mark.parametrize("method", [Romm(correlation=0.9), Rotate(correlation=0.8)], ids=lambda m: m.name)
def test_a_request_at_an_edge_has_one_verdict(method: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is stopped with one key would try the next."""

    def verdicts() -> list[tuple[Any, ...]]:
        roles = Roles(confidential=["income", "taxes"])
        releases = [protect(persons(), roles, method, seed=Seed.for_tests(key)) for key in range(4)]
        rules = ("residual-correlation", "canonical-correlation", "copies", "unmoved-records")
        found = [[each for each in release.findings if each.rule in rules] for release in releases]
        return [tuple((each.rule, each.level, str(each.numbers)) for each in one) for one in found]

    assert len({*verdicts()}) == 1
    monkeypatch.setattr(assessment, "settled", lambda first, *_: first)
    assert len({*verdicts()}) > 1


def test_one_release_of_many_groups_is_many_trials() -> None:
    made: list[int] = []

    def again(number: int) -> TrialSight:
        made.append(number)
        return near(0.9 + 0.001 * number)

    settled(near(0.91), again, 4, 6000, strata=600)
    assert made == [0]


def test_a_release_with_a_copy_by_luck_is_drawn_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever verifies the file would find the record; whoever is stopped would try the next key."""
    frame, roles = pd.DataFrame(np.random.default_rng(4).normal(9, 1, (60, 2)), columns=["y", "z"]), Roles(["y", "z"])
    plain = protect(frame, roles, Ipso(), seed=Seed.for_tests(1))
    found = iter([1, 1, 0])
    monkeypatch.setattr(assessment, "_copies", lambda *_: next(found))
    release = protect(frame, roles, Ipso(), seed=Seed.for_tests(1), accept={"seed": "a test"})
    assert (next(found, None), release.assessment.copies) == (None, 0)
    assert not np.allclose(np.sort(release.frame["y"]), np.sort(plain.frame["y"]))
    monkeypatch.setattr(assessment, "_copies", lambda *_: 1)
    with pytest.raises(GuardError, match="copies"):  # each time: it is no luck
        protect(frame, roles, Ipso(), seed=Seed.for_tests(1), accept={"seed": "a test"}).write(tmp_path / "out.csv")
