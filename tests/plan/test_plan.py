"""A plan says all its mistakes at once, and survives the round trip through TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.demo import PLAN, firms
from suffice.errors import FileError, UsageError
from suffice.files import toml
from suffice.plan.plan import Plan

SMALL = {
    "data": {"path": "firms.csv"},
    "roles": {"confidential": ["wages"], "given": "C(region)"},
    "method": [{"name": "ipso"}],
    "release": {"path": "out.csv"},
}


def wrong(**tables: object) -> str:
    with pytest.raises(UsageError) as caught:
        Plan.of({**SMALL, **tables})
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_the_demonstration_plan_is_a_plan():
    plan = Plan.parse(PLAN)
    assert plan.build_method().name == "rotate"
    assert plan.roles.build().weight == "weight"


def test_unknown_key_is_named_with_its_path_and_the_nearest_key():
    text = wrong(roles={"confidental": ["wages"]})
    assert "roles.confidental: unknown key. Did you mean 'confidential'?" in text
    assert "roles.confidential: missing." in text
    assert "2 mistakes" in text


def test_all_mistakes_come_at_once():
    text = wrong(
        date={"path": "x"},
        data={"path": 3},
        method=[{"name": "ipsso"}, {"name": "restore", "full": True}],
        accept={"outlyers": "fine"},
        release={"path": "out.csv", "force": "yes"},
    )
    for piece in (
        "date: unknown key. Did you mean 'data'?",
        "data.path:",
        "method[1]: There is no method 'ipsso'. Did you mean 'ipso'?",
        "method[2].full: unknown parameter. Did you mean 'fill'?",
        "accept.outlyers: unknown rule. Did you mean 'outliers'?",
        "release.force:",
    ):
        assert piece in text
    assert "6 mistakes" in text


def test_a_value_that_a_method_refuses_is_a_mistake_of_the_plan():
    assert "method[1]: residual-correlation: d must be" in wrong(method=[{"name": "residual-correlation", "d": 1.5}])


def test_a_step_that_cannot_follow_is_a_mistake_of_the_plan():
    assert "ipso takes no data set" in wrong(method=[{"name": "romm", "lam": 1.0}, {"name": "ipso"}])


def test_a_column_in_two_roles_is_a_mistake_of_the_plan():
    assert "roles: Column 'wages'" in wrong(roles={"confidential": ["wages"], "given": "wages"})


@pytest.mark.parametrize("method", [{}, "ipso", None])
def test_a_plan_with_no_list_of_methods_is_refused(method):
    assert "method" in wrong(method=method)


def test_steps_run_in_order():
    plan = Plan.of({**SMALL, "method": [{"name": "mixture", "d": 0.5}, {"name": "restore"}]})
    assert plan.build_method().name == "mixture then restore"


def test_paths_are_relative_to_the_plan(tmp_path: Path):
    steps = [{"name": "restore", "candidate": "candidate.csv"}]
    (tmp_path / "plan.toml").write_text(toml.write({**SMALL, "method": steps}))
    plan = Plan.read(tmp_path / "plan.toml")
    assert plan.path(plan.data.path) == tmp_path / "firms.csv"
    assert plan.build_method().companion == tmp_path / "candidate.csv"


def test_a_missing_plan_and_one_that_is_not_toml(tmp_path: Path):
    with pytest.raises(FileError, match="cannot be read"):
        Plan.read(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="not TOML"):
        Plan.parse("[data\n")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    with pytest.raises(UsageError, match="UTF-8"):
        Plan.read(tmp_path / "latin.toml")


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
numbers = st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.booleans()
values = texts | numbers | st.lists(texts) | st.lists(st.floats(allow_nan=False))


@given(st.dictionaries(texts, values))
def test_written_toml_reads_back(table: dict[str, object]):
    assert tomllib.loads(toml.write({"table": table})) == {"table": table}


columns = st.lists(st.text("abcdefg ü\"'\\\n=#[]", min_size=1), min_size=2, max_size=5, unique=True)


@given(columns, st.integers(0, 9), st.floats(0.01, 100), st.booleans())
def test_round_trip(names: list[str], merge_below: int, lam: float, force: bool):
    roles = {"confidential": names[:1], "given": names[1:], "merge_below": merge_below}
    steps = [{"name": "romm", "lam": lam}, {"name": "restore"}]
    plan = Plan.of({**SMALL, "roles": roles, "method": steps, "release": {"path": "x", "force": force}})
    assert Plan.parse(plan.to_toml()) == plan


def test_a_written_plan_has_a_section_for_each_part_in_the_order_of_the_work():
    steps = [{"name": "mixture", "d": 0.5}, {"name": "restore"}]
    text = Plan.of({**SMALL, "method": steps, "accept": {"outliers": "agreed"}}).to_toml()
    heads = [line for line in text.splitlines() if line.startswith("[")]
    assert heads == ["[data]", "[roles]", "[[method]]", "[[method]]", "[accept]", "[release]"]


def test_values_that_are_not_controlled_survive_toml():
    plan = Plan.of({**SMALL, "method": [{"name": "score-correlation", "d": [0.5, None]}]})
    assert Plan.parse(plan.to_toml()).build_method() == plan.build_method()


def test_run_protects_and_writes(tmp_path: Path):
    pq.write_table(firms(200), tmp_path / "firms.parquet")
    roles = {"confidential": ["wages", "taxes"], "given": "C(region) + log(employees)", "merge_below": 5}
    tables = {**SMALL, "data": {"path": "firms.parquet"}, "roles": roles}
    (tmp_path / "plan.toml").write_text(Plan.of(tables).to_toml())
    release = Plan.read(tmp_path / "plan.toml").run()
    assert release.certificate.holds
    assert (tmp_path / "out.csv").exists()
    with pytest.raises(FileError, match="exists"):
        Plan.read(tmp_path / "plan.toml").run()


def test_what_stands_where_a_table_or_a_list_belongs_is_said_plainly(tmp_path):
    wrong = 'data = "firms.csv"\nroles = 4\nrelease = {path = 3, force = "no"}\n[method]\nname = "ipso"\n'
    with pytest.raises(UsageError) as error:
        Plan.parse(wrong)
    assert "data: must be a table, [data], with path, encoding." in str(error.value)
    assert "method: must be a list, a table [[method]] for each." in str(error.value)
    assert "release.force: must be true or false." in str(error.value)
    assert "Input" not in str(error.value)


def test_a_file_beside_the_plan_is_blended(tmp_path):
    text = (
        'data = {path = "a.csv"}\nroles = {confidential = ["y"]}\nrelease = {path = "b.csv"}\n'
        '[[method]]\nname = "blend"\nother = "made.csv"\n'
    )
    assert Plan.parse(text, folder=tmp_path).build_method().companion == tmp_path / "made.csv"
