import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.design.role import declared
from suffice.design.roles import Roles
from suffice.errors import InputError, UsageError

KINDS = {
    "turnover": "float",
    "wages": "integer",
    "region": "category",
    "size": "integer",
    "share": "float",
    "founded": "date",
    "blob": "other",
    "w": "float",
}


def refused(**roles) -> str:
    with pytest.raises(UsageError) as caught:
        Roles(**roles)
    assert caught.value.exit_code == 2
    return str(caught.value)


def unfit(**roles) -> str:
    with pytest.raises(InputError) as caught:
        Roles(**roles).check(KINDS)
    assert caught.value.exit_code == 3
    return str(caught.value)


def test_lists_become_tuples_and_equal_roles_are_equal():
    roles = Roles(confidential=["turnover"], given=["region"], identifiers=["id"], keep=["note"])
    assert roles.confidential == ("turnover",)
    assert roles.given == ("region",)
    assert hash(roles) == hash(Roles(("turnover",), ("region",), None, ("id",), ("note",)))


def test_columns_and_dropped():
    roles = Roles(confidential=["y"], given="C(a) + log(b) + a:b", weight="w", identifiers=["id"], keep=["k"])
    assert roles.columns == ("y", "a", "b", "w", "id", "k")
    assert roles.dropped(["z", "y", "a", "q"]) == ("z", "q")


@pytest.mark.parametrize("given", ["", "  ", (), []])
def test_nothing_given_is_the_intercept_alone(given):
    terms = Roles(confidential=["y"], given=given).terms
    assert terms.intercept
    assert terms.terms == ()


def test_every_double_role_is_told_at_once():
    message = refused(confidential=["y", "x"], given="x + log(id)", weight="w", identifiers=["id"], keep=["w"])
    for name, roles in {"x": "confidential, given", "id": "given, identifiers", "w": "weight, keep"}.items():
        assert f"'{name}' has more than one role: {roles}" in message


def test_a_column_named_twice_in_one_role():
    assert "'y' is named twice in `confidential`" in refused(confidential=["y", "y"])
    assert "'x' is named twice in `given`" in refused(confidential=["y"], given=["x", "x"])


@pytest.mark.parametrize(
    ("roles", "part"),
    [
        ({"confidential": []}, "No confidential column"),
        ({"confidential": "turnover"}, "`confidential` must be a list"),
        ({"confidential": ["a", 3]}, "`confidential` must hold column names only"),
        ({"confidential": ["a", ""]}, "`confidential` must hold column names only"),
        ({"confidential": ["a"], "keep": "b"}, "`keep` must be a list"),
        ({"confidential": ["a"], "given": 7}, "`given` must be a list"),
        ({"confidential": ["a"], "weight": 7}, "`weight` must be one column name"),
        ({"confidential": ["a"], "weight": ""}, "`weight` must be one column name"),
        ({"confidential": ["a"], "merge_below": -1}, "`merge_below` must be a whole number"),
        ({"confidential": ["a"], "merge_below": True}, "`merge_below` must be a whole number"),
        ({"confidential": ["a"], "given": "x ~ y"}, "not accepted"),
    ],
)
def test_wrong_requests(roles, part):
    assert part in refused(**roles)


def test_mistakes_of_type_come_together():
    message = refused(confidential="y", keep="k", merge_below=-2)
    assert message.count("must be") == 3


def test_a_good_request_passes():
    Roles(confidential=["turnover", "wages"], given="region + C(size) + log(share)", weight="w").check(KINDS)


def test_unknown_names_with_a_suggestion():
    message = unfit(confidential=["turnovr"], given="C(regoin)", weight="ww")
    assert "There is no column 'turnovr'. Did you mean 'turnover'?" in message
    assert "There is no column 'regoin'. Did you mean 'region'?" in message
    assert "There is no column 'ww'." in message


def test_a_list_with_a_call_in_it_is_pointed_to_the_formula():
    assert "as one formula" in unfit(confidential=["turnover"], given=["C(region)"])


@pytest.mark.parametrize(
    ("roles", "part"),
    [
        ({"confidential": ["region"]}, "'region' is text, categorical or boolean"),
        ({"confidential": ["region"]}, "let synthesis, margins or loglinear draw it"),
        ({"confidential": ["founded"]}, "'founded' holds dates"),
        ({"confidential": ["blob"]}, "'blob' is of a kind that is not a number"),
        ({"confidential": ["turnover"], "weight": "region"}, "weight 'region' is not numeric"),
        ({"confidential": ["turnover"], "given": ["founded"]}, "'founded' holds dates"),
        ({"confidential": ["turnover"], "given": "C(founded)"}, "'founded' holds dates"),
        ({"confidential": ["turnover"], "given": ["blob"]}, "neither a number nor a category"),
        ({"confidential": ["turnover"], "given": "C(share)"}, "C() of 'share'"),
        ({"confidential": ["turnover"], "given": "log(region)"}, "log() of 'region'"),
    ],
)
def test_columns_of_the_wrong_kind(roles, part):
    assert part in unfit(**roles)


def test_all_mistakes_of_a_file_at_once():
    message = unfit(confidential=["region", "nowhere"], given="C(share) + founded", weight="blob")
    assert len(message.splitlines()) == 5


