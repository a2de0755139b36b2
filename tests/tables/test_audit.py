"""The audit tells the truth: against all tables that fit, written out; and what it must never call safe."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from suffice.errors import InfeasibleError, InputError
from suffice.tables.audit import EXPOSED, PROTECTED, UNJUDGED, audit
from suffice.tables.rules import Dominance, FewContributors, MinimumFrequency, PPercent
from suffice.tables.sensitivity import Prior, find_sensitive
from suffice.tables.solver import NoAnswer, Solver
from suffice.tables.table import Table
from tests.places import needs_shared
from tests.tables.test_reference import CASES, read, table_of


def table_of_counts(shape: tuple[int, ...], counts: list[int]) -> Table:
    grid = np.array(list(product(*(range(size) for size in shape))))
    columns = {f"d{k}": [f"{k}{code}" for code in grid[:, k]] for k in range(len(shape))}
    return Table.of_records({**columns, "n": counts}, list(columns), frequency="n")


def fitting(table: Table, gaps: np.ndarray, most: int) -> np.ndarray:
    """All tables of whole numbers from zero that have the published cells, by trying every one."""
    inner = [
        c
        for c in range(len(table))
        if all(p in a.leaves for a, p in zip(table.grid.axes, table.grid.codes[c], strict=True))
    ]
    assert table.holding is not None
    x = table.values["count"]
    unknown = gaps | table.hidden
    ranges = [range(most + 1) if unknown[c] else [int(x[c])] for c in inner]
    order = np.argmax(table.holding.toarray()[inner], axis=1)  # the inner cell's own column
    tries = np.array(list(product(*ranges)), dtype=np.int16)
    every = tries @ table.holding.toarray()[:, order].T.astype(np.int16)
    return every[(every[:, ~unknown] == x[~unknown]).all(axis=1)]


@settings(max_examples=30, deadline=None)
@given(
    shape=st.sampled_from([(2, 3), (3, 3), (2, 2, 2)]),
    counts=st.lists(st.integers(0, 3), min_size=12, max_size=12),
    marks=st.lists(st.booleans(), min_size=64, max_size=64),
)
def test_intervals_are_those_of_all_tables_that_fit(shape, counts, marks):
    table = table_of_counts(shape, counts[: int(np.prod(shape))])
    gaps = np.array(marks[: len(table)])
    leaf = np.all([np.isin(table.grid.codes[:, k], axis.leaves) for k, axis in enumerate(table.grid.axes)], axis=0)
    gaps &= leaf  # totals are published, so that there is an end to trying
    assume(0 < gaps.sum() <= 5)
    every = fitting(table, gaps, 9)  # of three cells of at most three
    found = audit(table, gaps, value="count")
    assert len(found.targets) == gaps.sum()
    for target in found.targets:
        values = np.unique(every[:, target.cells[0][0]])
        assert target.exact
        assert target.low <= values[0] + 1e-6
        assert target.high >= values[-1] - 1e-6
        assert target.numbers == min(3, len(values))
        assert (target.verdict == EXPOSED) == (len(values) < 3)
        if len(shape) == 2:  # there the real ends are whole numbers
            assert np.allclose([target.low, target.high], [values[0], values[-1]], atol=1e-6)


TREE = ["T", ["A", "a1", "a2"], ["B", "b1", "b2"]]


@settings(max_examples=25, deadline=None)
@given(
    linked=st.booleans(),
    counts=st.lists(st.integers(0, 2), min_size=8, max_size=8),
    marks=st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_so_they_are_in_hierarchies_and_in_linked_crossings(linked, counts, marks):
    """Subtotals are suppressed as well, and a formula leaves out the inner cells: the grand total is there."""
    if linked:
        data = {"a": list("xxyy"), "b": list("uvuv"), "n": counts[:4]}
        table = Table.of_records(data, formula="a + b", frequency="n")
    else:
        data = {"a": ["a1", "a2", "b1", "b2"] * 2, "b": list("uuuuvvvv"), "n": counts}
        table = Table.of_records(data, ["a", "b"], frequency="n", hierarchies={"a": TREE, "b": ["S", "u", "v"]})
    top = int(np.argmax(np.diff(table.holding.indptr)))
    gaps = np.array(marks[: len(table)]) & ~table.hidden
    gaps[top] = False
    leaf = np.all([np.isin(table.grid.codes[:, k], axis.leaves) for k, axis in enumerate(table.grid.axes)], axis=0)
    assume(gaps.any() and ((gaps | table.hidden) & leaf).sum() <= 4)
    every = fitting(table, gaps, int(table.values["count"][top]))
    found = audit(table, gaps, value="count")
    for target in found.targets:
        values = np.unique(every[:, target.cells[0][0]])
        assert target.numbers == min(3, len(values))
        assert target.low <= values[0] + 1e-6
        assert target.high >= values[-1] - 1e-6
        assert (target.verdict == EXPOSED) == (len(values) < 3)


def test_screening_and_every_single_problem_agree():
    rng = np.random.default_rng(3)
    records = {"a": rng.integers(0, 6, 150).astype(str), "b": rng.integers(0, 7, 150).astype(str)}
    table = Table.of_records({**records, "v": rng.lognormal(0, 1.5, 150)}, ["a", "b"], ["v"])
    secret = find_sensitive(table, [PPercent(20), FewContributors(3)], "v")
    gaps = secret.sensitive | (rng.random(len(table)) < 0.15)
    found = [
        {(*t.cells, t.insider): t.verdict for t in audit(table, gaps, secret, exact=e).targets} for e in (True, False)
    ]
    assert found[0] == found[1]
    assert {EXPOSED, PROTECTED} <= set(found[0].values())
    assert found[0] == {(*t.cells, t.insider): t.verdict for t in audit(table, gaps, secret, threads=1).targets}


def firms(cells: dict[tuple[str, str], list[float]]) -> Table:
    """A 2 x 3 table of firms, each its own contributor."""
    rows = [(*codes, value) for codes, values in cells.items() for value in values]
    a, b, v = zip(*rows, strict=True)
    return Table.of_records({"a": a, "b": b, "v": v}, ["a", "b"], ["v"])


MANY = [10.0] * 10


def gaps_at(table: Table, *cells: tuple[str, str]) -> np.ndarray:
    return np.isin(np.arange(len(table)), [table.find(*cell) for cell in cells])


def test_a_lone_gap_is_no_gap():
    table = firms({("x", "u"): [5.0, 1.0], ("x", "w"): MANY, ("y", "u"): MANY, ("y", "w"): MANY})
    secret = find_sensitive(table, [PPercent(10)], "v")
    found = audit(table, gaps_at(table, ("x", "u")), secret)
    assert [t.verdict for t in found.targets] == [EXPOSED]
    assert not found.holds
    square = [("x", "u"), ("x", "w"), ("y", "u"), ("y", "w")]
    assert audit(table, gaps_at(table, *square), secret).holds


def test_a_sensitive_cell_that_is_published_is_exposed():
    table = firms({("x", "u"): [5.0, 1.0], ("x", "w"): MANY})
    found = audit(table, np.zeros(len(table), dtype=bool), find_sensitive(table, [PPercent(10)], "v"))
    assert {t.verdict for t in found.targets} == {EXPOSED}


def test_two_cells_of_one_firm_each_are_told_together():
    """Each cell is free, and their sum is a cell of two firms: each learns the other's value."""
    cells = {("x", "u"): [50.0], ("x", "w"): [40.0], ("x", "z"): MANY}
    table = firms(cells | {("y", "u"): MANY, ("y", "w"): MANY, ("y", "z"): MANY})
    secret = find_sensitive(table, [FewContributors(3)], "v")
    gaps = gaps_at(table, ("x", "u"), ("x", "w"), ("y", "u"), ("y", "w"))
    found = audit(table, gaps, secret)
    alone = [t for t in found.targets if not t.is_sum and t.insider is None]
    assert {t.verdict for t in alone} == {PROTECTED}
    assert [t.verdict for t in found.targets if t.is_sum and t.insider is None] == [EXPOSED]
    inside = [t for t in found.targets if t.insider is not None]
    assert {t.verdict for t in inside} == {EXPOSED}  # each of the two, who knows its own cell
    assert len(inside) == 2
    assert all(np.isclose(t.low, t.high) for t in inside)


