"""Conditions as text: what they mean, what is missing, and that nothing is evaluated."""

from __future__ import annotations

from time import process_time

import numpy as np
import pyarrow as pa
import pytest

from suffice.design.condition import parse
from suffice.errors import InputError, UsageError

COLUMNS = {
    "a": np.array([1.0, 2.0, 3.0, np.nan]),
    "b": np.array([3, 2, 1, 0]),
    "r": pa.array(["n", "s", None, "n"]),
    "net income": np.array([5.0, 6.0, 7.0, 8.0]),
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a > 1.5", [0, 1, 1, 0]),
        ("a <= b", [1, 1, 0, 0]),
        ("2*(a - b) + 1 >= 1", [0, 1, 1, 0]),
        ("(a + b) == 4", [1, 1, 1, 0]),
        ("a != 2", [1, 0, 1, 0]),  # where a cell is missing, neither it nor its opposite holds
        ("not a == 2", [1, 0, 1, 0]),
        ("r == 'n'", [1, 0, 0, 1]),
        ('r != "n"', [0, 1, 0, 0]),
        ("not (r == 'n' or a > 2)", [0, 1, 0, 0]),
        ("r == 'n' or a > 2", [1, 0, 1, 1]),
        ("a > 2 or b > 2 and r == 's'", [0, 0, 1, 0]),  # `and` binds more
        ("(a > 2 or b > 2) and r == 'n'", [1, 0, 0, 0]),
        ("`net income` < 6", [1, 0, 0, 0]),
        ("not (a + b) - b > 1.5", [1, 0, 0, 0]),
        ("not " * 5001 + "a == 2", [1, 0, 1, 0]),
        ("not " * 5000 + "(r == 'n')", [1, 0, 0, 1]),
        ("((a > 1) and ((b) > 0))", [0, 1, 1, 0]),
    ],
)
def test_what_a_condition_means(text: str, holds: list[int]):
    assert parse(text).of(COLUMNS).astype(int).tolist() == holds


@pytest.mark.parametrize(
    "text",
    ["", "a", "a >", "a > 1 and", "a = 1", "1 > 0", "a > 1 b", "a*b > 1", "f(a) > 1", "a.__class__ > 1 > 0",
     "a == r ==", "r == 'n", "a > 'x'", "__import__('os')", "(" * 30 + "a > 1" + ")" * 30, "not", "a[0] > 1",
     "a > 1e999", "1e308*a + 1e308*a > 1", "1e-999*a > 1", "r == '\udcff'", "not " * 5000, "not (a)"],
)  # fmt: skip
def test_what_is_no_condition_is_refused(text: str):
    with pytest.raises(UsageError, match="The condition"):
        parse(text)


@pytest.mark.parametrize(("text", "match"), [("r > 1", "is text"), ("a == 'x'", "is numbers"), ("aa > 1", "Did you")])
def test_columns_that_cannot_be_compared_get_a_sentence(text: str, match: str):
    with pytest.raises(InputError, match=match):
        parse(text).of(COLUMNS)


def test_a_sum_of_many_columns_is_read_in_one_pass():
    names = [f"q{i}" for i in range(4000)]  # added one by one to all before it took half a minute
    assert parse(f"{' + '.join(names)} > 1").columns == tuple(names)


def test_long_conditions_are_read_in_one_go() -> None:
    def seconds(count: int) -> float:
        text, begun = " or ".join(["a == 1"] * count), process_time()
        parse(text)
        return process_time() - begun

    assert seconds(16_000) < 30 * seconds(2_000)  # 8 if it is linear, 64 if not
