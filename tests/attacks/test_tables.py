"""Attacks on tables with gaps: each gives a value away, and is what the audit says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from suffice.errors import GuardError
from suffice.release.tables import publish
from suffice.seed import Seed
from suffice.tables import insiders
from suffice.tables.audit import EXPOSED, UNJUDGED, audit
from suffice.tables.decimals import decimals
from suffice.tables.pattern import pattern_of
from suffice.tables.rules import FewContributors, MinimumFrequency, PPercent
from suffice.tables.sensitivity import find_sensitive
from suffice.tables.suppress.suppression import suppress
from suffice.tables.table import Table
from tests.tables.test_decimals import COUNTS, GAPS, of_counts, paper

MANY = [10.0, 11.0, 12.0, 9.0, 8.0, 10.5]


def table_of(cells: dict[tuple[str, str], list[float]]) -> Table:
    rows = [(*codes, value) for codes, values in cells.items() for value in values]
    a, b, v = zip(*rows, strict=True)
    return Table.of_records({"a": a, "b": b, "v": v}, ["a", "b"], ["v"])


def gaps_at(table: Table, *cells: tuple[str, ...]) -> np.ndarray:
    return np.isin(np.arange(len(table)), [table.find(*cell) for cell in cells])


def shown(table: Table, gaps: np.ndarray, *codes: str) -> float:
    """What an attacker reads; a gap is none of his."""
    cell = table.find(*codes)
    assert not gaps[cell]
    return float(table.values[next(iter(set(table.values) - {"count"}), "count")][cell])


def test_a_lone_gap_is_the_total_less_the_others():
    table = table_of({("x", "u"): [70.0, 3.0], ("x", "w"): MANY, ("y", "u"): MANY, ("y", "w"): MANY})
    gaps = gaps_at(table, ("x", "u"))
    assert shown(table, gaps, "x", "Total") - shown(table, gaps, "x", "w") == pytest.approx(73)
    assert [t.verdict for t in audit(table, gaps, find_sensitive(table, [PPercent(10)], "v")).targets] == [EXPOSED]
    with pytest.raises(GuardError, match="a=x, b=u"):
        decimals(table, gaps, "v")


def test_a_firm_reads_its_only_neighbour_in_the_rest_of_a_row():
    """Two suppressed cells of one firm each: their sum is published as total less the third."""
    cells = {("x", "u"): [50.0], ("x", "w"): [40.0], ("x", "z"): MANY}
    table = table_of(cells | {("y", "u"): MANY, ("y", "w"): MANY, ("y", "z"): MANY})
    gaps = gaps_at(table, ("x", "u"), ("x", "w"), ("y", "u"), ("y", "w"))
    rest = shown(table, gaps, "x", "Total") - shown(table, gaps, "x", "z")
    assert rest - 50.0 == pytest.approx(40.0)  # the firm of u knows its own 50
    found = audit(table, gaps, find_sensitive(table, [FewContributors(3)], "v"))
    assert all(t.verdict != EXPOSED for t in found.targets if not t.is_sum and t.insider is None)  # each cell by itself
    assert any(t.verdict == EXPOSED for t in found.targets if t.is_sum)
    assert any(t.verdict == EXPOSED and t.low == pytest.approx(40.0) for t in found.targets if t.insider is not None)


def test_the_largest_of_a_cell_knows_how_little_the_others_can_be(monkeypatch: pytest.MonkeyPatch):
    """60 of the neighbour's 65 are one firm's: for it the cell beside, 106, ends at 111, and its level is 115."""
    cells = {("x", "u"): [100.0, 5.0, 1.0], ("x", "w"): [60.0, 3.0, 2.0], ("x", "z"): MANY, ("y", "z"): MANY}
    table = table_of(cells | {("y", "u"): [40.0, 41.0, 42.0], ("y", "w"): [43.0, 44.0, 45.0]})
    given = find_sensitive(table, [PPercent(10)], "v")
    gaps = gaps_at(table, ("x", "u"), ("x", "w"), ("y", "u"), ("y", "w"))
    (told,) = audit(table, gaps, given).exposed
    assert (told.value, told.high, told.upper) == pytest.approx((106.0, 111.0, 9.0))
    assert told.insider is not None
    assert suppress(table, given, seed=Seed.for_tests(1)).holds
    monkeypatch.setattr(insiders, "LEADING", 0)  # who asks lone contributors only sees nothing
    assert audit(table, gaps, given).holds


def test_a_cell_between_two_squares_of_gaps_follows_and_hides_no_sum():
    """Two squares of four gaps each, and one gap that joins them: no other table moves it, so it hides nothing."""
    rows = [(f"r{i}", f"c{j}", v) for i in range(5) for j in range(5) for v in MANY]
    rows = [(a, b, v) for a, b, v in rows if (a, b) not in (("r0", "c0"), ("r0", "c1"))]
    a, b, v = zip(*rows, ("r0", "c0", 50.0), ("r0", "c1", 40.0), strict=True)
    table = Table.of_records({"a": a, "b": b, "v": v}, ["a", "b"], ["v"])
    gaps = gaps_at(table, *((f"r{i}", f"c{j}") for i, j in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2)]))
    gaps |= gaps_at(table, *((f"r{i}", f"c{j}") for i in (2, 3) for j in (2, 3)))
    found = audit(table, gaps, find_sensitive(table, [FewContributors(3)], "v"))
    pair = tuple(sorted((table.find("r0", f"c{j}"), 1) for j in (0, 1)))
    assert [t.verdict for t in found.targets if t.cells == pair and t.insider is None] == [EXPOSED]


def test_whole_numbers_leave_two_where_real_ones_leave_an_interval():
    """One of a row of three is not in the published category: each of the others is 0 or 1."""
    counts = {"a": list("xxxyyy"), "b": list("uwz") * 2, "n": [5, 1, 0, 9, 8, 9]}
    table = Table.of_records(counts, ["a", "b"], frequency="n")
    gaps = gaps_at(table, ("x", "w"), ("x", "z"), ("y", "w"), ("y", "z"))
    assert shown(table, gaps, "x", "Total") - shown(table, gaps, "x", "u") == 1
    found = audit(table, gaps, find_sensitive(table, [MinimumFrequency(3)]))
    cell = next(t for t in found.targets if t.cells == ((table.find("x", "w"), 1),))
    assert (cell.numbers, cell.verdict) == (2, EXPOSED)


def test_a_second_table_tells_what_the_first_one_hides():
    """Each table by itself leaves an interval; the parts of x in the other one add up to it."""
    first = {"a": ["Total", "x", "y", "z"], "v": [100.0, None, None, 20.0]}
    alone = Table.of_cells(first, ["a"], ["v"])
    wide = audit(alone, np.isnan(alone.values["v"])).targets
    assert [(t.low, t.high, t.verdict) for t in wide] == [(0, 80, UNJUDGED)] * 2
    parts = {"a": ["x", "x1", "x2"], "v": [None, 30.0, 12.0]}
    second = Table.of_cells(parts, ["a"], ["v"], hierarchies={"a": ["x", "x1", "x2"]})
    both = Table.linked([alone, second])
    told = audit(both, np.isnan(both.values["v"]))
    assert {both.label(t.cells[0][0]): (t.low, t.verdict) for t in told.targets} == {
        "a=x": (pytest.approx(42), EXPOSED),
        "a=y": (pytest.approx(38), EXPOSED),
    }


def test_a_level_with_one_child_is_not_hidden_by_its_other_name():
    """County 2 has one region, c: what is suppressed as c stands there as 2."""
    data = {"region": list("abcd"), "county": ["1", "1", "2", "3"], "v": [5.0, 6, 7, 8]}
    table = Table.of_records(data, ["region", "county"], ["v"])
    rows = table.frame().to_pandas()
    rows["gap"] = rows["region"].isin(["c", "a"])
    gaps, _ = pattern_of(table, pa.Table.from_pandas(rows), "v", "gap")
    assert not gaps[table.find("c")]
    assert gaps[table.find("a")]


def possible_tables() -> list[np.ndarray]:
    """All tables of whole numbers that have the published cells of Langsrud's example."""
    first, second = np.zeros((2, 4, 4), dtype=int)
    first[[0, 1], [0, 1]] = second[[1, 2, 3], [0, 2, 3]] = 1
    first[[0, 1], [1, 0]] = second[[1, 2, 3], [2, 3, 0]] = -1
    both = [COUNTS + i * first + j * second for i in range(-40, 41) for j in range(-40, 41)]
    return [each for each in both if (each >= 0).all()]


