"""Decimal numbers in place of suppressed cells: the paper's table, the peer's numbers, what they tell and what not."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from suffice.errors import GuardError, InfeasibleError, InputError, UsageError
from suffice.seed import Seed
from suffice.tables import decimals as module
from suffice.tables.audit import audit
from suffice.tables.decimals import decimals, read_back
from suffice.tables.table import Table
from tests.places import SHARED, needs_shared
from tests.tables.test_reference import CASES, read, table_of

COUNTS = np.array([[3, 11, 32, 30], [1, 9, 13, 8], [12, 22, 2, 2], [18, 19, 16, 3]])
GAPS = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 2), (2, 3), (3, 0), (3, 3)]
FITTED = {(1, 0): 4.5217, (2, 2): 6.6957, (2, 3): -2.6957, (0, 0): 4.1739, (3, 3): 7.6957, (1, 1): 10.1739}
FITTED |= {(0, 1): 9.8261, (1, 2): 8.3043, (3, 0): 13.3043}
"""Langsrud (2019), Tables 1 and 2."""


def of_counts(counts: np.ndarray) -> Table:
    row, column = np.divmod(np.arange(16), 4)
    data = {"row": [f"r{k}" for k in row], "column": [f"c{k}" for k in column], "n": counts.ravel()}
    return Table.of_records(data, ["row", "column"], frequency="n")


def paper() -> tuple[Table, np.ndarray, dict[tuple[int, int], int]]:
    table = of_counts(COUNTS)
    places = {(r, c): table.find(f"r{r}", f"c{c}") for r in range(4) for c in range(4)}
    return table, np.isin(np.arange(len(table)), [places[gap] for gap in GAPS]), places


def test_fitted_values_are_the_papers():
    table, gaps, places = paper()
    made = decimals(table, gaps, spread=1e-9)
    assert all(abs(made.cells[places[cell]] - value) < 5e-5 for cell, value in FITTED.items())


def test_everything_published_is_kept_and_nothing_suppressed_is_whole():
    table, gaps, places = paper()
    made = decimals(table, gaps, seed=Seed.for_tests(1))
    stored = made.frame().to_pandas()
    assert len(stored) == 16
    assert np.allclose(stored.groupby("row")["count"].sum(), COUNTS.sum(axis=1))
    print(f"additivity {made.error:.1e}")
    assert made.error < 1e-12
    assert np.abs(made.cells - table.values["count"])[~gaps].max() < 1e-12 * 201
    assert (np.abs(made.cells - np.rint(made.cells))[gaps] > 1e-6).all()
    again = decimals(table, gaps, seed=Seed.for_tests(1))
    assert (again.draws == made.draws).all()
    assert "11." not in repr(made)
    away = made.draws[:, np.isin(made.inner, list(np.flatnonzero(gaps))), 0]
    fitted = [FITTED[gap] for gap in GAPS]
    assert np.allclose(np.linalg.norm(away - fitted, axis=1), np.sqrt([2, 8]), atol=1e-3)  # two degrees of freedom
    assert made.ask([places[0, 2]])[0] == "published"
    assert made.ask([places[0, 0], places[0, 1]]) == ("publishable", pytest.approx(14))
    assert made.ask([places[0, 0], places[1, 1]])[0] == "hidden"


def test_the_suppressed_values_are_not_looked_at():
    """The same published cells over other suppressed ones: the same decimals."""
    table, gaps, _ = paper()
    other = COUNTS + np.array([[1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    second = of_counts(other)
    first = decimals(table, gaps, seed=Seed.for_tests(2))
    assert np.allclose(first.draws, decimals(second, gaps, seed=Seed.for_tests(2)).draws, rtol=0, atol=1e-12)


def test_a_suppression_that_failed_is_refused_with_the_place():
    table, gaps, places = paper()
    lost = gaps.copy()
    lost[places[0, 0]] = False
    with pytest.raises(GuardError, match="row=r0, column=c1"):
        decimals(table, lost)


def test_one_direction_is_never_taken_for_none():
    """Four cells of a rectangle leave one number free: two draws may have the same sign and must not agree."""
    data = {"a": list("xxyy"), "b": list("uvuv"), "n": [1, 9, 9, 9]}
    table = Table.of_records(data, ["a", "b"], frequency="n")
    gaps = np.isin(np.arange(len(table)), [table.find(a, b) for a in "xy" for b in "uv"])
    for number in range(8):
        assert not decimals(table, gaps, seed=Seed.for_tests(number)).told().any()


def test_what_cannot_be_made():
    table, gaps, _ = paper()
    with pytest.raises(UsageError, match="positive spread"):
        decimals(table, gaps, spread=0.0)
    coarse = {"a": ["T", "x", "y", "x1", "x2"], "v": [9, 5, 4, 2, 3]}
    tree = ["T", ["x", "x1", "x2"], ["y", "y1", "y2"]]
    cells = Table.of_cells(coarse, ["a"], ["v"], hierarchies={"a": tree})
    with pytest.raises(InputError, match="a=y has no parts"):
        decimals(cells, [False, True, True, True, True])


def test_linked_crossings_are_made_together():
    rng = np.random.default_rng(4)
    region, kind = rng.integers(0, 6, 300), rng.integers(0, 4, 300)
    data = {"region": region.astype(str), "county": np.char.add("c", (region // 3).astype(str))}
    data |= {"kind": np.char.add("k", kind.astype(str)), "sector": np.char.add("s", (kind // 2).astype(str))}
    table = Table.of_records(
        {**data, "v": rng.lognormal(3, 1, 300)}, values=["v"], formula="region * sector + county * kind"
    )
    made = decimals(table, np.zeros(len(table), dtype=bool), "v")
    assert made.error < 1e-12
    assert np.abs(table.relations @ made.cells).max() < 1e-9
    hidden = np.flatnonzero(table.hidden)
    assert {made.ask([int(cell)])[0] for cell in hidden} == {"hidden"}


def wide(shape: tuple[int, ...], share: float) -> tuple[Table, np.ndarray]:
    """A table of two magnitudes, in which so many inner cells are suppressed."""
    rng = np.random.default_rng(5)
    places = np.indices(shape).reshape(len(shape), -1)
    data = {name: np.char.add(name, place.astype(str)) for name, place in zip("abc", places, strict=False)}
    values = {"v": rng.lognormal(5, 2, places.shape[1]), "w": rng.lognormal(1, 1, places.shape[1])}
    table = Table.of_records(data | values, list(data), ["v", "w"])
    return table, np.isin(
        np.arange(len(table)), rng.permutation(module._inner(table)[0])[: int(share * len(values["v"]))]
    )


def test_iteration_gives_what_a_decomposition_gives(monkeypatch: pytest.MonkeyPatch):
    for shape, share in (((12, 15), 0.6), ((6, 7, 5), 0.8)):
        table, gaps = wide(shape, share)
        both = []
        for dense in (10**6, 3):
            monkeypatch.setattr(module, "DENSE", dense)
            made = [decimals(table, gaps, ["v", "w"], seed=Seed.for_tests(1), spread=size) for size in (1e-9, 1.0)]
            assert made[1].error < 1e-12
            both.append([made[0].draws[0], made[1].draws[0] - made[0].draws[0]])
        assert np.allclose(both[0][0], both[1][0], rtol=1e-10, atol=1e-8)  # fitted values
        moved = [each[1][:, 0] for each in both]  # its length is the number of dimensions, or that of the first draw
        assert np.corrcoef(*moved)[0, 1] > 1 - 1e-12
        assert 0.8 < np.linalg.norm(moved[0]) / np.linalg.norm(moved[1]) < 1.25


def test_where_iteration_does_not_end_a_decomposition_follows(monkeypatch: pytest.MonkeyPatch):
    table, gaps = wide((12, 15), 0.6)
    monkeypatch.setattr(module, "ROUNDS", 1)
    sure = decimals(table, gaps, "v", seed=Seed.for_tests(1)).draws
    monkeypatch.setattr(module, "DENSE", 3)
    assert (decimals(table, gaps, "v", seed=Seed.for_tests(1)).draws == sure).all()
    monkeypatch.setattr(module, "LARGEST", 3)
    with pytest.raises(InfeasibleError, match="108 suppressed inner cells"):
        decimals(table, gaps, "v")


def test_iteration_knows_a_suppression_that_failed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "DENSE", 3)
    table, gaps, places = paper()
    lost = gaps.copy()
    lost[places[0, 0]] = False
    with pytest.raises(GuardError, match="row=r0, column=c1"):
        decimals(table, lost)
    lost[places[2, 2]] = False  # nothing is left open: all of it follows
    with pytest.raises(GuardError, match="7 suppressed cells"):
        decimals(table, lost)


def test_more_cells_than_a_dense_matrix_holds():
    table, gaps = wide((55, 60), 0.9)
    made = decimals(table, gaps, "v")
    assert gaps.sum() > module.DENSE
    print(f"additivity of {gaps.sum():,} cells that hang together {made.error:.1e}")
    assert made.error < 1e-12
    inner = np.flatnonzero(gaps[made.inner])
    apart = (made.draws[0] - made.draws[1])[inner]  # one draw, and another of twice the size
    assert 0.9 < np.linalg.norm(apart) / np.sqrt(5 * (len(inner) - 114)) < 1.1


def test_several_values_at_once_are_those_of_each():
    table, gaps = wide((8, 9), 0.6)
    both = decimals(table, gaps, ["v", "w"], seed=Seed.for_tests(3))
    for number, name in enumerate(("v", "w")):
        alone = decimals(table, gaps, name, seed=Seed.for_tests(3))
        assert np.allclose(both.cells[:, number], alone.cells, rtol=1e-10)
        assert np.allclose(both.frame()[name], alone.frame()[name], rtol=1e-10)
        cell = int(np.flatnonzero(gaps)[0])
        assert both.ask([cell], name) == ("hidden", pytest.approx(alone.ask([cell])[1]))
    assert both.error < 1e-12
    with pytest.raises(UsageError, match="none of the values"):
        both.ask([0], "u")
    with pytest.raises(UsageError, match="each once"):
        decimals(table, gaps, ["v", "v"])
    with pytest.raises(UsageError, match="one value"):
        decimals(table, gaps, ["v", "w"], modulo=10)
    with pytest.raises(UsageError, match="one rule"):
        decimals(table, gaps, "v", accept={"told": "a test"})
    with pytest.raises(UsageError, match="needs counts"):
        decimals(table, gaps, "v", modulo=10)


def test_the_pattern_is_read_back_from_what_is_stored():
    table, gaps, _ = paper()
    stored = decimals(table, gaps).frame()
    again, found = read_back(stored, ["row", "column"], "count")
    codes = [tuple(axis.codes[k] for axis, k in zip(table.grid.axes, cell, strict=True)) for cell in table.grid.codes]
    assert [found[again.find(*code)] for code in codes] == list(gaps)
    assert np.isnan(again.values["count"][found]).all()
    assert not np.isnan(again.values["count"][~found]).any()
    shown, known = audit(again, found), audit(table, gaps)
    assert sorted((t.low, t.high) for t in shown.targets) == sorted((t.low, t.high) for t in known.targets)
    assert decimals(again, found, "count").error < 1e-12  # and filled anew, by whoever has the published cells alone
    with pytest.raises(InputError, match="counts only"):
        read_back(pa.table({"a": ["x", "y"], "v": [0.25, 0.5]}), ["a"], "v")


def test_a_pattern_in_a_hierarchy_is_read_back():
    rng = np.random.default_rng(6)
    tree = ["Total", ["north", "a", "b", "c"], ["south", "d", "e"]]
    data = {"region": np.repeat(list("abcde"), 6), "kind": np.tile(list("uvwxyz"), 5), "n": rng.integers(1, 50, 30)}
    table = Table.of_records(data, ["region", "kind"], frequency="n", hierarchies={"region": tree})
    cells = [(a, b) for a in ("north", "south", "a", "b", "d", "e") for b in "uvw"]  # totals of the north as well
    gaps = np.isin(np.arange(len(table)), [table.find(*cell) for cell in cells])
    again, found = read_back(decimals(table, gaps).frame(), ["region", "kind"], hierarchies={"region": tree})
    assert {again.label(cell) for cell in np.flatnonzero(found)} == {table.label(cell) for cell in np.flatnonzero(gaps)}


def peer(name: str) -> np.ndarray:
    assert SHARED is not None
    return np.array([float(word) for word in (SHARED / "reference" / f"{name}.csv").read_text().split()[1:]])


def peer_flags(name: str) -> list[bool]:
    assert SHARED is not None
    return [word == "TRUE" for word in (SHARED / "reference" / f"{name}.csv").read_text().split()[1:]]


@needs_shared
def test_the_peers_numbers_with_the_peers_normals(monkeypatch: pytest.MonkeyPatch):
    assert SHARED is not None
    lines = list(csv.DictReader((SHARED / "reference" / "regsdc_sec7data.csv").read_text().splitlines()))
    cells = {"rows": [line["rows"] for line in lines], "cols": [line["cols"] for line in lines]}
    table = Table.of_cells({**cells, "n": [float(line["z"]) for line in lines]}, ["rows", "cols"], ["n"], counts=["n"])
    gaps = np.array([line["suppressed"] == "NA" for line in lines])
    inner, holding = module._inner(table)
    names = (SHARED / "reference" / "regsdc_sec7y.csv").read_text().split()[1:]
    order = [int(np.flatnonzero(inner == table.find(*name.split(",")[0].split("_")))[0]) for name in names]
    open_, shown, y = gaps[inner], np.flatnonzero(~gaps), table.values["n"][inner]
    known = np.where(open_, 0.0, y)
    normals = np.zeros((len(inner), 1))
    normals[[place for place in order if open_[place]], 0] = peer("regsdc_sec7_Ystar_rnd1")
    rows, right = sparse.csr_array(holding[shown][:, open_]), table.values["n"][shown] - holding[shown] @ known
    for modulo in (None, 4, 10):
        kept = np.zeros(len(inner)) if modulo is None else np.where(open_, modulo * (y // modulo), 0.0)
        least, moved = module._solved(rows, (right - holding[shown] @ kept)[:, None], normals[open_])
        fitted = known.copy()
        fitted[open_] = least[:, 0] + kept[open_]
        size = np.linalg.norm((y - fitted)[open_]) / np.sqrt(2)  # the original's variance
        end = "" if modulo is None else f"_mod{modulo}"
        wanted = {f"yHat{end}": 0.0, "mod10_resScale01": 0.1 * size} if modulo == 10 else {f"yHat{end}": 0.0}
        if modulo is None:
            wanted |= {"Ystar_rmse1": 1.0, "Ystar_rmse1_noy": 1.0, "Ystar": size, "Z2Yhat": 0.0, "fitted_lm": 0.0}
            wanted |= {"Z2Yhat_noround": 0.0, "ReduceX_yEst": 0.0, "IpsoExtra_resScale0": 0.0}
        for name, spread in wanted.items():
            found = fitted.copy()
            found[open_] += spread * moved[:, 0]
            assert np.abs(found[order] - peer(f"regsdc_sec7_{name}")).max() < 1e-10, name
        if modulo:
            made = decimals(table, gaps, "n", spread=1e-12, modulo=modulo, accept={"modulo": "the paper's table"})
            assert np.abs(made.draws[0, :, 0] - fitted).max() < 1e-10
            assert made.accepted == {"modulo": "the paper's table"}
    assert (np.flatnonzero(~open_[order]) == np.flatnonzero(peer_flags("regsdc_sec7_ReduceX_yKnown"))).all()
    assert (
        decimals(table, np.zeros(len(table), dtype=bool), "n").draws[0, order, 0]
        == peer("regsdc_sec7_SuppressDec_nosupp")
    ).all()
    extra = np.zeros((len(inner), 1))
    extra[order, 0] = peer("regsdc_sec7_IpsoExtra_rmse1_rnd1")  # drawn for all inner cells, all of which are solved for
    least, moved = module._solved(sparse.csr_array(holding[shown]), table.values["n"][shown][:, None], extra)
    assert np.abs((least + moved)[order, 0] - peer("regsdc_sec7_IpsoExtra_rmse1")).max() < 1e-10


@needs_shared
@pytest.mark.parametrize("name", ["gauss_dec_example1", "gauss_dec_z3"])
def test_patterns_of_the_peer_hold_in_decimals(name: str):
    case = next(case for case in CASES if case[0] == name)
    table = table_of(*case[:3])
    lines = [line for line in read(name) if line["isPublish"] == "TRUE"]
    cells = [table.find(*(line[axis.name] for axis in table.grid.axes)) for line in lines]
    gaps = np.zeros(len(table), dtype=bool)
    gaps[[cell for cell, line in zip(cells, lines, strict=True) if line["suppressed"] == "TRUE"]] = True
    made = decimals(table, gaps)
    assert made.error < 1e-12
    decimal = np.array([float(line["freqDec"]) for line in lines])
    assert np.allclose(made.cells[cells][~gaps[cells]], decimal[~gaps[cells]])
    assert (np.abs(decimal - np.rint(decimal)) > 1e-6)[gaps[cells]].all()


@pytest.mark.parametrize("size", [1.0, 1e13])
def test_a_total_that_follows_is_refused_whatever_its_size(size: float):
    row, column = np.divmod(np.arange(25), 5)
    for number in range(20):
        values = np.round(np.random.default_rng(number).uniform(50, 100, 25) * size) / 100
        data = {"a": np.char.add("a", row.astype(str)), "b": np.char.add("b", column.astype(str)), "v": values}
        table = Table.of_records(data, ["a", "b"], ["v"])
        block = [table.find(f"a{i}", f"b{j}") for i in range(4) for j in range(4)]
        inner = np.isin(np.arange(len(table)), block)
        assert decimals(table, inner, "v").error < 1e-12
        with pytest.raises(GuardError, match="a=a0, b=Total"):
            decimals(table, inner | (np.arange(len(table)) == table.find("a0", "Total")), "v")


def test_a_sum_that_one_draw_leaves_by_chance_is_not_told():
    table, gaps = wide((6, 7), 0.6)
    made = decimals(table, gaps, "v", seed=Seed.for_tests(1))
    cell = int(np.flatnonzero(gaps)[0])
    still = made.residuals.copy()
    still[0][made.inner == cell] = 0.0
    by_chance = replace(made, residuals=still)
    assert not by_chance.told().any()
    assert by_chance.ask([cell])[0] == "hidden"
    still[1][made.inner == cell] = 0.0
    assert np.flatnonzero(by_chance.told()).tolist() == [cell]


def test_linked_tables_without_their_lowest_cells_are_sent_to_a_formula():
    data = {"a": list("xxyyzz") * 2, "b": list("uv") * 6, "c": list("ssssssrrrrrr"), "v": [1.0, 2, 3, 4, 5, 6] * 2}
    linked = Table.linked([Table.of_records(data, ["a", dim], ["v"]) for dim in "bc"])
    with pytest.raises(InputError, match="by a formula from records"):
        decimals(linked, np.zeros(len(linked), dtype=bool), "v")
    table = Table.of_records(data, None, ["v"], formula="a * b + a * c")
    gaps = [table.find(a, b, "Total") for a in "xyz" for b in "uv"]
    assert decimals(table, np.isin(np.arange(len(table)), gaps), "v").error < 1e-12


@pytest.mark.parametrize("key", range(5))
def test_four_cells_that_hang_together_are_no_whole_numbers(key: int):
    """With one degree of freedom residuals of one size are half a spread in each cell: 3.5 - .5 is read as a 3."""
    table = Table.of_records({"a": list("xxyy"), "b": list("uvuv"), "n": [1, 9, 9, 7]}, ["a", "b"], frequency="n")
    inner = [table.find(a, b) for a in "xy" for b in "uv"]
    made = decimals(table, np.isin(np.arange(len(table)), inner), seed=Seed.for_tests(key))
    assert np.abs(made.cells - np.rint(made.cells))[inner].min() > 1e-6
    diagonal = made.cells[inner[0]] + made.cells[inner[3]]
    assert abs(diagonal - round(diagonal)) > 1e-6  # of a sum that is hidden, a whole number would be read as published
