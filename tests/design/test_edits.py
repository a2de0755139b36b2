"""Edits are read, never evaluated; what is not linear is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.design.edits import parse
from suffice.errors import UsageError


def refused(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_all_on_one_side_sorted_and_exact():
    edit = parse("cost: wages + 0.1*taxes + 5 <= turnover - 0.2 * taxes")
    assert edit.name == "cost"
    assert edit.coefficients == (("taxes", Fraction(3, 10)), ("turnover", Fraction(-1)), ("wages", Fraction(1)))
    assert edit.constant == -5
    assert not edit.equality
    assert edit.of(["wages", "nothing", "taxes"]) == [1.0, 0.0, 0.3]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a <= b", "b >= a"),
        ("a <= b", "-b <= -a"),
        ("total == a + b", "a + b == total"),
        ("total == a + b", "0 == total - (a + b)"),
        ("2*(a - b)/4 <= 1", "0.5*a - .5e0*b <= 1."),
        ("- - a >= +2", "a >= 2"),
        ("a + a <= 3", "a * 2 <= 3"),
        ("`a` <= 1e3", "a <= 1000"),
        ("x: a <= 1", "y: a <= 1"),
    ],
)
def test_equal_conditions_are_equal_however_they_are_written(one, other):
    assert parse(one).condition == parse(other).condition


@pytest.mark.parametrize(("one", "other"), [("a <= b", "a >= b"), ("a <= b", "a == b"), ("a <= 1", "a <= 2")])
def test_different_conditions_differ(one, other):
    assert parse(one).condition != parse(other).condition


def test_odd_names_stand_in_backquotes():
    edit = parse("rule 1: `net income (€): a <= b` >= 2 * `__import__('os')`")
    assert edit.columns == ("__import__('os')", "net income (€): a <= b")
    assert edit.name == "rule 1"


def test_an_edit_without_a_name_is_called_by_its_text():
    assert parse("  a   <= b ").name == "a <= b"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a * b <= 1", "not linear"),
        ("a / b <= 1", "not linear"),
        ("1 / a <= 1", "not linear"),
        ("a / (1 - 1) <= 1", "divides by 0"),
        ("log(a) <= 1", "function"),
        ("a < b", "needs one of <=, >=, =="),
        ("a = b", "needs one of <=, >=, =="),
        ("a + b", "needs one of <=, >=, =="),
        ("2 a <= 3", "needs one of <=, >=, =="),
        ("0 <= a <= 1", "more than one comparison"),
        ("(a <= 1", "bracket that is not closed"),
        ("a) <= 1", "needs one of"),
        ("a <= 1)", "not understood at ')'"),
        ("a <= ", "ends too early"),
        ("", "ends too early"),
        ("a ! b <= 1", "not understood at '!'"),
        ("a <= `b", "not understood at '`'"),
        ("a ** 2 <= 1", "not understood at '*'"),
        ("a <= 1e9999", "not understood"),
        ("1e999 * a <= 1", "too large or too small"),
        ("a <= 1e999", "too large or too small"),
        ("1e-999 * a <= 1", "too large or too small"),
        ("a - a <= 0", "no column is left"),
        ("1 <= 2", "no column is left"),
        ("(" * 5000 + "a <= 1", "more than 20 brackets"),
    ],
)
def test_what_is_not_a_linear_edit_is_refused(text, why):
    assert why in refused(text)


@given(st.text(max_size=60))
def test_any_text_is_an_edit_or_a_usage_error(text):
    try:
        edit = parse(text)
    except UsageError:
        return
    assert edit.columns
    assert parse(edit.condition).condition == edit.condition


@given(
    st.dictionaries(st.sampled_from("abcde"), st.integers(-99, 99).filter(bool), min_size=1),
    st.integers(-99, 99),
    st.sampled_from(["<=", ">=", "=="]),
    st.randoms(use_true_random=False),
)
def test_the_order_and_the_side_of_terms_do_not_matter(coefficients, constant, sign, chance):
    terms = [f"{c} * {name}" for name, c in coefficients.items()]
    chance.shuffle(terms)
    cut = chance.randint(0, len(terms))
    right = " + ".join([str(constant), *(f"-({term})" for term in terms[cut:])])
    edit = parse(f"{' + '.join(['0', *terms[:cut]])} {sign} {right}")
    turned = sign == ">=" or (sign == "==" and coefficients[min(coefficients)] < 0)
    assert dict(edit.coefficients) == {name: (-c if turned else c) for name, c in coefficients.items()}
    assert edit.constant == (-constant if turned else constant)
