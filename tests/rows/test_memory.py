"""The memory engine: columns of every kind of frame, seen alike, and put back as they came."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Ipso, Roles, Seed, protect
from suffice.errors import InputError
from suffice.rows.memory import MemoryRows
from suffice.rows.rows import BLOCK

KINDS: dict[str, tuple[Any, str]] = {
    "float": (pl.Series([1.0, 2.0, 4.0]), "float"),
    "float32": (pl.Series([1.0, 2.0, 4.0], dtype=pl.Float32), "float"),
    "integer": (pl.Series([1, 2, 4], dtype=pl.Int8), "integer"),
    "unsigned": (pl.Series([1, 2, 4], dtype=pl.UInt64), "integer"),
    "integer with a gap": (pl.Series([1, None, 4]), "integer"),
    "decimal": (pl.Series([Decimal("1.5"), Decimal("2.5"), Decimal("3.5")]), "float"),
    "text": (pl.Series(["a", "b", None]), "category"),
    "categorical": (pl.Series(["a", "b", "a"], dtype=pl.Categorical), "category"),
    "boolean": (pl.Series([True, False, None]), "category"),
    "date": (pl.Series([datetime.date(2020, 1, 1)] * 3), "date"),
    "time": (pl.Series([datetime.datetime(2020, 1, 1)] * 3), "date"),
    "list": (pl.Series([[1], [2], [3]]), "other"),
}


def rows_of(frame: Any) -> MemoryRows:
    return MemoryRows(frame)


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_the_same_in_every_frame(name: str) -> None:
    series, kind = KINDS[name]
    frame = pl.DataFrame({"c": series})
    assert rows_of(frame).kinds == {"c": kind}
    assert rows_of(frame.to_arrow()).kinds == {"c": kind}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.Series([1.0, None, 2.0]), "float"),
        (pd.Series([1, None, 2], dtype="Int64"), "integer"),
        (pd.Series([1, 2, 3], dtype="uint8"), "integer"),
        (pd.Series(["a", None, "b"], dtype=object), "category"),
        (pd.Series(["a", None, "b"], dtype="string"), "category"),
        (pd.Series(["a", "b", "b"], dtype="category"), "category"),
        (pd.Series([3, 1, 3], dtype="category"), "integer"),
        (pd.Series([True, False, True]), "category"),
        (pd.Series([True, None, True], dtype="boolean"), "category"),
        (pd.Series([1, "a", None], dtype=object), "other"),
        (pd.Series([1, 2, 3], dtype=object), "integer"),
        (pd.Series([1.5, 2, 3], dtype=object), "float"),
        (pd.to_datetime(pd.Series(["2020-01-01"] * 3)), "date"),
        (pd.Series([1.5, 2.5, None], dtype="double[pyarrow]"), "float"),
    ],
)
def test_kinds_of_pandas_columns(values: Any, kind: str) -> None:
    rows = rows_of(pd.DataFrame({"c": values}))
    assert rows.kinds == {"c": kind}
    if kind in ("float", "integer"):
        (block,) = next(iter(rows.runs(["c"])))
        assert isinstance(block.columns["c"], np.ndarray)
        assert block.columns["c"].dtype.kind in "fiu"


@settings(max_examples=20, deadline=None)
@given(n=st.integers(1, 3 * BLOCK), run=st.integers(1, 4))
def test_blocks_are_cut_at_fixed_rows(n: int, run: int) -> None:
    values = np.arange(n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.rows.rows.RUN", run)
        found = [block for each in rows_of(pa.table({"x": values})).runs(["x"]) for block in each]
    assert [block.start for block in found] == list(range(0, n, BLOCK))
    assert np.array_equal(np.concatenate([block.columns["x"] for block in found]), values)


def test_chunks_of_an_arrow_table_do_not_matter() -> None:
    parts = [pa.table({"x": [1.0, 2.0], "g": ["a", "b"]}), pa.table({"x": [3.0], "g": ["c"]})]
    (block,) = next(iter(rows_of(pa.concat_tables(parts)).runs(["x", "g"])))
    assert block.columns["x"].tolist() == [1.0, 2.0, 3.0]
    assert block.columns["g"].to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "wrong",
    [
        np.arange(3.0),
        np.array([["secret"]]),
        np.zeros((2, 2, 2)),
        [1, 2],
        {"x": [1.0]},
        None,
        7,
        pd.Series([1.0]),
        pl.LazyFrame({"x": [1.0]}),
        pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]),
        pd.DataFrame([[1.0, 2.0]], columns=[1, 2]),
        pd.DataFrame([[1.0]], columns=[""]),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_what_is_no_table_is_refused_with_a_sentence(wrong: Any) -> None:
    with pytest.raises(InputError) as told:
        rows_of(wrong)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(("ordered", "levels"), [(False, ["a", "b", "c"]), (True, ["c", "a", "b"])])
def test_levels_without_an_order_do_not_stand_as_the_original_rows_did(ordered: bool, levels: list[str]) -> None:
    """A dictionary of a file that is sorted by a confidential column has its levels by that."""
    frame = pd.DataFrame({"g": pd.Categorical(["c", "c", "a", "b", None], ["c", "a", "b"], ordered=ordered)})
    back = rows_of(frame).frame(["g"], {}, np.array([4, 1, 3, 2, 0]))
    assert list(back["g"].cat.categories) == levels
    assert back["g"].dropna().tolist() == ["c", "b", "a", "c"]


def test_rows_are_put_back_in_any_order_with_their_own_types() -> None:
    frame = pd.DataFrame(
        {
            "g": pd.Categorical(["b", "a", "b"], categories=["a", "b", "z"]),
            "y": [1, 2, 3],
            "s": pd.array([1, None, 3], "Int8"),
        },
        index=[5, 5, 5],
    )
    back = rows_of(frame).frame(["g", "y", "s"], {"y": np.array([0.3, 0.1, 0.2])}, np.array([2, 0, 1]))
    assert back["y"].tolist() == [0.3, 0.1, 0.2]
    assert back["g"].tolist() == ["b", "b", "a"]
    assert list(back["g"].cat.categories) == ["a", "b"]  # a level that nobody has does not leave
    assert back["s"].dtype == frame["s"].dtype
    assert back.index.tolist() == [0, 1, 2]


def test_nothing_else_of_a_pandas_frame_leaves() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=50), "y": rng.normal(size=50)})
    frame.index = pd.MultiIndex.from_arrays([[f"person {i}" for i in range(50)], range(50)], names=["who", "when"])
    frame.attrs["source"] = "a secret survey"
    released = protect(frame, Roles(confidential=["y"], given=["x"]), Ipso(), seed=Seed.for_tests(1)).frame
    assert released.index.equals(pd.RangeIndex(50))
    assert released.attrs == {}
    assert list(released.columns) == ["x", "y"]


def test_no_metadata_of_an_arrow_table_leaves() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=50), "y": rng.normal(size=50)}, index=[f"person {i}" for i in range(50)])
    table = pa.Table.from_pandas(frame)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"note": b"secret"})
    released = protect(table, Roles(confidential=["y"], given=["x"]), Ipso(), seed=Seed.for_tests(1)).frame
    assert b"secret" not in str(released.schema.metadata).encode()
    assert "person" not in released.schema.to_string(show_schema_metadata=True)
    assert released.column_names == ["x", "y"]
