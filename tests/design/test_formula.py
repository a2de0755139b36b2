import subprocess
import sys
from keyword import iskeyword

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.design.formula import TRANSFORMS, Factor, Terms, label, parse
from suffice.errors import UsageError


def refused(formula: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse(formula)
    return str(caught.value)


def test_the_formula_of_the_readme():
    terms = parse("C(region) + log(employees) + region:size")
    assert terms == Terms(
        True,
        (
            (Factor("region", "C"),),
            (Factor("employees", "log"),),
            (Factor("region"), Factor("size")),
        ),
    )


@pytest.mark.parametrize(
    ("formula", "canonical"),
    [
        ("", "1"),
        ("1", "1"),
        ("0", "0"),
        ("- 1 + C(region)", "0 + C(region)"),
        ("a - 1", "0 + a"),
        ("a + 0", "0 + a"),
        ("+ a", "1 + a"),
        ("a*b", "1 + a + a:b + b"),
        ("(a + b):c", "1 + a:c + b:c"),
        ("a + a + a:a", "1 + a"),
        ("b:a + a:b", "1 + a:b"),
        ("C(a) + C(`a`)", "1 + C(a)"),
        ("`net income` + C( `x y` )", "1 + C(`x y`) + `net income`"),
        ("`C(a)`", "1 + `C(a)`"),
        ("a.b + é", "1 + a.b + é"),
        ("a\n + b", "1 + a + b"),
    ],
)
def test_accepted(formula, canonical):
    assert str(parse(formula)) == canonical


@pytest.mark.parametrize(
    ("formula", "piece"),
    [
        ("a ~ b", "'~'"),
        (".", "'.'"),
        ("a^2", "'^'"),
        ("a**2", "'**'"),
        ("a/b", "'/'"),
        ("a|b", "'|'"),
        ("a %in% b", "'in'"),
        ("2*a", "'2'"),
        ("2.5:a", "'2.5'"),
        ("1:a", "'1'"),
        ("'x'", "x"),
        ("log(C(a))", "'log(C(a))'"),
        ("log(a + b)", "'log(a + b)'"),
        ("log(2)", "'log(2)'"),
        ("exp(a)", "'exp(a)'"),
        ("C(a, contr.sum)", "'C(a, contr.sum)'"),
        ("a[0]", "a[0]"),
        ("{a}", "{a}"),
        ("[a]", "'['"),
        ("a - b", "subtracts"),
        ("a + b - a", "subtracts"),
        ("-a", "subtracts"),
        ("(a - 1)*b", "subtracts"),
        ("0*a", "0 inside a term"),
        ("--1", "'+--'"),
        ("a b", "'a b' is not understood"),
        ("(a", "'(a' is not understood"),
        ("1*a", "'1*a' is not understood"),
        ("`1` + a", "reads like another piece"),
        ("`C(a)` + C(a)", "reads like another piece"),
    ],
)
def test_refused_with_the_piece_and_what_is_accepted(formula, piece):
    message = refused(formula)
    assert piece in message.splitlines()[0]
    assert "C(), log()" in message


def test_nothing_is_evaluated(tmp_path):
    sentinel = tmp_path / "ran"
    refused("{__import__('os').system('true')}")
    for code in (f"open({str(sentinel)!r}, 'w')", f"__import__('pathlib').Path({str(sentinel)!r}).touch()"):
        for formula in (f"{{{code}}}", code, f"C({code})", f"a + log({code})", f"`a` + I({code})"):
            refused(formula)
    assert not sentinel.exists()


def test_a_list_holds_names_and_needs_no_parser():
    assert parse(["C(a)", "b - 1"]) == Terms(True, ((Factor("C(a)"),), (Factor("b - 1"),)))
    code = "import sys; from suffice.design.formula import parse; parse(['a']); parse('')"
    code += "; sys.exit('formulaic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_column_named_like_a_word_of_python_goes_bare_and_not_into_a_call():
    """The parser reads calls as Python does, where `if` cannot stand; text needs no C(), a list no formula."""
    assert str(parse("if + x")) == "1 + if + x"
    refused("C(if)")
    assert parse(["if"]).columns == ("if",)


plain = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True).filter(lambda name: not iskeyword(name))
names = plain | st.sampled_from(["net income", "a+b", "x-1", "é 1"])
factors = st.builds(Factor, names, st.sampled_from([None, *TRANSFORMS]))
models = st.lists(st.lists(factors, min_size=1, max_size=3, unique=True), max_size=4)


@settings(max_examples=60, deadline=None)
@given(models, st.booleans())
def test_what_is_written_is_what_is_parsed(model, intercept):
    text = " + ".join(["1" if intercept else "0", *(label(tuple(term)) for term in model)])
    parsed = parse(text)
    assert parsed.intercept == intercept
    assert {frozenset(term) for term in parsed.terms} == {frozenset(term) for term in model}
    assert len(parsed.terms) == len({frozenset(term) for term in model})


@settings(max_examples=60, deadline=None)
@given(models)
def test_canonical_text_is_a_fixed_point(model):
    once = str(parse(" + ".join(label(tuple(term)) for term in model)))
    assert str(parse(once)) == once


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab1 02+-*:()`{}^~.,C'\"%|/[]", max_size=12))
def test_any_text_is_parsed_or_refused(text):
    try:
        parsed = parse(text)
    except UsageError:
        return
    assert all(factor.transform in (None, *TRANSFORMS) for term in parsed.terms for factor in term)
    assert all(factor.column in text for term in parsed.terms for factor in term)
