from itertools import product
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


@pytest.mark.parametrize(
    ("formula", "intercept", "terms"),
    [
        ("a*b*c", True, "a b a:b c a:c b:c a:b:c"),
        ("a*b:c", True, "a b:c a:b:c"),
        ("b:a + c + a:b", True, "b:a c"),
        ("(c + b)*a - 1", False, "c b a c:a b:a"),
        ("a + 0 + b", False, "a b"),
        ("a - 1 + 1", True, "a"),
        ("(1 + a) + b", True, "a b"),
        ("a ++ b +- 1", False, "a b"),
        ("(+ a):b", True, "a:b"),
        ("2019_t + .z", True, "2019_t .z"),
    ],
)
def test_terms_come_in_the_order_written(formula, intercept, terms):
    expected = tuple(tuple(map(Factor, term.split(":"))) for term in terms.split())
    assert parse(formula) == Terms(intercept, expected)


def test_columns_that_read_like_a_piece_of_the_formula_stand_where_nothing_is_confused():
    assert parse("0 + `1`") == Terms(False, ((Factor("1"),),))
    assert parse("`C(a)`:b + C(a)").terms == ((Factor("C(a)"), Factor("b")), (Factor("a", "C"),))


def test_square_of_a_column_in_backquotes():
    assert parse("square(`a`) + C(`sq`)").terms == ((Factor("a", "square"),), (Factor("sq", "C"),))


@pytest.mark.parametrize("text", ["(" * 5000 + "a", "a" + "(" * 5000, "+" * 5000, "log(" * 2000, " " * 5000 + "`"])
def test_long_nonsense_is_refused_like_short(text):
    assert "formula" in refused(text)


def test_long_formulas_are_read():
    assert len(parse(" + ".join(f"x{i}" for i in range(3000))).terms) == 3000


def test_a_column_named_like_a_word_of_python_goes_bare_and_not_into_a_call():
    """In a call `if` cannot stand; text needs no C(), a list no formula."""
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


trees = st.recursive(factors, lambda inner: st.tuples(st.sampled_from("+:*"), inner, inner), max_leaves=7)
"""A formula as a tree: a factor, or (sign, left, right)."""


def written(tree: object) -> str:
    if isinstance(tree, Factor):
        return str(tree)
    sign, left, right = tree
    return f"({written(left)}) {sign} ({written(right)})"


def expanded(tree: object) -> list[tuple[Factor, ...]]:
    """By definition: a + b is both, a:b every product, a*b is a + b + a:b."""
    if isinstance(tree, Factor):
        return [(tree,)]
    sign, left, right = tree[0], expanded(tree[1]), expanded(tree[2])
    products = [one + other for one, other in product(left, right)]
    return {"+": left + right, ":": products, "*": left + right + products}[sign]


@settings(max_examples=150, deadline=None)
@given(trees, st.sampled_from(["", " - 1", " + 0", " + 1", "+-1"]))
def test_a_formula_is_what_its_signs_say(tree, end):
    expected = {}
    for term in expanded(tree):
        expected.setdefault(frozenset(term), tuple(dict.fromkeys(term)))
    assert parse(written(tree) + end) == Terms(end in ("", " + 1"), tuple(expected.values()))


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