def test_decimals_with_the_originals_variance_leave_one_table():
    """25 tables of whole numbers add up to what is published; the printed decimals (Table 2) have the length of one."""
    tables = possible_tables()
    assert len(tables) == 25
    printed = [0.1986, 13.8014, 11.1562, 6.1986, 5.6451, 9.3549, -5.3549, 10.6451, 10.3549]
    lengths = [sum(float(table[gap]) ** 2 for gap in GAPS) for table in tables]
    left = [
        table for table, length in zip(tables, lengths, strict=True) if abs(length - np.sum(np.square(printed))) < 0.1
    ]
    assert len(left) == 1
    assert (left[0] == COUNTS).all()
    # ours are the same numbers whichever of the 25 is true: nothing is there to try them against
    _, gaps, _ = paper()
    draws = [decimals(of_counts(table), gaps, seed=Seed.for_tests(1)).draws for table in tables]
    assert max(np.abs(draw - draws[0]).max() for draw in draws) < 1e-12


def test_fits_after_a_modulo_leave_few_tables():
    """Who tries the 25 tables finds two with these fits after modulo 4, 16 after modulo 10, and one with Table 3."""
    table, gaps, places = paper()
    reason = {"modulo": "a test"}
    tables = possible_tables()
    cells = [places[gap] for gap in GAPS]
    counts = np.array([[each[gap] for gap in GAPS] for each in tables])
    truth = int(np.flatnonzero([(each == COUNTS).all() for each in tables])[0])
    for modulo, left in ((4, 2), (10, 16)):
        options = {"modulo": modulo, "accept": reason, "seed": Seed.for_tests(1)}
        seen = decimals(table, gaps, spread=0.1, **options).cells[cells]
        fits = np.array([decimals(of_counts(each), gaps, spread=1e-9, **options).cells[cells] for each in tables])
        away = np.linalg.norm(seen - fits, axis=1)
        assert (away < 0.2).sum() == left
        assert away[truth] == pytest.approx(0.1 * 2**0.5)
    printed = [0.4449, 13.5551, 4.2102, 6.4449, 12.3449, 2.6551, 1.3449, 17.3449, 3.6551]  # a tenth of the residuals
    off = np.abs(np.linalg.norm(printed - fits, axis=1) - 0.1 * np.linalg.norm(counts - fits, axis=1))
    assert list(np.flatnonzero(off < 1e-3)) == [truth]
    with pytest.raises(GuardError, match="9 of 9 suppressed inner cells, and in 0 without"):
        decimals(table, gaps, modulo=4)
    with pytest.raises(GuardError, match="modulo"):
        decimals(table, gaps, modulo=10, accept={"modulo": " "})


