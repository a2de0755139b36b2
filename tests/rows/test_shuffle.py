"""The order of released rows: uniform, keyed, and the same whether dealt in memory or through files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Ipso, Restore, Roles, Seed, protect
from suffice.method.isometric import Isometric
from suffice.rows.rows import BLOCK
from suffice.rows.shuffle import BUCKET, bucket_count, dealt, shuffled
from suffice.seed import Stream
from tests.tolerances import CHANCE, ENGINE


def stream(number: int) -> Stream:
    return Stream(number.to_bytes(32, "big"))


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 30_000), bucket=st.integers(500, 40_000), key=st.integers(0, 2**64))
def test_every_row_leaves_exactly_once(n: int, bucket: int, key: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.rows.shuffle.BUCKET", bucket)
        order = shuffled(stream(key), n)
    assert np.array_equal(np.sort(order), np.arange(n))


def chi_square(counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> float:
    """Standardised chi-square against equal counts."""
    expected = counts.sum() / counts.size
    freedom = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


@pytest.mark.parametrize("bucket", [2**19, 20])
def test_all_orders_are_equally_likely(bucket: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.rows.shuffle.BUCKET", bucket)
    places = np.zeros((60, 60), dtype=np.int64)
    pairs = np.zeros((60, 60), dtype=np.int64)
    for number in range(6000):
        order = shuffled(stream(number), 60)
        places[np.arange(60), order] += 1
        pairs[order[:-1], order[1:]] += 1  # who follows whom
    assert abs(chi_square(places)) < CHANCE
    assert abs(chi_square(pairs[~np.eye(60, dtype=bool)])) < CHANCE


def test_a_poor_shuffle_would_be_found() -> None:
    places = np.zeros((60, 60), dtype=np.int64)
    rng = np.random.default_rng(1)
    for _ in range(6000):
        order = np.arange(60)
        for i in range(59):  # swaps that never leave the second half alone: 45 random transpositions too few
            if i % 4 == 0:
                j = rng.integers(60)
                order[i], order[j] = order[j], order[i]
        places[np.arange(60), order] += 1
    assert abs(chi_square(places)) > CHANCE


def test_dealing_does_not_depend_on_where_a_run_ends() -> None:
    n = 3 * BLOCK + 5
    whole = dealt(stream(1), 0, n, 7)
    parts = [dealt(stream(1), a, min(a + BLOCK, n), 7) for a in range(0, n, BLOCK)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert abs(chi_square(np.bincount(whole))) < CHANCE


def test_the_number_of_buckets_depends_on_the_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [bucket_count(n) for n in (1, BUCKET, BUCKET + 1, 10**12)] == [1, 1, 2, 2**16 - 1]


@pytest.mark.parametrize("method", [Ipso(), None], ids=["alone", "with a companion"])
def test_memory_and_buckets_give_one_order(
    method: Isometric | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 2 * BLOCK + 777
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"row": np.arange(n, dtype=float), "y": rng.normal(size=n), "text": rng.permutation(n)})
    frame["text"] = frame["text"].map("row {}".format)
    frame["y"] += frame["row"] / n
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=1000)
    roles = Roles(confidential=["y"], given=["row"], keep=["text"])
    method = method or Restore(candidate=frame.assign(y=frame["y"].round(1)))
    monkeypatch.setattr("suffice.rows.shuffle.BUCKET", 3000)
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    held, streamed = (protect(source, roles, method, seed=Seed.for_tests(1)).frame for source in (frame, path))
    streamed = streamed.to_pandas()
    assert np.array_equal(held["row"], streamed["row"])
    assert np.array_equal(held["text"], streamed["text"])
    assert np.array_equal(frame["text"].to_numpy()[held["row"].astype(int)], held["text"])  # rows stay whole
    assert np.abs(held["y"] - streamed["y"]).max() <= ENGINE
    assert abs(np.corrcoef(held["row"], np.arange(n))[0, 1]) * np.sqrt(n) < CHANCE
    aligned = protect(frame, roles, method, seed=Seed.for_tests(1)).aligned()
    assert np.array_equal(aligned["y"].to_numpy()[held["row"].astype(int)], held["y"])  # X and Y* together
