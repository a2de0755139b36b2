"""Rank swapping and shuffling against the sorting of their columns, one thread, all in one run.

uv run python benchmarks/ranks.py            1e6 x 10 in memory: ratios to a stable argsort of every column
uv run python benchmarks/ranks.py FILE       `protect` of a Parquet file: seconds and peak memory
uv run python benchmarks/ranks.py FILE 1e7   makes that file first
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from suffice import RankSwap, Roles, Shuffle, protect
from suffice.algorithms import swapping
from suffice.design.design import Design
from suffice.rows.memory import ArrayRows
from suffice.rows.threads import one_blas_thread
from suffice.seed import Seed

NAMES = [f"y{j}" for j in range(10)]


def best(of: Callable[[], Any], times: int = 3) -> float:
    found = []
    for _ in range(times):
        start = time.process_time()
        of()
        found.append(time.process_time() - start)
    return min(found)


def memory(n: int = 10**6) -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.gamma(2.0, size=n) for name in NAMES}
    rows = ArrayRows(columns, dict.fromkeys(NAMES, "float"))
    design = Design.learn(rows, Roles(confidential=NAMES))
    floor = best(lambda: [np.argsort(y, kind="stable") for y in columns.values()])
    print(f"sorting {n:,} x {len(NAMES)}: {floor:.2f} s")
    for compiled in (swapping.COMPILED, False):
        swapping.COMPILED = compiled
        for p in (0.01, 0.5):
            took = best(lambda p=p: RankSwap(p=p).columns(rows, design, Seed().derive("a")))
            print(f"rank-swap p = {p} {'compiled' if compiled else 'NumPy'}: {took / floor:.2f} x")
    print(f"shuffle: {best(lambda: Shuffle().columns(rows, design, Seed().derive('a'))) / floor:.2f} x")


def made(path: str, n: int) -> None:
    schema, rng = pa.schema(dict.fromkeys(NAMES, pa.float64())), np.random.default_rng(1)
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(0, n, 10**5):
            writer.write_batch(pa.RecordBatch.from_arrays(list(map(pa.array, rng.gamma(2.0, size=(10, 10**5)))), NAMES))


def parquet(path: str) -> None:
    for method in (RankSwap(), Shuffle())[: 1 if len(sys.argv) < 4 else 2]:
        start = time.perf_counter()
        release = protect(path, Roles(confidential=NAMES), method, threads=1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{method.name}: {time.perf_counter() - start:.0f} s, {peak:.2f} GiB, kept {release.certificate.holds}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        made(sys.argv[1], int(float(sys.argv[2])))
    if len(sys.argv) > 1:
        parquet(sys.argv[1])
    else:
        with one_blas_thread():
            memory()
