"""What can be asked of rows, whatever engine they come from: select, deal, sorted, with_columns, batches, frame."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import Ipso, Microaggregate, Roles, Seed, protect
from suffice.rows.arrow import kinds
from suffice.rows.derived import Beside, Computation
from suffice.rows.memory import ArrayRows, MemoryRows
from suffice.rows.parquet import ParquetRows
from suffice.rows.rows import BLOCK, Block, Rows
from suffice.rows.spool import Spool
from tests.rows.process_engine import ProcessRows

N = 2 * BLOCK + 321
NAMES = ["day", "y", "whole", "holed", "town", "price", "yes"]


@lru_cache
def table(n: int = N) -> pa.Table:
    """A column of every kind; the first one cannot be worked on, and the dictionary holds a level that nobody has."""
    rng = np.random.default_rng(8)
    towns = np.array(["a", "bb", None, "Ö"], dtype=object)[rng.integers(0, 4, n)]
    codes = pa.array([None if town is None else ["nobody", "a", "bb", "Ö"].index(town) for town in towns], pa.int8())
    return pa.table(
        {
            "day": pa.array([datetime.date(2020, 1, 1 + i) for i in rng.integers(0, 28, n)]),
            "y": pa.array([None if i % 11 == 0 else float(v) for i, v in enumerate(rng.normal(size=n))]),
            "whole": pa.array(rng.integers(-50, 50, n), pa.int32()),
            "holed": pa.array([None if i % 7 == 0 else i for i in range(n)], pa.int64()),
            "town": pa.DictionaryArray.from_arrays(codes, ["nobody", "a", "bb", "Ö"]),
            "price": pa.array([Decimal(int(v)) / 4 for v in rng.integers(0, 999, n)], pa.decimal128(9, 2)),
            "yes": pa.array(rng.random(n) < 0.5),
        }
    )


def of_parquet(data: pa.Table, folder: Path) -> Rows:
    pq.write_table(data, folder / "rows.parquet", row_group_size=777)
    return ParquetRows(folder / "rows.parquet")


def of_spool(data: pa.Table, folder: Path) -> Rows:
    spool = Spool(data.schema, kinds(data.schema), 1, str(folder))
    for batch in data.to_batches(max_chunksize=1234):
        spool.write(batch)
    spool.close()
    return spool


def of_derived(data: pa.Table, folder: Path) -> Rows:
    """Some columns as they came, others beside them."""
    made = {name: Beside(of_spool(data, folder), name) for name in ("y", "whole")}
    return MemoryRows(data.drop_columns(["y", "whole"])).with_columns(made)


ENGINES: dict[str, Callable[[pa.Table, Path], Rows]] = {
    "arrow": lambda data, _: MemoryRows(data),
    "polars": lambda data, _: MemoryRows(pl.from_arrow(data)),
    "parquet": of_parquet,
    "spool": of_spool,
    "process": lambda data, _: ProcessRows(data),
    "derived": of_derived,
}
every_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch is one block."""
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)


@pytest.fixture
def rows(engine: str, tmp_path: Path) -> Rows:
    return ENGINES[engine](table(), tmp_path)


def cells(rows: Rows, columns: Sequence[str]) -> dict[str, list[Any]]:
    """All cells, as the batches hold them."""
    batches = list(rows.batches(columns))
    return {name: [cell for batch in batches for cell in batch.column(name).to_pylist()] for name in columns}


def numbers(rows: Rows, *columns: str) -> list[Any]:
    """Columns as a pass sees them."""
    runs = list(rows.map(lambda run: [[block.columns[name] for name in columns] for block in run], columns, "reading"))
    return [np.concatenate([block[j] for run in runs for block in run]) for j in range(len(columns))]


def same(one: Any, two: Any) -> bool:
    """Equal, and no list of thousands of cells where they are not."""
    return bool(one == two)


def expected(columns: Sequence[str], places: Any = None) -> dict[str, list[Any]]:
    chosen = table() if places is None else table().take(pa.array(places))
    return {name: chosen[name].to_pylist() for name in columns}