def test_two_patterns_of_one_table_show_what_each_hides(tmp_path):
    """Either pattern holds; what the first publishes leaves one gap in a column of the second."""
    counts = {"a": [f"a{k // 4}" for k in range(16)], "b": [f"b{k % 4}" for k in range(16)]}
    n = [1, 90, 91, 72, 93, 84, 77, 67, 95, 96, 44, 81, 64, 73, 82, 91]
    table = Table.of_records({**counts, "n": n}, ["a", "b"], frequency="n")
    rules, seed = find_sensitive(table, [MinimumFrequency(3)]), Seed.new_file(tmp_path / "key")
    first = gaps_at(table, *((a, b) for a in ("a0", "a1") for b in ("b0", "b1", "b2")))
    second = gaps_at(table, *((a, b) for a in ("a0", "a2", "a3") for b in ("b0", "b1", "b3")))
    assert audit(table, first, rules).holds
    assert audit(table, second, rules).holds
    publish(table, first, rules, seed=seed).write(tmp_path / "one.csv")
    others = [shown(table, second, "a1", "b0"), *(shown(table, first, a, "b0") for a in ("a2", "a3"))]
    assert shown(table, first, "Total", "b0") - sum(others) == 1  # with the guard off: the one person
    late = publish(table, second, rules, seed=seed)
    assert {each.rule for each in late.findings if each.blocks} == {"repeated-release"}
    again = publish(table, first, rules, method="decimals", seed=seed)  # the remedy
    assert not any(each.blocks for each in again.findings)