def test_a_holding_knows_the_cells_of_all_its_firms():
    a, b = list("xxxyyy") + list("xy") * 20, list("uwzuwz") + ["z"] * 40
    firm = [f"f{k}" for k in range(6)] + [f"g{k}" for k in range(40)]
    data = {"a": a, "b": b, "v": [9.0, 8, 7, 6, 5, 4] + [3.0] * 40, "firm": firm}
    owner = ["H", None, None, None, "H", None] + [None] * 40
    plain = Table.of_records(data, ["a", "b"], ["v"], contributor="firm")
    owned = Table.of_records({**data, "owner": owner}, ["a", "b"], ["v"], contributor="firm", holding="owner")
    for table, insiders in ((plain, 4), (owned, 3)):
        secret = find_sensitive(table, [FewContributors(2)], "v")
        gaps = gaps_at(table, ("x", "u"), ("x", "w"), ("y", "u"), ("y", "w"))
        found = audit(table, gaps, secret)
        assert len({t.insider for t in found.targets if t.insider is not None}) == insiders


def test_a_published_table_of_others_is_audited_and_never_called_safe():
    cells = {"a": ["Total", "x", "y"] * 3, "b": ["Total"] * 3 + ["u"] * 3 + ["w"] * 3}
    values = [20, 12, 8, 11, None, None, 9, None, None]
    table = Table.of_cells({**cells, "n": values}, ["a", "b"], ["n"], counts=["n"])
    found = audit(table, np.isnan(table.values["n"]))
    assert next((t.low, t.high, t.verdict) for t in found.targets) == (3.0, 11.0, UNJUDGED)
    assert not found.holds
    assert not found.exposed
    told = Table.of_cells({**cells, "n": [*values[:7], 5, None]}, ["a", "b"], ["n"], counts=["n"])
    assert {t.verdict for t in audit(told, np.isnan(told.values["n"])).targets} == {EXPOSED}
    wrong = Table.of_cells({**cells, "n": [20, 12, 8, 11, None, None, 9, 13, None]}, ["a", "b"], ["n"])
    with pytest.raises(InfeasibleError, match="contradict"):
        audit(wrong, np.isnan(wrong.values["n"]))


