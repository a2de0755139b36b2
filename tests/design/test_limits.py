"""Bounds, whole numbers and edits: as they are written, and as the original is held to them."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from suffice.cli.app import app
from suffice.design.bounds import BOUNDS, OBSERVED, read
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.roles import Roles
from suffice.errors import InputError, UsageError
from suffice.files import toml
from suffice.files.source import open_rows
from suffice.plan.plan import Plan
from suffice.rows.memory import MemoryRows

FIRMS = {
    "wages": [3.0, 4.0, 0.0, 7.0],
    "taxes": [1.0, 0.5, 0.0, 2.0],
    "turnover": [4.0, 9.0, 1.0, 12.0],
    "profit": [-1.0, 2.0, 3.0, 0.0],
    "total": [4.0, 4.5, 0.0, 9.0],
    "size": [10, 20, 5, 30],
    "region": ["north", "south", "north", "south"],
}
COLUMNS = ("wages", "taxes", "turnover", "profit", "total")


def roles(**more) -> Roles:
    return Roles(**{"confidential": COLUMNS, "given": "size + C(region)", **more})


def learn(change=None, **more) -> Limits | None:
    rows = MemoryRows(pa.table({**FIRMS, **(change or {})}))
    return Limits.learn(rows, Design.learn(rows, roles(**more)))


def refused(**more) -> str:
    with pytest.raises(UsageError) as caught:
        roles(**more)
    return str(caught.value)


def left(change=None, **more) -> str:
    with pytest.raises(InputError) as caught:
        learn(change, **more)
    assert caught.value.exit_code == 3
    return str(caught.value)


# As written


def test_bounds_are_read_alike_however_they_are_written():
    pairs = [{"a": (0, None), "b": (-1, 1.5)}, {"b": "-1:1.5", "a": "0:"}, {"a": [-0.0, "none"], "b": [-1.0, "1.5"]}]
    found = {read(pair, ["a", "b"]) for pair in pairs}
    assert found == {(("a", (0.0, None)), ("b", (-1.0, 1.5)))}
    assert read(*found, ["a", "b"]) == found.pop()
    assert read({"a": (-np.inf, np.inf)}, ["a"]) == ()
    assert read(OBSERVED, []) == OBSERVED
    assert read(None, ["a"]) == ()


@pytest.mark.parametrize(
    "span", [0, "0", "a:b", (0,), (0, 1, 2), (True, 2), (float("nan"), 1), (np.inf, None), None, "1:2:3", "nan:"]
)
def test_bounds_that_are_not_understood_are_refused(span):
    assert "The bounds of 'wages' are not understood" in refused(bounds={"wages": span})


@pytest.mark.parametrize("bounds", ["observed", 3, [("wages",)], {3: (0, 1)}, ["wages"]])
def test_bounds_of_another_type_are_refused(bounds):
    assert "`bounds` must" in refused(bounds=bounds)


def test_every_mistake_is_told_at_once():
    message = refused(
        bounds={"wages": (2, 1), "size": (0, None), "wage": "0:", "total": "0-1"},
        integer=["taxes", "region"],
        edits=["wages + taxs <= turnover", "wages * taxes <= 1", "size <= 3", "x: wages <= 1", "x: wages <= 2"],
    )
    assert "No whole number lies between the bounds of 'taxes'" in refused(
        bounds={"taxes": (0.2, 0.8)}, integer=["taxes"]
    )
    for piece in (
        "The bounds of 'wages' contradict each other",
        "The bounds of 'total' are not understood",
        "`bounds` names 'size', which is not confidential",
        "`bounds` names 'wage', which is not confidential. Did you mean 'wages'?",
        "`integer` names 'region', which is not confidential",
        "column 'taxs' is neither confidential nor given. Did you mean 'taxes'?",
        "is not linear",
        "names no confidential column",
        "Two edits have the name 'x'",
    ):
        assert piece in message


@pytest.mark.parametrize("role", ["integer", "edits"])
@pytest.mark.parametrize("value", ["wages", 3, [""], [3], None])
def test_lists_of_another_type_are_refused(role, value):
    assert f"`{role}` must" in refused(**{role: value})


def test_roles_with_limits_are_equal_hashable_and_replaceable():
    one = roles(bounds={"wages": (0, None)}, integer=["wages"], edits=["wages <= turnover"])
    two = roles(bounds={"wages": "0:"}, integer=("wages",), edits=("wages <= turnover",))
    assert one == two
    assert hash(one) == hash(two)
    assert replace(one, keep=()) == one


def test_the_canonical_text_without_limits_is_the_one_that_old_keys_know():
    assert Roles(confidential=["y"], given="b + a", weight="w").canonical() == (
        '{"confidential": ["y"], "given": "1 + a + b", "identifiers": [], "keep": [], "merge_below": 0, "weight": "w"}'
    )


def test_the_canonical_text_tells_limits_apart_and_no_more():
    plain = roles().canonical()
    one = roles(bounds={"wages": (0, None)}, edits=["a: wages <= turnover", "taxes >= 0"])
    two = roles(bounds={"wages": "0:"}, edits=["0 <= taxes", "b: turnover >= wages"])
    assert one.canonical() == two.canonical() != plain
    different = [
        roles(bounds={"wages": (1, None)}),
        roles(bounds=OBSERVED),
        roles(integer=["wages"]),
        roles(edits=["wages <= 1"]),
        roles(edits=["wages == 1"]),
    ]
    assert len({plain, *(each.canonical() for each in different)}) == 6
    assert json.loads(one.canonical())["bounds"] == [["wages", [0.0, None]]]


def test_an_edit_with_text_is_refused_when_the_file_is_known():
    assert "names 'region', which is not a number" in left(edits=["wages <= region"])


# In plans and on the command line

PLAN = """
[data]
path = "firms.csv"
[roles]
confidential = ["wages", "net income"]
bounds = { wages = "0:", "net income" = [-5, 1e3] }
integer = ["wages"]
edits = ["cost: wages <= `net income`"]
[[method]]
name = "ipso"
[release]
path = "out.csv"
"""


def test_a_plan_holds_limits_and_survives_the_round_trip():
    plan = Plan.parse(PLAN)
    assert plan.roles.build().bounds == (("net income", (-5.0, 1000.0)), ("wages", (0.0, None)))
    assert Plan.parse(plan.to_toml()) == plan


def test_a_plan_with_the_word_observed_sign():
    plan = Plan.parse(re.sub("bounds = .*", f'bounds = "{OBSERVED}"', PLAN))
    assert plan.roles.build().bounds == OBSERVED
    assert Plan.parse(plan.to_toml()) == plan


def test_a_plan_tells_all_mistakes_of_limits():
    broken = PLAN.replace('"0:"', '"1:0"').replace("integer = [", 'integer = ["x", ').replace("cost:", "cost: 1 <")
    with pytest.raises(UsageError) as caught:
        Plan.parse(broken)
    for piece in ("contradict", "'x', which is not confidential", "needs one of <=, >=, =="):
        assert piece in str(caught.value)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.sampled_from(["0:", ":1"])))
def test_toml_writes_tables_inside_tables(table):
    import tomllib

    assert tomllib.loads(toml.write({"roles": {"bounds": table}})) == {"roles": {"bounds": table}}


def test_bounds_as_options():
    assert BOUNDS.parse(["wages=0:", "profit=-5:5"], "--bound") == {"wages": "0:", "profit": "-5:5"}
    assert BOUNDS.parse([OBSERVED], "--bound") == OBSERVED
    assert BOUNDS.parse(None, "--bound") == {}
    with pytest.raises(UsageError, match="--bound number 1 is not of the form"):
        BOUNDS.parse(["observed", "wages=0:"], "--bound")


def test_the_command_line_takes_limits():
    words = ["protect", "firms.csv", "-o", "out.csv", "--confidential", "wages,taxes", "--bound", "wages=2:1"]
    words += ["--bound", "tax=0:", "--integer", "taxes,size", "--edit", "wages * taxes <= 1", "--edit", "wages <= 3"]
    ended = CliRunner().invoke(app, words)
    assert isinstance(ended.exception, UsageError)
    for piece in (
        "'wages' contradict",
        "`bounds` names 'tax'",
        "`integer` names 'size'",
        "is not linear",
        "4 mistakes",
    ):
        assert piece in str(ended.exception)


# The original is held to them


def test_no_limits_are_none():
    assert learn() is None
    assert learn(integer=["wages"]) is None
    assert learn(bounds={"wages": (None, None)}) is None


def test_bounds_and_edits_become_matrices():
    limits = learn(bounds={"wages": (0, 100), "profit": (-1, None)}, edits=["cost: wages + taxes <= turnover"])
    assert limits.low.tolist() == [0, -np.inf, -np.inf, -1, -np.inf]
    assert limits.high.tolist() == [100, np.inf, np.inf, np.inf, np.inf]
    assert limits.C.tolist() == [[1, 1, -1, 0, 0]]
    assert limits.names == ("cost", "bounds of wages", "bounds of profit")


def test_observed_sign_keeps_signs_and_never_extremes():
    limits = learn(bounds=OBSERVED)
    assert limits.low.tolist() == [0, 0, 0, -np.inf, 0]
    assert np.isinf(limits.high).all()


def test_bounds_of_whole_numbers_are_whole():
    limits = learn(bounds={"wages": (-0.5, 7.9), "taxes": (-0.5, 7.9)}, integer=["wages"])
    assert (limits.low[0], limits.high[0]) == (0, 7)
    assert (limits.low[1], limits.high[1]) == (-0.5, 7.9)


def test_an_edit_with_given_columns_has_a_right_hand_side_for_each_record():
    limits = learn(edits=["wages + 0.5 * size <= turnover + size + 1", "taxes >= 0"])
    rows = MemoryRows(pa.table(FIRMS))
    design = Design.learn(rows, roles(edits=["taxes >= 0"]))
    filled = limits.beside(rows, design)
    assert filled.rhs == pytest.approx(np.array([[6, 0], [11, 0], [3.5, 0], [16, 0]]), rel=1e-13)
    assert (filled.rhs[:, 1] == 0).all()
    block = next(iter(rows.runs(design.columns)))[0]
    assert np.array_equal(limits.rhs_of(block), filled.rhs)
    Y = np.column_stack([FIRMS[name] for name in COLUMNS])
    assert filled.violations(Y) == {"wages + 0.5 * size <= turnover + size + 1": 0, "taxes >= 0": 0}
    Y[1, 0] = 20.0000001
    Y[2, 1] = -1e-30
    assert list(filled.violations(Y).values()) == [1, 1]


def test_an_original_that_leaves_its_limits_is_refused_with_counts_and_rows_and_no_values():
    message = left(
        {"wages": [-1234.5, 4.25, -777.25, 7.0]},
        bounds={"wages": (0, None), "turnover": (None, 11.125)},
        integer=["wages"],
        edits=["cost: wages + taxes <= turnover", "sum: total == wages + taxes"],
    )
    assert "bounds of wages does not hold in 2 records, first in rows 1, 3." in message
    assert "bounds of turnover does not hold in 1 record, first in row 4." in message
    assert "sum does not hold in 3 records, first in rows 1, 2, 3." in message
    assert "wages is not a whole number in 3 records, first in rows 1, 2, 3." in message
    assert "cost" not in message
    for value in ("1234", "777", "4.25", "11.125"):
        assert value not in message


def test_bounds_have_no_tolerance_and_edits_the_rounding_of_their_terms():
    assert "bounds of wages" in left({"wages": [3.0, -1e-300, 0.0, 7.0]}, bounds={"wages": (0, None)})
    a, b = np.array([0.1, 0.7, 1e9, 3.0]), np.array([0.2, 0.1, 1e-3, 4.0])
    change = {"wages": a, "taxes": b, "total": [0.3, 0.8, 1e9 + 1e-3, 7.0]}
    assert learn(change, edits=["sum: total == wages + taxes", "wages + taxes <= total"]) is not None
    change["total"] = [0.3 - 1e-14, 0.8, 1e9 + 1e-3, 7.0]
    assert "sum does not hold in 1 record, first in row 1." in left(change, edits=["sum: total == wages + taxes"])


def test_given_columns_that_nearly_cancel_have_their_rounding_too():
    more = {"given": "budget + spent", "confidential": ["wages"]}
    change = {"wages": [0.3, 0.1], "budget": [1e6, 1e9], "spent": [1e6 - 0.3, 1e9 - 0.1]}
    edits = ["wages <= budget - spent", "wages >= budget - spent", "wages == budget - spent"]
    table = pa.table(change)
    for edit in edits:
        rows = MemoryRows(table)
        assert Limits.learn(rows, Design.learn(rows, Roles(**more, edits=[edit]))) is not None
        rows = MemoryRows(table.set_column(0, "wages", pa.array([0.3, 0.1 + (-1e-4 if ">" in edit else 1e-4)])))
        with pytest.raises(InputError, match="does not hold in 1 record, first in row 2"):
            Limits.learn(rows, Design.learn(rows, Roles(**more, edits=[edit])))


def test_missing_values_are_left_to_those_who_look_for_them():
    asked = {"bounds": OBSERVED, "integer": ["wages"], "edits": ["wages <= turnover", "sum: total == wages + taxes"]}
    assert learn({"wages": [3.0, np.nan, 0.0, 7.0], "taxes": [1.0, np.inf, 0.0, 2.0]}, **asked) is not None


def test_equalities_are_verified_and_not_constrained():
    limits = learn(edits=["sum: total == wages + taxes"])
    assert limits.C.shape == (0, 5)
    assert limits.names == ()
    assert [edit.name for edit in limits.equalities] == ["sum"]
    Y = np.column_stack([FIRMS[name] for name in COLUMNS])
    b = np.zeros((4, 1))
    assert not limits.unequal(Y, b).any()
    Y[2, 4] += 1e-12 * 18  # of |9| + |7| + |2| in the last record
    assert not limits.unequal(Y, b).any()
    assert limits.gaps(Y, b)[:, 0].tolist() == [0, 0, 1e-12 * 18, 0]
    Y[2, 4] *= 1.01
    assert limits.unequal(Y, b)[:, 0].tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("given", "edit", "why"),
    [
        ("size - 1", "wages == 3", "has a constant and there is no intercept"),
        ("log(size)", "wages == 0.1 * size", "names 'size', which is no term of its own"),
        ("C(region):size", "wages == 0.1 * size", "names 'size', which is no term of its own"),
        ("C(size)", "wages == 0.1 * size", "names 'size', which is no term of its own"),
    ],
)
def test_an_equality_outside_the_span_of_the_given_columns_is_refused(given, edit, why):
    with pytest.raises(UsageError, match=why):
        learn(given=given, edits=[edit])


@pytest.mark.parametrize(
    ("given", "edit"),
    [("size", "wages == 0.1 * size + 1"), ("C(region) - 1", "wages == 3"), ("size - 1", "wages == 0.2 * size")],
)
def test_an_equality_in_the_span_is_taken(given, edit):
    size = np.array(FIRMS["size"])
    wages = {"wages == 3": 0 * size + 3, "wages == 0.2 * size": size / 5}.get(edit, size / 10 + 1)
    assert learn({"wages": wages.astype(float)}, given=given, edits=[edit]).equalities


def test_a_parquet_file_is_held_to_the_same_limits(tmp_path):
    generator = np.random.default_rng(1)
    n = 20_000
    wages, turnover = generator.gamma(2, 50, n), 1000 + generator.gamma(2, 50, n)
    turnover[[9_000, 19_999]] = 0
    table = pa.table({"wages": wages, "turnover": turnover, "size": generator.integers(1, 9, n)})
    pq.write_table(table, tmp_path / "firms.parquet")
    asked = Roles(confidential=["wages", "turnover"], given="size", edits=["cost: wages <= turnover + size"])
    messages = []
    for rows in (open_rows(tmp_path / "firms.parquet", 2, None), MemoryRows(table)):
        with pytest.raises(InputError) as caught:
            Limits.learn(rows, Design.learn(rows, asked))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "cost does not hold in 2 records, first in rows 9001, 20000." in messages[0]


def test_a_repr_holds_no_numbers():
    limits = learn(bounds={"wages": (0, 12345)}, edits=["cost: wages <= 54321"])
    assert repr(limits) == "Limits(cost, bounds of wages)"


def test_observed_signs_and_bounds_of_some_columns_go_together():
    """What is named wins, also where it is no bound at all; alone, the word stays what it was."""
    both = learn(bounds=[OBSERVED, ("taxes", (0, 5)), "wages=:"])
    assert both.low.tolist() == [-np.inf, 0.0, 0.0, -np.inf, 0.0]
    assert both.high.tolist() == [np.inf, 5.0, np.inf, np.inf, np.inf]
    assert BOUNDS.parse([OBSERVED, "taxes=0:5"], "--bound") == [OBSERVED, "taxes=0:5"]
    assert BOUNDS.parse([OBSERVED], "--bound") == roles(bounds=[OBSERVED]).bounds == OBSERVED
    settled = roles(bounds=[OBSERVED, "taxes=0:5"])
    assert replace(settled, given="").bounds == settled.bounds == (OBSERVED, ("taxes", (0.0, 5.0)))
    assert roles(bounds=BOUNDS.spell(settled.bounds)).bounds == settled.bounds
    assert "'tax'" in refused(bounds=[OBSERVED, "tax=0:5"])


def test_a_plan_and_a_part_of_the_columns_have_both_too():
    words = ["observed-sign", "taxes=0:5"]
    tables = {"data": {"path": "f.csv"}, "roles": {"confidential": list(COLUMNS), "bounds": words}}
    plan = Plan.of({**tables, "release": {"path": "o.csv"}})
    assert Plan.parse(plan.to_toml()).roles.build().bounds == roles(bounds=words).bounds
    rows = MemoryRows(pa.table({**FIRMS, "o": FIRMS["wages"]}))
    design = Design.learn(rows, Roles(confidential=["o", "taxes", "profit"], bounds=words))
    assert design.part(["taxes"]).roles.bounds == (OBSERVED, ("taxes", (0.0, 5.0)))
    assert design.part(["profit"]).roles.bounds == OBSERVED
