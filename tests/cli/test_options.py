"""Lists and pairs on the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from suffice.cli.app import app
from suffice.design.role import names, pairs
from suffice.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b", ["a", "b"]),
        (" a , b ", ["a", "b"]),
        ("", []),
        ("a,", ["a"]),
        ('"a,b",c', ["a,b", "c"]),
        ("a b", ["a b"]),
    ],
)
def test_names(text, expected):
    assert names(text) == expected


def test_lists_that_are_given_in_pieces_add_up():
    words = ["protect", "a.csv", "-o", "b.csv", "--confidential", "a,b", "--confidential", "c", "--keep", "c"]
    ended = CliRunner().invoke(app, [*words, "--keep", "d", "--integer", "a", "--integer", "e"])
    said = str(ended.exception)
    assert "Column 'c' has more than one role: confidential, keep" in said
    assert "`integer` names 'e'" in said
    assert "2 mistakes" in said


def test_pairs_split_at_the_first_equals_sign():
    assert pairs(["outliers=agreed: a=b", "d = 0.5"], "--accept") == {"outliers": "agreed: a=b", "d": "0.5"}
    assert pairs(None, "--param") == {}


@pytest.mark.parametrize("item", ["outliers", "=reason", "outliers=", "outliers= ", ""])
def test_a_pair_without_name_or_value_is_refused(item):
    with pytest.raises(UsageError, match="--accept number 2 is not of the form name=value"):
        pairs(["a=b", item], "--accept")


def test_a_name_given_twice_is_refused():
    with pytest.raises(UsageError, match="more than once for lam"):
        pairs(["lam=1", "lam=2"], "--param")