def test_a_cell_without_value_must_be_marked_as_suppressed():
    table = Table.of_cells({"a": ["Total", "x", "y"], "n": [5, None, None]}, ["a"], ["n"])
    with pytest.raises(InputError, match="a=x"):
        audit(table, [False] * 3)


def test_a_forced_cell_may_not_be_suppressed():
    table = firms({("x", "u"): MANY, ("x", "w"): MANY})
    secret = find_sensitive(table, [PPercent(10)], "v", priors=[Prior(("x", "u"), "forced")])
    with pytest.raises(InputError, match="must be published"):
        audit(table, gaps_at(table, ("x", "u")), secret)


def test_knowledge_beforehand_narrows_the_interval():
    table = firms({("x", "u"): [5.0], ("x", "w"): [6.0], ("y", "u"): [7.0], ("y", "w"): [8.0]})
    secret = find_sensitive(table, [Dominance(1, 70)], "v")
    gaps = gaps_at(table, ("x", "u"), ("x", "w"), ("y", "u"), ("y", "w"))
    wide, narrow = (audit(table, gaps, secret, beforehand=share, exact=True).targets[0] for share in (None, 0.1))
    assert wide.low < narrow.low <= 5.0 <= narrow.high < wide.high


def test_negative_values_leave_a_cell_open_on_both_sides():
    table = firms({("x", "u"): [-5.0], ("x", "w"): [6.0], ("y", "u"): [7.0], ("y", "w"): [8.0]})
    gaps = gaps_at(table, ("x", "u"), ("x", "w"), ("y", "u"), ("y", "w"))
    first = audit(table, gaps, value="v").targets[0]
    assert (first.low, first.high) == (-np.inf, np.inf)


def test_an_answer_that_violates_the_table_is_not_relied_on(monkeypatch: pytest.MonkeyPatch):
    table = firms({("x", "u"): [5.0, 1.0], ("x", "w"): MANY, ("y", "u"): MANY, ("y", "w"): MANY})
    checked = Solver._checked
    monkeypatch.setattr(Solver, "_checked", lambda self, moved: checked(self, moved + 1.0))
    found = audit(
        table,
        gaps_at(table, ("x", "u"), ("x", "w"), ("y", "u"), ("y", "w")),
        find_sensitive(table, [PPercent(10)], "v"),
    )
    assert {t.verdict for t in found.targets} == {UNJUDGED}
    assert "violates" in found.unjudged[0]
    assert "NOT JUDGED" in found.text()
    assert issubclass(NoAnswer, InfeasibleError)