@every_engine
def test_batches_hold_the_cells_of_the_source(rows: Rows) -> None:
    assert same(cells(rows, NAMES[::-1]), expected(NAMES))
    assert {len(batch) for batch in rows.batches(["day"])} == {BLOCK, 321}


@every_engine
def test_columns_are_gathered_as_blocks_hold_them(rows: Rows) -> None:
    held = rows.gather(["holed", "town"])
    assert same(held["town"].to_pylist(), expected(["town"])["town"])
    assert np.array_equal(held["holed"], np.array(expected(["holed"])["holed"], dtype=float), equal_nan=True)


@every_engine
def test_some_rows_are_selected_and_some_cells_made_missing(rows: Rows) -> None:
    rng = np.random.default_rng(1)
    kept = rng.random(N) < 0.4
    kept[BLOCK : 2 * BLOCK] = False  # a whole batch is left out
    blank = {name: rng.random(N) < 0.3 for name in ("y", "whole", "holed", "price")}
    chosen = rows.select(kept, NAMES, blank)
    wanted = expected(NAMES, np.flatnonzero(kept))
    for name, holes in blank.items():
        wanted[name] = [
            None if hole or cell is None else float(cell) for cell, hole in zip(wanted[name], holes[kept], strict=True)
        ]
    found = cells(chosen, NAMES)
    assert same(found, wanted)
    assert chosen.n == kept.sum()
    assert {name: chosen.kinds[name] for name in blank} == dict.fromkeys(blank, "float")
    assert {name: chosen.kinds[name] for name in ("day", "town", "yes")} == {
        "day": "date",
        "town": "category",
        "yes": "category",
    }
    assert [block.start for run in chosen.runs(["y"]) for block in run] == list(range(0, chosen.n, BLOCK))


@every_engine
def test_every_row_is_dealt_once_and_in_order(rows: Rows) -> None:
    label = np.random.default_rng(2).choice([0, 1, 4], N, p=[0.6, 0.3, 0.1])

    def of(start: int, batch: Any) -> Any:
        assert start % BLOCK == 0
        return label[start : start + len(batch)]

    parts = rows.deal(of, 5, NAMES, "dealing")
    assert [part.n for part in parts] == np.bincount(label, minlength=5).tolist()
    for number, part in enumerate(parts):
        assert same(cells(part, NAMES), expected(NAMES, np.flatnonzero(label == number)))
        for batch in part.batches(NAMES):
            assert "dictionary" not in str(batch.schema.field("town").type)  # nor does a level that nobody has
            assert batch.schema.field("day").type == pa.date32()


@every_engine
def test_a_label_may_be_read_off_the_batch(rows: Rows) -> None:
    parts = rows.deal(lambda _, batch: batch.column("whole").to_numpy() % 3, 3, ["whole"], "dealing")
    whole = np.asarray(table()["whole"])
    for number, part in enumerate(parts):
        assert same(cells(part, ["whole"])["whole"], whole[whole % 3 == number].tolist())


def test_dealing_tells_how_far_it_is_and_where_it_may_lie(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    rows = MemoryRows(table(), 1, lambda *at: told.append(at))
    parts = rows.deal(lambda _, batch: np.zeros(len(batch), dtype=int), 1, ["y"], "dealing", str(tmp_path))
    assert told == [("dealing", BLOCK, N), ("dealing", 2 * BLOCK, N), ("dealing", N, N)]
    assert parts[0].n == N
    assert not list(tmp_path.iterdir())


@settings(max_examples=25, deadline=None)
@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=60), data=st.data())
def test_dealt_parts_make_up_the_rows(labels: list[int], data: st.DataObject) -> None:
    values = data.draw(st.lists(st.floats(-9, 9) | st.none(), min_size=len(labels), max_size=len(labels)))
    text = data.draw(st.lists(st.text(max_size=3) | st.none(), min_size=len(labels), max_size=len(labels)))
    own = pa.table({"x": pa.array(values, pa.float64()), "t": pa.array(text, pa.string()).dictionary_encode()})
    parts = MemoryRows(own).deal(lambda at, batch: np.array(labels)[at : at + len(batch)], 4, ["t", "x"], "")
    for number, part in enumerate(parts):
        found = cells(part, ["t", "x"])
        assert found["t"] == [cell for cell, label in zip(text, labels, strict=True) if label == number]
        assert found["x"] == [cell for cell, label in zip(values, labels, strict=True) if label == number]


