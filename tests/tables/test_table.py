"""Tables from records and from cells: their cells, their equations, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from suffice.demo import firms
from suffice.errors import InputError, UsageError
from suffice.tables.audit import audit
from suffice.tables.columns import numbers_of
from suffice.tables.rules import (
    DirectDisclosure,
    Dominance,
    FewContributors,
    MinimumFrequency,
    OnRequest,
    PPercent,
    PriorPosterior,
    rule_of,
)
from suffice.tables.sensitivity import Prior, find_sensitive, read_priors
from suffice.tables.table import Table


def table_of_firms(**more) -> Table:
    return Table.of_records(firms(300), ["region", "industry"], ["turnover"], **more)


def test_cells_are_sums_of_records():
    frame = firms(300).to_pandas()
    table = table_of_firms()
    for region, industry in [("Total", "Total"), (frame.region[0], "Total"), (frame.region[0], frame.industry[0])]:
        here = ((frame.region == region) | (region == "Total")) & ((frame.industry == industry) | (industry == "Total"))
        cell = table.find(region, industry)
        assert np.isclose(table.values["turnover"][cell], frame.turnover[here].sum())
        assert table.values["count"][cell] == here.sum()
    assert np.abs(table.relations @ table.values["count"]).max() == 0
    assert (np.abs(table.relations).sum(axis=1) >= 3).all()
    assert (table.relations.toarray() == -1).sum(axis=1).tolist() == [1] * table.relations.shape[0]


def test_every_cell_follows_from_the_inner_ones():
    """The rank of T leaves as much freedom as there are inner cells: no relation is missing, linked ones too."""
    rng = np.random.default_rng(1)
    region = rng.integers(0, 6, 200)
    data = {"region": region.astype(str), "county": np.char.add("c", (region // 2).astype(str))}
    kind = rng.integers(0, 4, 200)
    data |= {"kind": np.char.add("k", kind.astype(str)), "sector": np.char.add("s", (kind // 2).astype(str))}
    linked = "region * sector + county * kind"
    for how, inner in (({"dims": list(data)}, 24), ({"formula": linked}, 24), ({"formula": "county * kind - 1"}, 12)):
        table = Table.of_records(data, **how)
        assert len(table) - np.linalg.matrix_rank(table.relations.toarray()) == inner
    table = Table.of_records(data, formula=linked)
    assert table.hidden.sum() == 24
    assert len(table.frame()) == 1 + 6 + 2 + 12 + 3 + 4 + 12
    with pytest.raises(UsageError, match="as they are"):
        Table.of_records({"a": [1, 2]}, formula="log(a)")


def test_one_child_is_one_cell_under_two_names():
    table = Table.of_records(
        {"region": list("abc"), "county": ["1", "1", "2"], "v": [1, 2, 3]}, ["region", "county"], ["v"]
    )
    assert table.find("c") == table.find("2")
    assert sorted(table.frame()["region"].to_pylist()) == ["1", "2", "Total", "a", "b", "c"]
    assert len(table) == 5
    assert len(table.frame()) == 6


def cells(**more) -> dict:
    return {
        "a": ["Total", "x", "y"] * 3,
        "b": ["Total"] * 3 + ["u"] * 3 + ["w"] * 3,
        "v": [10, 4, 6, 7, 3, 4, 3, 1, 2],
        **more,
    }


def test_a_file_of_cells():
    table = Table.of_cells(cells(), ["a", "b"], ["v"])
    assert table.relations.shape == (6, 9)
    several = cells(b=["Ialt"] * 3 + ["u"] * 3 + ["w"] * 3)
    assert Table.of_cells(several, ["a", "b"], ["v"], total=["Total", "Ialt"]).grid.axes[1].total == "Ialt"
    assert Table.of_cells(several, ["a", "b"], ["v"], total={"b": "Ialt"}).relations.shape == (6, 9)
    years = {"t": ["1", "1", "2", "2", "1", "2"], "a": ["x", "y", "x", "y", "Total", "Total"], "v": [1, 2, 3, 4, 3, 7]}
    assert Table.of_cells(years, ["t", "a"], ["v"], total={"t": None}).relations.shape == (2, 6)


def test_two_total_codes_of_one_dimension_are_one_cell():
    data = {"a": ["Total", "All", "x", "y"], "v": [3, 3, 1, 2]}
    table = Table.of_cells(data, ["a"], ["v"], total=["Total", "All"])
    assert np.abs(table.relations @ table.values["v"]).max() == 0
    with pytest.raises(InputError, match="does not add up"):
        Table.of_cells({**data, "v": [3, 4, 1, 2]}, ["a"], ["v"], total=["Total", "All"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"v": [10, 4, 6, 7, 3, 4, 3, 1, 3]}, r"a=Total, b=w.* is 1 off|a=y, b=Total.* is 1 off"),
        ({"a": ["All", "x", "y"] * 3}, "total is missing: no cell of a"),
        ({"v": [10, 4, 6, 7, 3, 4, 3, 1, None], "b": ["Total"] * 3 + ["u"] * 3 + ["w", "w", "u"]}, "twice|add up"),
        ({"v": ["1"] * 8 + ["one"]}, "no number"),
        ({"v": [np.inf] * 9}, "no finite number"),
        ({"a": [None, "x", "y"] * 3}, "no code in 3 rows"),
    ],
)
def test_cells_that_are_no_table_are_refused_with_the_place(change, said):
    with pytest.raises(InputError, match=said):
        Table.of_cells(cells(**change), ["a", "b"], ["v"])


def test_a_missing_total_is_refused_with_the_place():
    data = {name: values[:6] + values[7:] for name, values in cells().items()}
    with pytest.raises(InputError, match="no cell a=Total, b=w"):
        Table.of_cells(data, ["a", "b"], ["v"])
    inner = {name: values[:8] for name, values in cells(v=[8, 4, 4, 7, 3, 4, 1, 1]).items()}
    assert len(Table.of_cells(inner, ["a", "b"], ["v"])) == 8  # what is absent is empty


@pytest.mark.parametrize(("value", "said"), [([3, 1, 2.5], "no whole number"), ([3, 4, -1], "negative")])
def test_counts_that_are_none(value, said):
    data = {"a": ["Total", "x", "y"], "n": value}
    with pytest.raises(InputError, match=said):
        Table.of_cells(data, ["a"], ["n"], counts=["n"])
    with pytest.raises(InputError, match="negative or fractional"):
        Table.of_records({"a": ["x", "y"], "n": value[1:]}, ["a"], frequency="n")


def test_linked_tables_share_their_cells_or_are_refused():
    first = Table.of_cells(cells(), ["a", "b"], ["v"])
    second = Table.of_cells({"a": ["Total", "x", "y"], "v": [10, 4, 6]}, ["a"], ["v"])
    third = Table.of_cells({"c": ["Total", "p", "q"], "v": [10, 5, 5]}, ["c"], ["v"])
    linked = Table.linked([first, second, third])
    assert len(linked) == 9 + 2
    assert linked.relations.shape == (6 + 1 + 1, 11)
    wrong = Table.of_cells({"a": ["Total", "x", "y"], "v": [10, 5, 5]}, ["a"], ["v"])
    with pytest.raises(InputError, match="a=x, b=Total is there twice"):
        Table.linked([first, wrong])


def test_impossible_cells_are_known_to_be_empty():
    data = {"a": list("xxy"), "b": list("uwu"), "v": [1, 2, 3]}
    table = Table.of_records(data, ["a", "b"], ["v"], impossible=[("y", "w")])
    assert table.impossible.sum() == 1
    found = find_sensitive(table, [MinimumFrequency(2, zeros=True)], "v")
    assert not found.sensitive[table.find("y", "w")]
    with pytest.raises(InputError, match="a=x, b=u is said to be impossible"):
        Table.of_records(data, ["a", "b"], ["v"], impossible=[("x", "u")])
    with pytest.raises(UsageError, match="'z'"):
        Table.of_records(data, ["a", "b"], ["v"], impossible=[("z", "u")])


def test_codes_that_mean_two_things_are_refused():
    with pytest.raises(InputError, match="'1' for two things"):
        Table.of_records({"region": ["1", "2", "3"], "county": ["1", "1", "2"]}, ["region", "county"])
    with pytest.raises(InputError, match="'Total' for two things"):
        Table.of_records({"region": ["Total", "b"]}, ["region"])
    with pytest.raises(InputError, match="no lowest codes"):
        Table.of_records({"region": ["a", "z"]}, ["region"], hierarchies={"region": ["T", "a", "b"]})


def behind(x: list[float], **more) -> Table:
    """A cell x of these contributions, beside a cell y."""
    data = {"a": ["x"] * len(x) + ["y"], "v": [*x, 1.0]} | {name: [*each, each[-1]] for name, each in more.items()}
    return Table.of_records(data, ["a"], ["v"], **{name: name for name in more})


@pytest.mark.parametrize(
    ("rule", "x", "level"),
    [
        (Dominance(1, 70), [77, 20, 3], 10.0),  # Cox: v1 / .7 - v
        (Dominance(2, 90), [77, 20, 3], 100 / 90 * 97 - 100),
        (PPercent(10), [77, 20, 3], 7.7 - 3),
        (PriorPosterior(10, 50), [77, 20, 3], 0.2 * 77 - 3),
        (Dominance(1, 70), [-77, 20, 3], 10.0),
    ],
)
def test_protection_levels_are_those_of_the_handbook(rule, x, level):
    table = behind(x)
    found = find_sensitive(table, [rule], "v")
    cell = table.find("x")
    assert found.sensitive[cell]
    assert np.isclose(found.upper[cell], level)
    if min(x) > 0:
        assert np.isclose(found.lower[cell], level)


def test_a_threshold_that_is_met_exactly_is_not_passed():
    table = behind([70, 20, 10])
    assert not find_sensitive(table, [Dominance(1, 70)], "v").sensitive[table.find("x")]
    table = behind([50, 45, 5])
    assert not find_sensitive(table, [PPercent(10)], "v").sensitive[table.find("x")]
    assert find_sensitive(table, [PPercent(10.1)], "v").sensitive[table.find("x")]


def test_requests_and_waivers():
    for asked, expected in ((["yes", "", ""], True), (["", "yes", ""], False)):
        table = behind([80, 15, 5], asked=asked)
        assert find_sensitive(table, [OnRequest(70)], "v").sensitive[table.find("x")] == expected
    table = behind([80, 15, 5], waived=["yes", "", ""])
    found = find_sensitive(table, [PPercent(10), Dominance(1, 70)], "v")
    assert not found.sensitive[table.find("x")]  # 15 is told within 33 %
    assert find_sensitive(table, [PPercent(40)], "v").sensitive[table.find("x")]
    both = behind([80, 20], waived=["yes", "yes"])
    assert not find_sensitive(both, [FewContributors(3), MinimumFrequency(3)], "v").sensitive[both.find("x")]


def test_a_holding_is_one_contributor_with_weights_too():
    data = {
        "a": ["x"] * 4 + ["y"],
        "v": [30.0, 30, 25, 15, 9],
        "firm": list("pqrst"),
        "owner": ["H", "H", None, None, None],
    }
    data |= {"w": [1.0, 2, 1, 2, 1]}
    apart = Table.of_records(data, ["a"], ["v"], contributor="firm")
    owned = Table.of_records(data, ["a"], ["v"], contributor="firm", holding="owner")
    assert [t.makeup("v").largest[t.find("x"), 0] for t in (apart, owned)] == [30, 60]
    weighed = Table.of_records(data, ["a"], ["v"], contributor="firm", holding="owner", weight="w")
    makeup, repeated = weighed.makeup("v"), weighed.makeup("v", "repeated")
    cell = weighed.find("x")
    assert (makeup.size[cell], makeup.records[cell], makeup.units[cell]) == (30 + 60 + 25 + 30, 4, 3)
    assert makeup.largest[cell, :2].tolist() == [60, 25]
    assert repeated.largest[cell, :2].tolist() == [60, 0.5 * 60 + 0.5 * 25]  # the holding weighs 90 / 60


def test_priors(tmp_path):
    table = behind([10] * 10)
    (tmp_path / "own.csv").write_text("a,status,cost,lower,upper\nx,unsafe,5,3,8\n")
    (tmp_path / "tau.hst").write_text("x;u\nx;pl;3;8\nx;c;5\n")
    for name in ("own.csv", "tau.hst"):
        found = find_sensitive(table, [PPercent(10)], "v", priors=read_priors(tmp_path / name, ["a"]))
        cell = table.find("x")
        assert (found.sensitive[cell], found.lower[cell], found.upper[cell], found.cost[cell]) == (True, 3, 8, 5)
    assert not find_sensitive(behind([9, 1]), [PPercent(10)], "v", priors=[Prior(("x",), "safe")]).sensitive[1]
    with pytest.raises(InputError, match="must be published and is sensitive"):
        find_sensitive(behind([9, 1]), [PPercent(10)], "v", priors=[Prior(("x",), "forced")])
    with pytest.raises(InputError, match="above the cell's value"):
        find_sensitive(table, [], "v", priors=[Prior(("x",), "unsafe", lower=101.0)])
    with pytest.raises(UsageError, match="no cell"):
        find_sensitive(table, [], "v", priors=[Prior(("nowhere",), "unsafe")])
    (tmp_path / "bad.hst").write_text("x;what\n")
    with pytest.raises(InputError, match="Line 1"):
        read_priors(tmp_path / "bad.hst", ["a"])


def test_rules_need_what_they_judge_by():
    table = Table.of_cells(cells(), ["a", "b"], ["v"])
    for rule in (MinimumFrequency(3), FewContributors(3), PPercent(10), Dominance(1, 70)):
        with pytest.raises(UsageError, match=r"from records|Name|name"):
            find_sensitive(table, [rule])
    known = Table.of_cells(
        cells(n=[9, 4, 5, 6, 2, 4, 3, 2, 1], big=[9] * 9), ["a", "b"], ["v"], units="n", largest=["big"]
    )
    assert find_sensitive(known, [FewContributors(2), Dominance(1, 100)]).sensitive.any()
    gap = Table.of_cells({"a": ["Total", "x", "y"], "n": [5, 2, None]}, ["a"], ["n"], counts=["n"])
    with pytest.raises(UsageError, match=r"of 1 of 3 it is not known.\n.*fill in the cells without a value"):
        find_sensitive(gap, [MinimumFrequency(3)])


def test_direct_disclosure_looks_at_the_cells_around():
    table = Table.of_records({"a": list("xxxyyy"), "b": list("uuwuuu")}, ["a", "b"])
    found = find_sensitive(table, [DirectDisclosure(1)])
    assert found.sensitive[table.find("x", "u")]
    assert found.sensitive[table.find("y", "u")]
    assert found.sensitive[table.find("x", "w")]  # the only one of w
    assert not found.sensitive[table.find("x", "Total")]


@pytest.mark.parametrize(
    "text", ["dominance=2", "dominance=0,80", "dominance=1.5,80", "p=ten", "q=3", "pq=3,0", "p=-1"]
)
def test_rules_that_are_none(text):
    with pytest.raises(UsageError):
        rule_of(text)


@pytest.mark.parametrize(
    ("rule", "numbers"),
    [
        (MinimumFrequency, (np.nan,)),
        (MinimumFrequency, (3, False, -1.0)),
        (FewContributors, (np.inf,)),
        (PPercent, (np.nan,)),
        (PPercent, (-10,)),
        (PriorPosterior, (10, 0)),
        (OnRequest, (0,)),
        (Dominance, (1.5, 70)),
        (Dominance, (9, 70)),
    ],
)
def test_rules_of_numbers_that_are_none(rule, numbers):
    with pytest.raises(UsageError, match=r"needs a number|whole number"):
        rule(*numbers)


def test_no_value_is_in_what_is_printed_of_a_table():
    table = behind([51234.0, 7.0])
    found = find_sensitive(table, [PPercent(10)], "v")
    assert "5123" not in repr(table) + repr(found) + repr(table.makeup("v")) + repr(table.contributors)


def test_no_harmless_table_is_called_sensitive():
    table = table_of_firms()
    found = find_sensitive(table, [PPercent(1)], "turnover")
    assert found.sensitive.mean() < 0.2


@pytest.mark.parametrize("total", [1.0, 1e308])
def test_numbers_that_are_too_large_to_add_up_are_refused(total: float):
    with pytest.raises(InputError, match="too large"):
        Table.of_cells({"a": ["Total", "x", "y"], "v": [total, 1e308, 1e308]}, ["a"], ["v"])
    with pytest.raises(InputError, match="too large"):
        Table.of_records({"a": list("xxy"), "v": [1e308, 1e308, total]}, ["a"], ["v"])


@pytest.mark.parametrize("head", ["a,Status", "a,b", "a"])
def test_decisions_under_names_that_nobody_knows_are_refused(tmp_path, head: str):
    where = tmp_path / "priors.csv"
    where.write_text(f"{head}\n{'x,unsafe' if ',' in head else 'x'}\n")
    with pytest.raises(InputError, match="status, cost, lower, upper"):
        read_priors(where, ["a"])


def test_a_column_is_a_dimension_or_a_value():
    data = {"a": ["x", "y"], "v": [1, 2]}
    for make in (Table.of_records, Table.of_cells):
        for dims, values in ((["a", "v"], ["v"]), (["a"], ["v", "v"]), (["a", "a"], ["v"])):
            with pytest.raises(UsageError, match="there twice"):
                make(data, dims, values)


def test_totals_of_records_have_codes_by_dimension_and_second_names():
    data = {"a": list("xyx"), "b": list("uvv")}
    table = Table.of_records(data, ["a", "b"], total={"a": ["All", "Total"], "b": "Sum"})
    assert table.find("Total", "Sum") == table.find("All", "Sum")
    assert len(table) == 9
    with pytest.raises(UsageError, match="b needs a code"):
        Table.of_records(data, ["a", "b"], total={"b": None})


def test_a_value_that_says_how_many_a_record_stands_for_is_a_count():
    records = {"a": list("xxyy"), "b": list("uvuv"), "n": [0, 1, 1, 9], "w": [1, 1, 1, 2]}
    table = Table.of_records(records, ["a", "b"], ["n"], frequency="n")
    assert table.counts == {"count", "n"}
    inner = np.isin(np.arange(len(table)), [table.find(a, b) for a in "xy" for b in "uv"])
    rules = [MinimumFrequency(2, zeros=True)]
    by_name = {name: audit(table, inner, find_sensitive(table, rules, name)) for name in ("count", "n")}
    assert by_name["n"].text().replace("'n'", "'count'") == by_name["count"].text()
    assert "3 have two" in by_name["n"].text()
    assert "lone contributor" not in by_name["n"].text()
    assert not Table.of_records(records, ["a", "b"], ["n"], frequency="n", weight="w").counts


def test_codes_that_differ_by_nothing_that_is_seen_are_refused():
    with pytest.raises(InputError, match="NUL byte"):
        Table.of_records({"a": ["x", "x\0"], "v": [1, 2]}, ["a"], ["v"])


@pytest.mark.parametrize(("value", "said"), [(2**53 + 1, "beyond 2\\^53"), ("many", "text that is no number")])
def test_numbers_that_no_float_holds_are_not_called_text(value, said):
    with pytest.raises(InputError, match=said):
        numbers_of(pa.table({"n": [value, value]}), "n")
