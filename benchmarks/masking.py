"""Time of masking methods in U, the floor of `speed.py` at (1e6, 10, 10), one thread, in one run; memory of files.

uv run python benchmarks/masking.py           1e6 x 10 in memory
uv run python benchmarks/masking.py FILE      `protect` of a Parquet file that benchmarks/ranks.py has made
"""

from __future__ import annotations

import resource
import sys
import time
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from speed import floor
from threadpoolctl import threadpool_limits

from suffice import Noise, PcaMask, Roles, Seed, protect
from suffice.design.design import Design
from suffice.files.source import open_rows
from suffice.method.masked import MaskedColumns
from suffice.method.rowwise import Rowwise
from suffice.rows.memory import MemoryRows
from suffice.rows.threads import hold_memory

NAMES = [f"y{j}" for j in range(10)]


def table(n: int, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((n, 3)) @ rng.standard_normal((3, 10)) + rng.standard_normal((n, 10))
    return pa.table(dict(zip(NAMES, Y.T, strict=True)))


def seconds(method: Rowwise, data: pa.Table) -> float:
    """Processor time of the method alone: learning, masking, and all released columns."""
    hold_memory()  # as `protect` does
    rows = MemoryRows(data, 1)
    design = Design.learn(rows, Roles(confidential=NAMES))
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        made = method.columns(rows, design, Seed.for_tests(1).derive("benchmark"))
        rows.with_columns(made.columns if isinstance(made, MaskedColumns) else made).gather(NAMES)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    if len(sys.argv) > 1:  # made by benchmarks/ranks.py, in a process of its own: its memory is not that of a release
        start = time.process_time()
        protect(open_rows(sys.argv[1], 1, None), Roles(confidential=NAMES), PcaMask(), seed=Seed.for_tests(1))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"pca-mask: {time.process_time() - start:.0f} s of one processor, {peak:.2f} GiB")
        return
    with threadpool_limits(1):
        with patch("time.perf_counter", time.process_time):  # other work on the machine counts for less
            data, U = table(10**6), floor(10**6, 10, 10)
        for method in (PcaMask(), PcaMask(how="normal"), PcaMask(how="smooth"), Noise()):
            print(f"{method.name} {method.how}: {seconds(method, data) / U:.2f} U (U = {U:.3f} s)", flush=True)


if __name__ == "__main__":
    main()