def squares(*corners: int) -> tuple[Table, np.ndarray]:
    """A table of 5 x 5 counts with one person at r0, c0, and squares of gaps with that corner."""
    codes = {"a": [f"r{k // 5}" for k in range(25)], "b": [f"c{k % 5}" for k in range(25)]}
    table = Table.of_records({**codes, "n": [1, *range(40, 64)]}, ["a", "b"], frequency="n")
    places = {(a, b) for k in corners for a in ("r0", f"r{k}") for b in ("c0", f"c{k}")}
    return table, gaps_at(table, *places)


def test_three_patterns_show_what_any_two_of_them_hide(tmp_path):
    seed, several = Seed.new_file(tmp_path / "key"), [squares(1, 2), squares(2, 3), squares(1, 3)]
    rules = find_sensitive(several[0][0], [MinimumFrequency(3)])
    for number, (table, gaps) in enumerate(several[:2]):
        publish(table, gaps, rules, seed=seed).write(tmp_path / f"{number}.csv")
    table, gaps = several[2]
    assert [table.label(cell) for cell in np.flatnonzero(np.all([g for _, g in several], axis=0))] == ["a=r0, b=c0"]
    late = publish(table, gaps, rules, seed=seed)
    assert {each.rule for each in late.findings if each.blocks} == {"repeated-release"}


def test_one_corrected_count_does_not_make_it_another_table(tmp_path):
    """Of 36 cells, four change with one count."""
    seed, (table, gaps) = Seed.new_file(tmp_path / "key"), squares(1)
    publish(table, gaps, find_sensitive(table, [MinimumFrequency(3)]), seed=seed).write(tmp_path / "one.csv")
    codes = {"a": [f"r{k // 5}" for k in range(25)], "b": [f"c{k % 5}" for k in range(25)]}
    later = Table.of_records({**codes, "n": [1, *range(40, 63), 99]}, ["a", "b"], frequency="n")
    late = publish(later, squares(2)[1], find_sensitive(later, [MinimumFrequency(3)]), seed=seed)
    assert {each.rule for each in late.findings if each.blocks} == {"repeated-release"}


def test_what_everybody_knows_beforehand_counts_beside_earlier_releases_too(tmp_path):
    rows = [(f"r{k // 5}", f"c{k % 5}", 150.0 if k else 1000.0) for k in range(25) for _ in range(5 if k else 1)]
    a, b, v = zip(*rows, strict=True)
    table = Table.of_records({"a": a, "b": b, "v": v}, ["a", "b"], ["v"])
    rules, seed = find_sensitive(table, [PPercent(10)], "v"), Seed.new_file(tmp_path / "key")
    first, late = (publish(table, squares(1, k)[1], rules, "v", seed=seed, beforehand=0.12) for k in (2, 3))
    first.write(tmp_path / "one.csv")
    assert not any(each.blocks for each in late.findings)  # nothing was written before it
    with pytest.raises(GuardError, match="repeated-release"):
        late.write(tmp_path / "two.csv")


@pytest.mark.parametrize("idle", [False, True])
def test_a_firm_that_reports_nothing_hides_no_lone_one(idle: bool):
    rows = [(f"r{i}", f"c{j}", 500.0) for i in range(3) for j in range(3) if i == j < 2]
    rows += [(a, b, 0.0) for a, b, _ in rows] * idle
    rows += [(f"r{i}", f"c{j}", v) for i in range(3) for j in range(3) if i != j or i == 2 for v in MANY]
    a, b, v = zip(*rows, strict=True)
    table = Table.of_records({"a": a, "b": b, "v": v, "f": range(len(a))}, ["a", "b"], ["v"], contributor="f")
    gaps = gaps_at(table, *((a, b) for a in ("r0", "r1") for b in ("c0", "c1")))
    found = audit(table, gaps, find_sensitive(table, [FewContributors(3)], "v"))
    inside = [each for each in found.exposed if each.insider is not None]
    assert [each.value for each in inside if each.high - each.low < 1.0] == [500.0, 500.0]