def test_sums_without_rules_are_said_to_be_unjudged():
    table = table_of_counts((2, 3), [1, 5, 5, 5, 5, 5])
    secret = find_sensitive(table, [], priors=[Prior(("00", "10"), "unsafe")])
    found = audit(table, gaps_at(table, ("00", "10"), ("00", "11"), ("01", "10"), ("01", "11")), secret)
    assert {t.verdict for t in found.targets} == {PROTECTED}
    assert not found.holds


def test_a_far_upper_end_does_not_loosen_the_lower_one():
    """x = y + 99 from one table, and from another that x is at least y: below 99 nobody looks, above anywhere."""
    cells = {"a": ["Total", "x", "z"], "v": [1e9 + 100, 100.0, 1e9]}
    finer = {"a": ["x", "x1", "x2"], "v": [100.0, 99.0, 1.0]}
    tree = {"a": ["Total", ["x", "x1", "x2"], "z"]}
    both = {name: cells[name] + finer[name][1:] for name in cells}
    table = Table.of_cells(both, ["a"], ["v"], hierarchies=tree)
    secret = find_sensitive(table, [], "v", priors=[Prior(("x",), "unsafe", lower=10.0, upper=10.0)])
    gaps = np.isin(np.arange(len(table)), [table.find(code) for code in ("Total", "x", "x2", "z")])
    found = audit(table, gaps, secret, exact=True).targets[0]
    assert (found.low, found.high, found.verdict) == (99.0, np.inf, EXPOSED)


def test_rules_do_not_call_a_cell_safe_whose_value_they_do_not_know():
    cells = {"a": ["Total", "x", "y"] * 3, "b": ["Total"] * 3 + ["u"] * 3 + ["w"] * 3}
    cells |= {"n": [20, 12, 8, 11, None, None, 9, None, None], "one": [1] * 9, "two": [1] * 9, "units": [9] * 9}
    table = Table.of_cells(cells, ["a", "b"], ["n"], units="units", largest=["one", "two"])
    secret = find_sensitive(table, [PPercent(10)])
    assert not secret.sensitive.any()
    found = audit(table, np.isnan(table.values["n"]), secret)
    assert not found.holds
    assert "4 suppressed cells without a value" in found.unjudged[0]
    marked = find_sensitive(table, [PPercent(10)], priors=[Prior(("x", "u"), "unsafe", upper=1.0)])
    assert [t.verdict for t in audit(table, np.isnan(table.values["n"]), marked).targets] == [UNJUDGED]


def test_small_and_large_units_give_the_same_verdict():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 4, 60).astype(str), rng.integers(0, 5, 60).astype(str)
    v = rng.lognormal(0, 1, 60)
    told = []
    for scale in (1e-9, 1.0, 1e12):
        table = Table.of_records({"a": a, "b": b, "v": scale * v}, ["a", "b"], ["v"])
        secret = find_sensitive(table, [PPercent(20)], "v")
        found = audit(table, secret.sensitive | (table.values["v"] > np.median(table.values["v"])), secret)
        told.append([(t.cells, t.insider, t.verdict) for t in found.targets])
    assert told[0] == told[1] == told[2]
    assert len(told[0]) > 5


def test_no_value_is_in_the_words():
    table = firms({("x", "u"): [51234.0, 1.0], ("x", "w"): MANY})
    found = audit(table, gaps_at(table, ("x", "u")), find_sensitive(table, [PPercent(10)], "v"))
    assert "5123" not in found.text() + str(found.document())


RULED = [case for case in CASES if case[3]]
EXPOSED_CELLS = {
    "gauss_small_mun": 13,
    "gauss_small_mun_intervals": 13,
    "gauss_direct_mun": 5,
    "gauss_small_d2_hier": 2,
}


