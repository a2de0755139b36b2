"""Rows set aside: the same rows in the same blocks as often as they are asked for, and nothing left behind."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.errors import FileError
from suffice.rows.arrow import kinds
from suffice.rows.rows import BLOCK
from suffice.rows.spool import Spool

SCHEMA = pa.schema([("x", pa.float64()), ("g", pa.string()), ("code", pa.int32())])


def batch(first: int, last: int) -> Any:
    rows = np.arange(first, last)
    text = [None if i % 7 == 0 else f"level {i % 3}" for i in rows]
    return pa.RecordBatch.from_arrays([pa.array(rows + 0.5), pa.array(text), pa.array(rows, pa.int32())], schema=SCHEMA)


def spooled(sizes: list[int], folder: str | None = None) -> Spool:
    spool, first = Spool(SCHEMA, kinds(SCHEMA), 1, folder), 0
    for size in sizes:
        spool.write(batch(first, first + size))
        first += size
    spool.close()
    return spool


@settings(max_examples=20, deadline=None)
@given(sizes=st.lists(st.integers(0, 9000), min_size=1, max_size=5), run=st.integers(1, 3))
def test_blocks_are_cut_at_fixed_rows_however_rows_were_written(sizes: list[int], run: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.rows.rows.RUN", run)
        spool, n = spooled(sizes), sum(sizes)
        for _ in range(2):  # read as often as need be
            blocks = [block for each in spool.runs(["x"]) for block in each]
            assert [block.start for block in blocks] == list(range(0, n, BLOCK))
            assert not n or np.array_equal(np.concatenate([b.columns["x"] for b in blocks]), np.arange(n) + 0.5)
    assert spool.n == n


def test_columns_keep_their_types_holes_and_order() -> None:
    (block,) = next(iter(spooled([10, 20]).runs(["code", "g"])))
    assert list(block.columns) == ["code", "g"]
    assert block.columns["code"].tolist() == list(range(30))
    assert block.columns["g"].to_pylist()[:3] == [None, "level 1", "level 2"]


def test_passes_do_not_disturb_each_other() -> None:
    spool = spooled([3 * BLOCK])
    for one, two in zip(spool.batches(["x"]), spool.batches(["code"]), strict=True):
        assert np.array_equal(one["x"].to_numpy(), two["code"].to_numpy() + 0.5)


def test_it_has_no_name_and_vanishes_with_the_last_who_holds_it(tmp_path: Path) -> None:
    spool = spooled([100], str(tmp_path))
    assert not list(tmp_path.iterdir())
    file = spool.file.fileno()
    assert os.fstat(file).st_size > 0
    del spool
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="Rows cannot be set aside") as told:
        spooled([1], str(tmp_path / "absent"))
    assert told.value.exit_code == 7