def test_records_that_weigh_nothing_hide_no_one():
    rows = {"a": ["x"] * 3 + ["y"] * 6, "v": [500.0, 3.0, 2.0, *MANY], "w": [1, 0, 0] + [1] * 6}
    table = Table.of_records(rows, ["a"], ["v"], weight="w")
    assert table.values["v"][table.find("x")] == 500.0
    for rule in (FewContributors(3), MinimumFrequency(3), PPercent(10)):
        assert find_sensitive(table, [rule], "v").sensitive[table.find("x")]


def test_a_table_of_which_no_rule_says_anything_does_not_leave():
    table, gaps = squares()
    late = publish(table, gaps, find_sensitive(table, []))
    assert {each.rule for each in late.findings if each.blocks} == {"audit"}


def test_a_firm_that_is_alone_in_one_table_reads_another_firm_in_a_linked_one():
    """Firm A is all of (x, k) of the second table: with it, the suppressed margin x and firm B's cell of the first."""
    rows = [("x", "u", "l", "B", 70.0), ("x", "w", "k", "A", 40.0)]
    rows += [(a, b, "l", f"{a}{b}{n}", v) for a, b in ("xw", "yu", "yw") for n, v in enumerate(MANY)]
    rows += [("y", "w", "k", f"yk{n}", v) for n, v in enumerate(MANY)]
    a, b, c, firm, v = zip(*rows, strict=True)
    data = {"a": a, "b": b, "c": c, "firm": firm, "v": v}
    first, second = (Table.of_records(data, dims, ["v"], contributor="firm") for dims in (["a", "b"], ["a", "c"]))
    table = Table.linked([first, second])
    margin, cells = [(r, "Total", "Total") for r in "xy"], [(r, "u", "Total") for r in "xy"]
    gaps = gaps_at(table, *margin, *cells, *[(r, "Total", "k") for r in "xy"])
    x = 40.0 + shown(table, gaps, "x", "Total", "l")  # what A knows, and what is published beside it
    assert x - shown(table, gaps, "x", "w", "Total") == pytest.approx(70.0)
    found = audit(table, gaps, find_sensitive(table, [FewContributors(2)], "v"))
    target = ((table.find("x", "u", "Total"), 1),)
    assert {t.verdict for t in found.targets if t.insider is None} == {"protected"}
    told = [t for t in found.targets if t.insider is not None and t.cells == target]
    assert [(t.verdict, round(t.low, 6), round(t.high, 6)) for t in told] == [(EXPOSED, 70.0, 70.0)]


def test_other_groups_of_the_same_records_are_warned_of(tmp_path):
    """Rows r0 and r2 together, less r2 of the first table, are the cell that the first one hides."""
    n = [1, 40, 41, 50, 51, 52, 60, 61, 62, 70, 71, 72]
    rows, columns = [f"r{k // 3}" for k in range(12)], [f"c{k % 3}" for k in range(12)]
    fine = Table.of_records({"a": rows, "b": columns, "n": n}, ["a", "b"], frequency="n")
    joined = ["g1" if row in ("r0", "r2") else "g2" for row in rows]
    coarse = Table.of_records({"a": joined, "b": columns, "n": n}, ["a", "b"], frequency="n")
    gaps = gaps_at(fine, ("r0", "c0"), ("r0", "c1"), ("r1", "c0"), ("r1", "c1"))
    assert shown(coarse, np.zeros(len(coarse), dtype=bool), "g1", "c0") - shown(fine, gaps, "r2", "c0") == 1
    Seed.new_file(tmp_path / "key")
    seed = Seed.from_file(tmp_path / "key")
    rules = [MinimumFrequency(3)]
    publish(fine, gaps, find_sensitive(fine, rules), seed=seed).write(tmp_path / "fine.csv")
    second = publish(coarse, np.zeros(len(coarse), dtype=bool), find_sensitive(coarse, rules), seed=seed)
    assert {f.rule: f.level for f in second.findings}["repeated-release"] == "warn"
    again = publish(fine, gaps, find_sensitive(fine, rules), seed=seed)
    assert "repeated-release" not in {f.rule for f in again.findings}