@settings(max_examples=25, deadline=None)
@given(st.permutations(["C(a)", "log(b)", "c:d", "a:b"]))
def test_canonical_text_does_not_depend_on_the_order_of_terms(terms):
    roles = Roles(confidential=["y"], given=" + ".join(terms))
    assert roles.canonical() == Roles(confidential=["y"], given="d:c + log(b) + b:a + C(a)").canonical()


def test_canonical_text_tells_requests_apart():
    roles = [
        Roles(confidential=["y", "z"]),
        Roles(confidential=["z", "y"]),
        Roles(confidential=["y"]),
        Roles(confidential=["y"], given="a"),
        Roles(confidential=["y"], given="a - 1"),
        Roles(confidential=["y"], given="C(a)"),
        Roles(confidential=["y"], weight="a"),
        Roles(confidential=["y"], keep=["a"]),
        Roles(confidential=["y"], identifiers=["a"]),
        Roles(confidential=["y"], given="C(a)", merge_below=5),
    ]
    texts = [role.canonical() for role in roles]
    assert len(set(texts)) == len(texts)
    assert all(json.loads(text) for text in texts)


def test_canonical_text_is_the_same_for_a_list_and_its_formula():
    assert Roles(["y"], ["a", "b c"]).canonical() == Roles(["y"], "`b c` + a").canonical()


def test_canonical_text_never_changes():
    """Releases made with a key depend on every letter of it."""
    assert Roles(["b", "a"]).canonical() == (
        '{"confidential": ["b", "a"], "given": "1", "identifiers": [], "keep": [], "merge_below": 0, "weight": null}'
    )
    full = Roles(
        confidential=["b", "ä"],
        given="C(r) + log(e)",
        weight="w",
        identifiers=["j", "i"],
        keep=["l", "k"],
        merge_below=3,
        bounds={"b": "0:", "ä": (None, 5)},
        integer=["b"],
        edits=["one: b <= 7", "two: b <= 7", "0.5*ä <= b"],
        groups=["h", "g"],
        labels=["n", "m"],
        missing="patterns",
        smallest_pattern=12,
    )
    assert full.canonical() == (
        r'{"bounds": [["b", [0.0, null]], ["\u00e4", [null, 5.0]]], "confidential": ["b", "\u00e4"], '
        r'"edits": ["-1*`b` + 1/2*`\u00e4` <= 0", "1*`b` <= 7"], "given": "1 + C(r) + log(e)", "groups": ["g", "h"], '
        r'"identifiers": ["i", "j"], "integer": ["b"], "keep": ["k", "l"], "labels": ["m", "n"], "merge_below": 3, '
        r'"missing": "patterns", "smallest_pattern": 12, "weight": "w"}'
    )


WIDER = """
import json, sys
from dataclasses import dataclass
from typer.testing import CliRunner
import suffice.design.roles as room
from suffice.design.role import COLUMN, at_least, role
from suffice.errors import UsageError

plain = room.Roles(["y"]).canonical()

@dataclass(frozen=True)
class Wider(room.Roles):
    unit: str | None = role(COLUMN, "What a record is.", None)
    least: int = role(at_least(1), "Units at least.", 1, asked=("protect",))

room.Roles = Wider
from suffice.cli.app import app
from suffice.plan.plan import Plan

def plan(**roles):
    return Plan.of({"data": {"path": "a.csv"}, "roles": {"confidential": ["y"], **roles},
                    "method": [{"name": "ipso"}], "release": {"path": "b.csv"}})

def refused(**roles):
    try:
        plan(**roles)
    except UsageError as error:
        return str(error)

def asked(*words):
    ended = CliRunner().invoke(app, list(words))
    return ended.output + str(ended.exception)

protect = ("protect", "a.csv", "-o", "b.csv", "--confidential", "y")
print(json.dumps({
    "same": Wider(["y"]).canonical() == plain,
    "canonical": json.loads(Wider(["y"], unit="u", least=2).canonical()),
    "plan": Plan.parse(plan(unit="u", least=2).to_toml()).roles.build().columns,
    "keys": refused(units="u"),
    "wrong": refused(unit=["u"], least=0),
    "twice": refused(unit="y"),
    "protect": asked("protect", "--help"),
    "verify": asked("verify", "--help"),
    "option": asked(*protect, "--unit", "y"),
}))
"""


def test_one_declaration_is_enough_for_a_new_role():
    ended = subprocess.run([sys.executable, "-c", WIDER], capture_output=True, text=True, check=False)
    assert not ended.stderr
    found = json.loads(ended.stdout)
    assert found["same"]
    assert (found["canonical"]["unit"], found["canonical"]["least"]) == ("u", 2)
    assert found["plan"] == ["y", "u"]
    assert "roles.units: unknown key. Did you mean 'unit'?" in found["keys"]
    assert "unit, least" in found["keys"]
    assert "`unit` must be one column name." in found["wrong"]
    assert "`least` must be a whole number, 1 or more." in found["wrong"]
    assert "'y' has more than one role: confidential, unit" in found["twice"]
    assert "--unit COLUMN" in found["protect"]
    assert "What a record is." in found["protect"]
    assert "--least N" in found["protect"]
    assert "--unit COLUMN" in found["verify"]
    assert "--least" not in found["verify"]
    assert "'y' has more than one role: confidential, unit" in found["option"]


def test_every_role_is_explained_to_those_who_ask_python():
    assert all(f"    {each.name}: {each.doc}" in str(Roles.__doc__) for each in declared(Roles))
