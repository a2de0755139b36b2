"""Time and memory of protect() against the floor: the least that any exact method has to do.

    python benchmarks/speed.py [memory | parquet | all]

The floor at (n, m, k) draws standard_normal(n, k), forms the Gram matrix of [X Y] and multiplies (n, m+k) by (m+k, k),
on one thread. Everything is printed as a ratio to the floor of the same run; the floor at (1e6, 10, 10) is U.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

import suffice

REPEATS = 5


def floor(n: int, m: int, k: int, clock: Callable[[], float] = time.perf_counter) -> float:
    W, P = np.random.default_rng(1).standard_normal((n, m + k)), np.ones((m + k, k))
    best = np.inf
    for _ in range(REPEATS):
        begin = clock()
        np.random.default_rng(2).standard_normal((n, k))
        W.T @ W
        W @ P
        best = min(best, clock() - begin)
    return best


def frame(n: int, m: int, k: int) -> tuple[pd.DataFrame, suffice.Roles]:
    """m columns of X, the intercept being one of them, and k confidential ones."""
    given, confidential = [f"x{j}" for j in range(1, m)], [f"y{j}" for j in range(k)]
    values = np.random.default_rng(3).standard_normal((m - 1 + k, n))
    data = pd.DataFrame(dict(zip([*given, *confidential], values, strict=True)), copy=True)
    return data, suffice.Roles(confidential=confidential, given=given)


def timed(data: object, roles: suffice.Roles, threads: int) -> tuple[float, dict[str, float]]:
    best, shares = np.inf, {}
    for _ in range(REPEATS):
        gc.collect()
        spent: dict[str, float] = defaultdict(float)
        last = [time.perf_counter()]

        def progress(stage: str, done: int, total: int, spent=spent, last=last) -> None:
            now = time.perf_counter()
            spent[stage] += now - last[0]
            last[0] = now

        begin = time.perf_counter()
        release = suffice.protect(data, roles, suffice.Ipso(), threads=threads, progress=progress)
        assert release.certificate.holds
        end = time.perf_counter()
        if end - begin < best:
            best, shares = end - begin, {**spent, "rest": end - last[0]}
        del release
    return best, shares


def memory_of(n: int, m: int, k: int, threads: int) -> float:
    """Peak memory of protect() beyond the frame's own, as a multiple of the input; in a process of its own."""
    code = f"""
import resource, sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
import speed, suffice
small, roles = speed.frame(20_000, {m}, {k}); suffice.protect(small, roles, suffice.Ipso(), threads={threads})
data, roles = speed.frame({n}, {m}, {k})
import gc; gc.collect()
with open("/proc/self/clear_refs", "w") as f: f.write("5")
def peak():
    return int([l for l in open("/proc/self/status") if l.startswith("VmHWM")][0].split()[1]) * 1024
before = peak()
release = suffice.protect(data, roles, suffice.Ipso(), threads={threads})
print((peak() - before) / ({n} * {m - 1 + k} * 8))
"""
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def in_memory() -> None:
    for n, m, k in ((10**6, 10, 10), (10**6, 30, 30)):
        data, roles = frame(n, m, k)
        with threadpool_limits(1):
            least = floor(n, m, k)
        print(f"(n, m, k) = ({n}, {m}, {k}): floor {least:.3f} s")
        for threads in (1, 2):
            spent, shares = timed(data, roles, threads)
            parts = ", ".join(f"{stage} {share / least:.2f}" for stage, share in shares.items())
            print(f"  protect, {threads} thread(s): {spent / least:.2f} floors  ({parts})")
        del data
        extra = [memory_of(n, m, k, threads) for threads in (1, 2)]
        print(f"  extra memory: {extra[0]:.2f} x the input (1 thread), {extra[1]:.2f} x (2 threads)")


def make_parquet(path: Path, n: int, columns: int) -> None:
    names = [f"x{j}" for j in range(columns // 2)] + [f"y{j}" for j in range(columns - columns // 2)]
    rng = np.random.default_rng(4)
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema, use_dictionary=False, compression="snappy") as writer:
        for start in range(0, n, 2**19):
            size = min(2**19, n - start)
            writer.write_table(pa.table({name: rng.standard_normal(size) for name in names}))


def copy(source: Path, target: Path) -> float:
    """The lean copy: batches through, no dictionary, the same codec; synced, as a release is."""
    begin = time.perf_counter()
    file = pq.ParquetFile(source, pre_buffer=False)
    with pq.ParquetWriter(target, file.schema_arrow, use_dictionary=False, compression="snappy") as writer:
        for batch in file.iter_batches(131_072):
            writer.write_batch(batch)
    with open(target, "rb+") as written:
        os.fsync(written.fileno())
    return time.perf_counter() - begin


RELEASE = """
import resource, sys, time, json, collections, suffice, suffice.release.release, suffice.microdata
source, target, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
roles = suffice.Roles(confidential=[f"y{j}" for j in range(10)], given=[f"x{j}" for j in range(10)])
spent = collections.defaultdict(float); last = [time.perf_counter()]
def progress(stage, done, total):
    now = time.perf_counter(); spent[stage] += now - last[0]; last[0] = now
begin = time.perf_counter()
release = suffice.protect(source, roles, suffice.Ipso(), threads=threads, progress=progress)
certificate = release.write(target, force=True)
seconds = time.perf_counter() - begin
spent["rest"] = time.perf_counter() - last[0]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"seconds": seconds, "peak": peak, "ratio": max(c.ratio for c in certificate.claims), "parts": spent}))
"""


def out_of_core(n: int = 10**7, columns: int = 20) -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        source, target = Path(folder) / "source.parquet", Path(folder) / "target.parquet"
        make_parquet(source, n, columns)
        pace = min(copy(source, target) for _ in range(2))
        print(f"Parquet, {n} rows x {columns} columns: lean copy {pace:.1f} s")
        for threads in (1, 2):
            out = subprocess.run(
                [sys.executable, "-c", RELEASE, str(source), str(target), str(threads)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
            found = json.loads(out)
            parts = ", ".join(f"{stage} {share / pace:.2f}" for stage, share in found["parts"].items())
            print(
                f"  protect and write, {threads} thread(s): {found['seconds'] / pace:.2f} copies,"
                f" peak {found['peak']:.2f} GiB, worst ratio {found['ratio']:.2g}  ({parts})"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", default="all", choices=("memory", "parquet", "all"))
    part = parser.parse_args().part
    if part != "parquet":
        in_memory()
    if part != "memory":
        out_of_core()
