"""Rotate over Parquet files larger than a super-block: time in proportion to the records, and peak memory.

python benchmarks/rotate_parquet.py [RECORDS ...]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

RELEASE = """
import json, resource, sys, time, suffice, suffice.release.release
roles = suffice.Roles(confidential=[f"y{j}" for j in range(10)], bounds="observed-sign")
begin = time.perf_counter()
release = suffice.protect(sys.argv[1], roles, suffice.Rotate(sweeps=3))
held = release.certificate.holds and not release.assessment.broken
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"seconds": time.perf_counter() - begin, "peak": peak, "held": held}))
"""


def make(path: Path, n: int) -> None:
    rng = np.random.default_rng(1)
    schema = pa.schema([(f"y{j}", pa.float64()) for j in range(10)])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for start in range(0, n, 2**19):
            size = min(2**19, n - start)
            writer.write_table(pa.table({f"y{j}": rng.exponential(size=size) for j in range(10)}))


def main(sizes: list[int]) -> None:
    for n in sizes:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            path = Path(folder) / "source.parquet"
            make(path, n)
            out = subprocess.run(
                [sys.executable, "-c", RELEASE, str(path)], stdout=subprocess.PIPE, text=True, check=True
            )
        found = json.loads(out.stdout)
        print(
            f"{n} records x 10, all >= 0, 3 sweeps in each of 2 rounds: {found['seconds']:.0f} s"
            f" = {1e6 * found['seconds'] / n:.1f} s per million, peak {found['peak']:.2f} GiB, kept: {found['held']}"
        )


if __name__ == "__main__":
    main([int(float(each)) for each in sys.argv[1:]] or [2_000_000, 10_000_000])