@every_engine
@pytest.mark.parametrize("by", ["whole", "holed", "y", "price"])
@pytest.mark.parametrize("held", [2**20, 3_000])
def test_rows_are_sorted_by_numbers_and_equal_ones_stay_in_order(
    rows: Rows, by: str, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """whole: a hundred values and many ties; holed, y: missing ones come last, in the order that they had."""
    monkeypatch.setattr("suffice.rows.spool.HELD", held)
    values = np.array([np.nan if cell is None else float(cell) for cell in expected([by])[by]])
    order = np.argsort(values, kind="stable")
    names = ["town", "day", "holed"]
    found = rows.sorted(by, names)
    assert same(cells(found, names), expected(names, order))
    assert [name for name in found.kinds if name in names] == [*found.kinds]
    assert found.n == N


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.sampled_from([-1.0, 0.0, 0.0, 2.0, np.inf, -np.inf, np.nan]), min_size=1, max_size=120),
    held=st.integers(1, 40),
    sampled=st.sampled_from([2, 8, 2**14]),
    engine=st.sampled_from(["parquet", "spool"]),
)
def test_a_sort_by_way_of_files_is_that_of_memory(
    values: list[float], held: int, sampled: int, engine: str, tmp_path: Path
) -> None:
    """However few values there are, how little is held and how few rows the ranges are chosen from."""
    own = pa.table({"x": pa.array(values, from_pandas=True), "place": pa.array(range(len(values)))})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.rows.spool.HELD", held)
        patch.setattr("suffice.rows.spool.SAMPLED", sampled)
        found = ENGINES[engine](own, tmp_path).sorted("x", ["place", "x"])
    assert same(cells(found, ["place"])["place"], np.argsort(values, kind="stable").tolist())