@needs_shared
@pytest.mark.parametrize(("name", "source", "how", "rules"), RULED, ids=[case[0] for case in RULED])
def test_patterns_of_the_reference(name, source, how, rules, capsys):
    table = table_of(name, source, how)
    found = find_sensitive(table, rules, weights="repeated" if name.endswith("_tau") else "largest")
    gaps = np.zeros(len(table), dtype=bool)
    for line in read(name):
        if line.get("isPublish", "TRUE") == "TRUE" and line["suppressed"] == "TRUE":
            gaps[table.find(*(line[axis.name] for axis in table.grid.axes))] = True
    told = audit(table, gaps, found)
    print(told.text())
    cells = [t for t in told.targets if not t.is_sum and t.insider is None]
    assert sum(t.verdict == EXPOSED for t in cells) == EXPOSED_CELLS.get(name, 0)
    if name in EXPOSED_CELLS:
        assert sum(t.numbers == 2 for t in cells) == EXPOSED_CELLS[name]
    if name == "gauss_small_mun_intervals":
        low = {table.find(line["mun"], line["inj"]): line for line in read(name) if line["lo"] != "NA"}
        ends = {t.cells[0][0]: (t.low, t.high) for t in audit(table, gaps, found, exact=True).targets if not t.is_sum}
        assert all(np.allclose(ends[c], (float(line["lo"]), float(line["up"]))) for c, line in low.items())


INNER = [("p", "u"), ("p", "v"), ("q", "u"), ("q", "v")]


def four(table: Table) -> np.ndarray:
    return np.isin(np.arange(len(table)), [table.find(*codes) for codes in INNER])


def test_empty_cells_that_are_suppressed_are_audited():
    data = {"a": list("xyyyy"), "b": list("uvwuv"), "v": [1, 2, 3, 4, 5]}
    table = Table.of_records(data, ["a", "b"], ["v"])
    gaps = np.isin(np.arange(len(table)), [table.find("x", "v"), table.find("x", "w")])
    assert not audit(table, gaps, find_sensitive(table, [FewContributors(2)], "v")).holds


def test_a_table_in_full_of_which_nothing_is_said_is_not_called_safe():
    table = Table.of_cells({"a": ["Total", "x", "y"], "n": [3, 1, 2]}, ["a"], ["n"], counts=["n"])
    told = audit(table, [False] * 3)
    assert not told.holds
    assert told.unjudged


def test_a_sensitive_cell_without_a_level_is_not_called_protected():
    data = {"r": list("pppqqpqqqqpp"), "c": list("uuuuvvvuvvvv"), "f": list("ABCDEFGHIJKL")}
    v = [400, 300, 300.0, 0.005, 0, 0.01, 0, 0.005, 0, 0, 0, 0]
    table = Table.of_records({**data, "v": v}, ["r", "c"], ["v"], contributor="f")
    bare = find_sensitive(table, [], "v", priors=[Prior(("p", "u"), "unsafe")])
    told = audit(table, four(table), bare, exact=True)
    assert [(t.verdict, round(t.low, 6), round(t.high, 6)) for t in told.targets if t.insider is None] == [
        (UNJUDGED, 1000, 1000.01)
    ]
    assert "level" in told.text()
    far = find_sensitive(table, [], "v", priors=[Prior(("p", "u"), "unsafe", upper=100)])
    assert audit(table, four(table), far).exposed


def test_firms_whose_people_are_counted_know_their_cells():
    data = {"r": list("ppqq"), "c": list("uvuv"), "f": list("ABCD"), "n": [100, 7, 90, 50]}
    table = Table.of_records(data, ["r", "c"], contributor="f", frequency="n")
    secret = find_sensitive(table, [FewContributors(2)])
    assert np.allclose(secret.upper[four(table)], [10, 0.7, 9, 5])
    assert any(t.insider is not None for t in audit(table, four(table), secret).exposed)
    people = Table.of_records(data, ["r", "c"], frequency="n")  # nobody's name: no insiders
    told = audit(people, four(people), find_sensitive(people, [MinimumFrequency(8)]))
    assert told.holds


