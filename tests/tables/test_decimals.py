"""Decimal numbers in place of suppressed cells: the paper's table, the peer's numbers, what they tell and what not."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy import sparse

from suffice.errors import GuardError, InputError, UsageError
from suffice.seed import Seed
from suffice.tables import decimals as module
from suffice.tables.decimals import decimals
from suffice.tables.table import Table
from tests.places import SHARED, needs_shared
from tests.tables.test_reference import CASES, read, table_of

COUNTS = np.array([[3, 11, 32, 30], [1, 9, 13, 8], [12, 22, 2, 2], [18, 19, 16, 3]])
GAPS = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 2), (2, 3), (3, 0), (3, 3)]
FITTED = {(1, 0): 4.5217, (2, 2): 6.6957, (2, 3): -2.6957, (0, 0): 4.1739, (3, 3): 7.6957, (1, 1): 10.1739}
FITTED |= {(0, 1): 9.8261, (1, 2): 8.3043, (3, 0): 13.3043}
"""Langsrud (2019), Tables 1 and 2."""


def paper() -> tuple[Table, np.ndarray, dict[tuple[int, int], int]]:
    row, column = np.divmod(np.arange(16), 4)
    data = {"row": [f"r{k}" for k in row], "column": [f"c{k}" for k in column], "n": COUNTS.ravel()}
    table = Table.of_records(data, ["row", "column"], frequency="n")
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
    away = made.draws[:, np.isin(made.inner, list(np.flatnonzero(gaps)))]
    fitted = [FITTED[gap] for gap in GAPS]
    assert np.allclose(np.linalg.norm(away - fitted, axis=1), np.sqrt([2, 8]), atol=1e-3)  # two degrees of freedom
    assert made.ask([places[0, 2]])[0] == "published"
    assert made.ask([places[0, 0], places[0, 1]]) == ("publishable", pytest.approx(14))
    assert made.ask([places[0, 0], places[1, 1]])[0] == "hidden"


def test_the_suppressed_values_are_not_looked_at():
    """The same published cells over other suppressed ones: the same decimals."""
    table, gaps, _ = paper()
    other = COUNTS + np.array([[1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    row, column = np.divmod(np.arange(16), 4)
    data = {"row": [f"r{k}" for k in row], "column": [f"c{k}" for k in column], "n": other.ravel()}
    second = Table.of_records(data, ["row", "column"], frequency="n")
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


def peer(name: str) -> np.ndarray:
    assert SHARED is not None
    return np.array([float(word) for word in (SHARED / "reference" / f"{name}.csv").read_text().split()[1:]])


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
    normals = np.zeros(len(inner))
    normals[[place for place in order if open_[place]]] = peer("regsdc_sec7_Ystar_rnd1")
    rows, right = sparse.csr_array(holding[shown][:, open_]), table.values["n"][shown] - holding[shown] @ known
    kept = np.linalg.norm(y[order] - peer("regsdc_sec7_yHat")) / np.sqrt(2)  # the original's variance
    for name, spread in (("yHat", 1e-300), ("Ystar_rmse1", 1.0), ("Ystar_rmse1_noy", 1.0), ("Ystar", kept)):
        found = known.copy()
        found[open_] = module._solved(rows, right, normals[None, open_], spread)[0]
        assert np.abs(found[order] - peer(f"regsdc_sec7_{name}")).max() < 1e-10


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