@pytest.mark.parametrize("held", [2**20, 40])
def test_whole_numbers_are_told_apart_where_floats_cannot(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.rows.spool.HELD", held)
    values = 2**60 + np.random.default_rng(3).permutation(500)
    rows = ProcessRows(pa.table({"id": values}))
    assert same(cells(rows.sorted("id", ["id"]), ["id"])["id"], np.sort(values).tolist())


def test_no_part_of_a_sort_is_much_larger_than_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though all values are equal."""
    sizes: list[int] = []
    deal = Rows.deal

    def seen(self: Rows, *args: Any) -> Any:
        parts = deal(self, *args)
        sizes.extend(part.n for part in parts)
        return parts

    monkeypatch.setattr("suffice.rows.spool.HELD", 2_000)
    monkeypatch.setattr(Rows, "deal", seen)
    rows = ProcessRows(pa.table({"x": np.ones(N), "place": np.arange(N)}))
    assert same(cells(rows.sorted("x", ["place"]), ["place"])["place"], list(range(N)))
    assert sum(sizes) == N
    assert max(sizes) <= 2_000


def computed(name: str, needs: str, of: Callable[[Any], Any]) -> Computation:
    return Computation((needs,), lambda block: of(np.asarray(block.columns[needs], dtype=float))[:, None], (name,))


WHOLE = np.asarray(table()["whole"]).astype(float)


@every_engine
def test_columns_are_added_and_replaced(rows: Rows, tmp_path: Path) -> None:
    numbered, other = np.arange(N), of_spool(table(), tmp_path)
    made = rows.with_columns(
        {
            "number": numbered,
            "beside": Beside(other, "town"),
            "y": -WHOLE,
            "twice": computed("twice", "whole", lambda v: 2 * v),
        }
    )
    assert made.n == N
    assert {name: made.kinds[name] for name in ("number", "beside", "y", "twice", "day")} == {
        "number": "integer",
        "beside": "category",
        "y": "float",
        "twice": "float",
        "day": "date",
    }
    number, y, twice, whole = numbers(made, "number", "y", "twice", "whole")
    assert np.array_equal(number, numbered)
    assert np.array_equal(y, -WHOLE)
    assert np.array_equal(twice, 2 * WHOLE)
    assert np.array_equal(whole, WHOLE)
    assert same(cells(made, ["beside", "day"]), {"beside": expected(["town"])["town"], **expected(["day"])})
    assert same(cells(rows, ["y"]), expected(["y"]))  # the rows themselves are as they were


@every_engine
def test_a_column_is_replaced_by_what_is_computed_from_it(rows: Rows) -> None:
    made = rows.with_columns({"whole": computed("whole", "whole", lambda v: v + 1)})
    assert np.array_equal(numbers(made, "whole")[0], WHOLE + 1)
    assert same(cells(made, ["whole", "town"]), {"whole": (WHOLE + 1).tolist(), **expected(["town"])})


@every_engine
def test_a_computation_sees_the_rows_that_it_is_put_beside(rows: Rows) -> None:
    """Layer upon layer: whether they are made one or not, every computation sees what it saw."""
    zeros, plus, twice = np.zeros(N), lambda v: v + 1, lambda v: 2 * v
    cases: list[tuple[Rows, dict[str, Any]]] = [
        (rows.with_columns({"a": zeros + 7}).with_columns({"b": computed("b", "a", plus)}), {"a": 7, "b": 8}),
        (
            rows.with_columns({"a": computed("a", "whole", plus)}).with_columns({"b": computed("b", "a", twice)}),
            {"a": WHOLE + 1, "b": 2 * (WHOLE + 1)},
        ),
        (
            rows.with_columns({"whole": zeros}).with_columns({"whole": computed("whole", "whole", plus)}),
            {"whole": 1},
        ),
        (
            rows.with_columns({"whole": computed("whole", "whole", plus)}).with_columns(
                {"whole": computed("whole", "whole", plus)}
            ),
            {"whole": WHOLE + 2},
        ),
        (
            rows.with_columns({"b": computed("b", "whole", twice)}).with_columns({"whole": zeros}),
            {"b": 2 * WHOLE, "whole": 0},
        ),
        (
            rows.with_columns({"b": computed("b", "whole", twice), "whole": zeros}),
            {"b": 2 * WHOLE, "whole": 0},
        ),
        (
            rows.with_columns({"b": computed("b", "whole", twice)}).with_columns({"b": zeros}),
            {"b": 0, "whole": WHOLE},
        ),
    ]
    for made, wanted in cases:
        for name, values in zip(wanted, numbers(made, *wanted), strict=True):
            assert np.array_equal(values, np.broadcast_to(wanted[name], N)), name
        found = cells(made, [*wanted, "town"])
        assert all(np.array_equal(found[name], np.broadcast_to(wanted[name], N)) for name in wanted)
        assert same(found["town"], expected(["town"])["town"])


def test_of_a_computation_of_several_columns_one_may_be_replaced() -> None:
    both = Computation(("whole",), lambda block: np.column_stack([block.columns["whole"]] * 2), ("a", "b"))
    made = MemoryRows(table()).with_columns(dict.fromkeys("ab", both)).with_columns({"b": np.zeros(N)})
    a, b = numbers(made, "a", "b")
    assert np.array_equal(a, WHOLE)
    assert not b.any()


@every_engine
def test_each_computation_draws_from_its_own_stream(rows: Rows) -> None:
    """Whatever pass it is made in, and beside numbers of the pass itself."""
    one, two = (Seed.for_tests(number).derive("a") for number in (1, 2))

    def of(block: Block) -> Any:
        assert block.key is not None
        return block.key.normals(len(block), 1)

    made = rows.with_columns({"a": Computation((), of, ("a",), one), "b": Computation((), of, ("b",), two)})
    wanted = [
        np.vstack([key.normals(i, size, 1) for i, size in enumerate((BLOCK, BLOCK, 321))])[:, 0] for key in (one, two)
    ]
    for columns in (("a", "b"), ("b", "a"), ("b",)):
        for name, values in zip(columns, numbers(made, *columns), strict=True):
            assert np.array_equal(values, wanted["ab".index(name)])
    assert np.array_equal(cells(made, ["whole", "b"])["b"], wanted[1])

    def with_own(run: Sequence[Block]) -> list[Any]:
        return [(block.columns["a"], of(block)[:, 0]) for block in run]

    for run, (first, last) in zip(
        made.map(with_own, ["a"], "", two), ((0, BLOCK), (BLOCK, 2 * BLOCK), (2 * BLOCK, N)), strict=True
    ):
        ((a, own),) = run
        assert np.array_equal(a, wanted[0][first:last])
        assert np.array_equal(own, wanted[1][first:last])


@every_engine
def test_batches_of_derived_rows_keep_the_types_of_the_source(rows: Rows) -> None:
    before = next(iter(rows.batches(NAMES))).schema
    made = rows.with_columns({"new": np.arange(N), "price": computed("price", "price", lambda v: v / 2)})
    schema = next(iter(made.batches([*NAMES, "new"]))).schema
    for name in NAMES:
        assert schema.field(name).type == (pa.float64() if name == "price" else before.field(name).type)
    assert schema.field("new").type == pa.int64()
    assert schema.names == [*NAMES, "new"]


@every_engine
def test_what_is_derived_can_be_dealt_selected_and_sorted(rows: Rows) -> None:
    made = rows.with_columns({"less": computed("less", "whole", lambda v: -v), "place": np.arange(N)})
    order = np.argsort(-WHOLE, kind="stable")
    assert same(cells(made.sorted("less", ["place", "day"]), ["place"])["place"], order.tolist())
    chosen = made.select(WHOLE > 0, ["less", "day"], {"less": WHOLE == 7})
    wanted = [None if v == 7 else -v for v in WHOLE[WHOLE > 0]]
    assert same(cells(chosen, ["less"])["less"], wanted)
    parts = made.deal(lambda at, batch: (WHOLE[at : at + len(batch)] > 0).astype(int), 2, ["place", "less"], "")
    assert same(cells(parts[1], ["place"])["place"], np.flatnonzero(WHOLE > 0).tolist())


@every_engine
def test_a_table_is_put_together_of_rows_at_some_places(rows: Rows) -> None:
    places = np.random.default_rng(6).integers(0, N, 500)  # any order, some of them twice
    made = rows.with_columns({"number": np.arange(N)})
    frame = made.frame(["town", "number", "fresh", "day"], {"fresh": np.arange(500) / 2}, places)
    found = frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame
    assert found.column_names == ["town", "number", "fresh", "day"]
    assert same({name: found[name].to_pylist() for name in ("town", "day")}, expected(["town", "day"], places))
    assert same(found["number"].to_pylist(), places.tolist())
    assert found["fresh"].to_pylist() == (np.arange(500) / 2).tolist()


@pytest.mark.parametrize("method", [Ipso(), Microaggregate(k=4)], ids=lambda method: method.name)
def test_a_file_whose_first_column_is_a_date_is_shown_in_its_own_order(method: Any, tmp_path: Path) -> None:
    own = table(700)
    pq.write_table(own, tmp_path / "rows.parquet")
    roles = Roles(confidential=["whole", "price"], keep=["day"])
    frames = [protect(data, roles, method, Seed.for_tests(1)).aligned() for data in (own, tmp_path / "rows.parquet")]
    assert all(same(frame["day"].to_pylist(), own["day"].to_pylist()) for frame in frames)
    assert np.allclose(frames[0]["whole"], frames[1]["whole"])


def test_a_pass_over_derived_rows_reads_only_what_it_needs() -> None:
    asked: list[list[str]] = []

    class Watched(ArrayRows):
        def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
            asked.append(list(columns))
            return super().runs(columns)

    rows = Watched({"a": np.arange(5.0), "b": np.ones(5)}, {"a": "float", "b": "float"})
    made = rows.with_columns({"c": computed("c", "b", lambda v: v + 1), "d": np.zeros(5)})
    numbers(made, "c")
    numbers(made, "d", "a")
    numbers(made, "d")
    assert asked == [["b"], ["a"], ["a"]]