@pytest.mark.parametrize("shared", [True, False])
def test_summaries_of_cells_do_not_say_whether_contributors_are_the_same(shared: bool):
    second = list("AB") if shared else list("YZ")
    data = {"r": list("pppp") + list("qqqq") + ["q"] * 4 + ["p"] * 4}
    data |= {"c": list("uuvv") + list("uuvv") + ["w"] * 8, "f": [*"AB", *second, *"CDEFGHIJKLMN"]}
    data["v"] = [50, 50, 60, 60, 80, 90, 70, 60, *[30] * 4, *[25] * 4]
    table = Table.of_records(data, ["r", "c"], ["v"], contributor="f")
    rules = [FewContributors(3)]
    assert audit(table, four(table), find_sensitive(table, rules, "v")).holds is not shared
    known = table.makeup("v")
    codes = {a.name: [a.codes[k] for k in table.grid.codes[:, n]] for n, a in enumerate(table.grid.axes)}
    cells = Table.of_cells({**codes, "v": known.value, "k": known.units}, ["r", "c"], ["v"], units="k")
    told = audit(cells, four(cells), find_sensitive(cells, rules))
    assert not told.holds
    assert "the same contributors" in told.text()


def test_a_cell_that_its_column_tells_hides_no_sum_of_its_row():
    """x,w is 11 beside 1 and 1: suppressed, the three are 13; but it is alone in its column, and what is left is 2."""
    rows = {"x": [1, 1, 11], "y": [9, 9, 12], "z": [20, 21, 22]}
    counts = [n for row in rows.values() for n in row]
    people = {"r": [r for r in rows for _ in "uvw"], "c": list("uvw") * 3, "n": counts}
    table = Table.of_records(people, ["r", "c"], frequency="n")
    secret = find_sensitive(table, [MinimumFrequency(3)])
    square = [(r, c) for r in "xy" for c in "uv"]
    assert not audit(table, gaps_at(table, *square), secret).holds
    assert not audit(table, gaps_at(table, *square, ("x", "w")), secret).holds
    assert audit(table, gaps_at(table, *square, ("x", "w"), ("y", "w")), secret).holds


def test_what_several_equations_tell_together_is_a_sum_too():
    """Of the four gaps of r1 two are in a square with r0, and two in one with r2: each pair is told, the first is 2."""
    counts = np.full((4, 5), 20)
    counts[0, :2], counts[1, :4], counts[2, 2:4] = [9, 8], [1, 1, 30, 40], [2, 7]
    places = [(f"r{i}", f"c{j}") for i in range(4) for j in range(5)]
    people = {"r": [r for r, _ in places], "c": [c for _, c in places], "n": counts.ravel()}
    table = Table.of_records(people, ["r", "c"], frequency="n")
    squares = [(r, c) for rows, columns in (("01", "01"), ("12", "23")) for r, c in product(rows, columns)]
    gaps = gaps_at(table, *((f"r{r}", f"c{c}") for r, c in squares))
    told = audit(table, gaps, find_sensitive(table, [MinimumFrequency(3)]))
    assert not told.holds
    assert [(t.value, t.verdict) for t in told.targets if t.is_sum] == [(2, EXPOSED)]
    wider = gaps | gaps_at(table, ("r0", "c4"), ("r1", "c4"))  # one more way out of r1
    assert audit(table, wider, find_sensitive(table, [MinimumFrequency(3)])).holds


def test_lone_contributors_of_a_summary_may_be_one():
    cells = {"a": ["Total", "x", "y", "z", "w"], "v": [100, 30, 30, 30, 10], "k": [9, 1, 1, 2, 5]}
    table = Table.of_cells(cells, ["a"], ["v"], units="k")
    told = audit(table, [False, True, True, True, False], find_sensitive(table, [FewContributors(3)]))
    assert "one stands behind several" in told.text()
    assert not told.holds


def test_giants_around_a_cell_do_not_make_it_safe():
    """Where the last digits of the cells around are larger than the level, nothing is called protected."""
    for big in (1e9, 2e11, 1e13):
        data = {"r": list("pppppqqqqq"), "c": list("uuvvvuuvvv"), "f": list("ABCDEFGHIJ")}
        v = [20, 20, big, big, big, 0, 0, big, big, big]
        table = Table.of_records({**data, "v": v}, ["r", "c"], ["v"], contributor="f")
        asked = find_sensitive(table, [], "v", priors=[Prior(("p", "u"), "unsafe", lower=4, upper=4)])
        assert not audit(table, four(table), asked).holds


