"""A sorted file tells its ranks by position, through every method - unless the rows are shuffled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, ResidualCorrelation
from suffice.guards import GUARDS
from suffice.method.method import Method
from suffice.risk.row_order import RowOrder
from tests.attacks.victims import profile, rules, unguarded
from tests.tolerances import CHANCE

METHODS = [Ipso(), ResidualCorrelation(d=0.5)]


def in_order(n: int = 400) -> pd.DataFrame:
    return profile(n=n, k=2).sort_values("y0", ignore_index=True)


def error_by_position(released: pd.DataFrame, frame: pd.DataFrame) -> float:
    """The attacker knows that the file was sorted by y0: the i-th record has the i-th smallest value.

    The error in sd of what he says about the person whose x he knows.
    """
    guess = pd.DataFrame({"x": released["x"], "guess": np.sort(released["y0"])})
    both = frame.merge(guess, on="x", validate="one_to_one")
    return float((both["guess"] - both["y0"]).abs().median() / frame["y0"].std())


@pytest.mark.parametrize("method", METHODS)
def test_rows_in_place_give_the_values_and_shuffled_rows_do_not(method: Method) -> None:
    frame = in_order()
    release = unguarded(frame, method)
    assert error_by_position(release.aligned(), frame) < 0.1
    assert error_by_position(release.frame, frame) > 0.5


@pytest.mark.parametrize("method", METHODS)
def test_places_in_a_release_say_nothing(method: Method) -> None:
    frame = in_order()
    release = unguarded(frame, method)
    places = release.frame[["x"]].merge(frame.reset_index(), on="x")["index"]
    assert abs(np.corrcoef(places, np.arange(len(frame)))[0, 1]) < CHANCE / np.sqrt(len(frame))
    assert list(release.frame.index) == list(range(len(frame)))
    assert "row-order" not in rules(release, "stop")


def test_the_guard_sees_rows_in_place() -> None:
    assessment = unguarded(in_order(), Ipso()).assessment
    finding = GUARDS["row-order"](replace(assessment, order=RowOrder(1.0)))
    assert finding is not None
    assert finding.level == "stop"
