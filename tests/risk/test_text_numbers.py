"""Numbers and days that a reader finds in text, each written as people write them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from suffice.risk.text_numbers import text_numbers

DAYS = np.array(["2019-01-31", "2020-12-02", "1987-07-13"], dtype="datetime64[D]")


@pytest.mark.parametrize(
    "cells",
    [
        ["1234.5", "-7", "20000.25"],
        ["1.2345e3", "-7.0", " 20000.25 "],
        ["1,234.50", "-7", "20,000.25"],
        ["1.234,5", "-7", "20.000,25"],
        ["1234,5", "-7", "20000,25"],
        ["EUR 1 234.50", "EUR -7", "EUR 20 000.25"],
        ["1'234.50 CHF", "-7 CHF", "20'000.25 CHF."],
        [
            "\u0661\u066c\u0662\u0663\u0664\u066b\u0665",
            "-\u0667",
            "\u0662\u0660\u066c\u0660\u0660\u0660\u066b\u0662\u0665",
        ],
        ["\uff11\uff12\uff13\uff14\uff0e\uff15", "\uff0d\uff17", "\uff12\uff10\uff10\uff10\uff10\uff0e\uff12\uff15"],
        ["\u20ac\u00a01234.50", "\u22127", "20\u202f000.25"],
    ],
)
def test_amounts(cells: list[str]) -> None:
    found = text_numbers(pa.array(cells))
    assert found is not None
    assert found.tolist() == [1234.5, -7.0, 20000.25]


@pytest.mark.parametrize("how", ["%Y-%m-%d", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y"])
def test_days(how: str) -> None:
    found = text_numbers(pa.array([day.strftime(how) for day in DAYS.tolist()]))
    assert found is not None
    assert np.array_equal(found, DAYS.astype("datetime64[s]").astype(np.float64))


def test_cells_that_are_none_are_holes() -> None:
    found = text_numbers(pa.array(["12", "n/a", None, "", "7"]).dictionary_encode())
    assert found is not None
    assert np.array_equal(found, [12, np.nan, np.nan, np.nan, 7], equal_nan=True)
    assert text_numbers(pa.array(["north", "south", None])) is None
    assert text_numbers(pa.array([], pa.string())) is None


def test_classes_are_their_lower_ends() -> None:
    found = text_numbers(pa.array(["40-44", "45-49", "class 3"]))
    assert found is not None
    assert found.tolist() == [40, 45, 3]