def linked_firms(names: bool) -> Table:
    """Two tables of the same firms that share a margin: in one of them two cells have a firm each."""
    rows = [("x", "u", "A", 50.0), ("x", "w", "B", 40.0)]
    rows += [(a, b, f"{a}{b}{k}", 10.0) for a, b in ("xz", "yu", "yw", "yz") for k in range(9)]
    a, b, firm, v = zip(*rows, strict=True)
    data = {"a": a, "b": b, "c": ["k", "l"] * (len(a) // 2), "firm": firm, "v": v}
    who = {"contributor": "firm"} if names else {}
    return Table.linked([Table.of_records(data, dims, ["v"], **who) for dims in (["a", "b"], ["c", "a"])])


@pytest.mark.parametrize("names", [True, False])
def test_linked_tables_know_who_stands_behind_their_cells(names: bool):
    table = linked_firms(names)
    secret = find_sensitive(table, [FewContributors(3)], "v")
    assert {table.label(int(cell)) for cell in np.flatnonzero(secret.sensitive)} == {
        "a=x, b=u, c=Total",
        "a=x, b=w, c=Total",
    }
    gaps = gaps_at(table, *[(a, b, "Total") for a in "xy" for b in "uw"])
    told = audit(table, gaps, secret)
    sums = [t for t in told.targets if t.is_sum and t.insider is None]
    assert [(len(t.cells), t.verdict) for t in sums] == [(2, EXPOSED)]  # of the two firms together
    inside = [t for t in told.targets if t.insider is not None]
    assert {t.verdict for t in inside} == {EXPOSED}
    assert len({t.insider for t in inside}) == 2


def test_a_firm_in_two_linked_tables_is_one_insider():
    table = linked_firms(True)
    people, holding = table.contributors, table.holding
    assert people is not None
    assert holding is not None
    assert np.allclose(holding @ np.bincount(people.inner, people.values["v"]), table.values["v"])
    assert len(people.names) == 2 + 36
    assert table.makeup("v").units[table.find("Total", "Total", "Total")] == 38
    pair = gaps_at(table, ("x", "u", "Total"), ("x", "Total", "k")).astype(float)  # of both tables: the same firm
    assert table.makeup("v", groups=sparse.csr_array(pair[None, :])).units[0] == 6


def test_levels_below_and_above_are_apart():
    data = {"a": list("xxy"), "b": list("uvv"), "firm": list("ABC"), "v": [10.0, 20.0, 30.0]}
    table = Table.of_records(data, ["a", "b"], ["v"], contributor="firm")
    secret = find_sensitive(table, [FewContributors(2, share=0.5, below=0.2)], "v")
    cell = table.find("x", "u")
    assert (secret.lower[cell], secret.upper[cell]) == (2.0, 5.0)
    gaps = gaps_at(table, ("x", "u"), ("x", "v"), ("Total", "u"), ("Total", "v"))
    sums = find_sensitive(table, [FewContributors(3, share=0.5, below=0.2)], "v")
    pooled = [t for t in audit(table, gaps, sums).targets if not t.is_sum and t.insider is None]
    assert {round(t.lower / t.value, 9) for t in pooled} == {0.2}
    assert {round(t.upper / t.value, 9) for t in pooled} == {0.5}
    with pytest.raises(InputError, match="a=x, b=u is negative"):
        find_sensitive(table, [], "v", priors=[Prior(("x", "u"), "unsafe", lower=-1.0)])


def test_an_end_far_beyond_the_suppressed_cells_is_an_end():
    """Thirty cells of 1 in a row with a published total: each may be 30 at most."""
    codes = [(a, f"c{k}") for a in "xy" for k in range(30)]
    a, b = zip(*codes, strict=True)
    table = Table.of_records({"a": a, "b": b, "v": [1.0] * 60}, ["a", "b"], ["v"])
    gaps = np.array([not table.label(cell).endswith("Total") for cell in range(len(table))])
    cell = table.find("x", "c0")
    for above, verdict in ((20.0, PROTECTED), (40.0, EXPOSED)):
        told = find_sensitive(table, [], "v", priors=[Prior(("x", "c0"), "unsafe", lower=1, upper=above)])
        every = audit(table, gaps, told, exact=True).targets
        found = [t for t in every if t.insider is None and t.cells[0][0] == cell and not t.is_sum]
        assert [t.verdict for t in found] == [verdict]
        assert found[0].high == pytest.approx(30)
