"""The CPU time of a start, in units of importing what it stands on: numpy, scipy.linalg and pyarrow.parquet.

    python benchmarks/start.py [TIMES]

The best of TIMES (5) runs each, taken in turns. Compiled loops come from their cache: the first round fills it.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from suffice.demo import firms

BASE = "import numpy, scipy.linalg, pyarrow.parquet"
SUFFICE = "from suffice.cli import main; main()"
REQUEST = ["--confidential", "turnover,wages,taxes", "--given", "C(region) + log(employees)", "--quiet", "--force"]


def cpu(arguments: list[str], folder: str) -> float:
    """User and system seconds of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def protect(method: str, data: str = "firms.parquet") -> list[str]:
    return [SUFFICE, "protect", data, *REQUEST, "--method", method, "--output", "out.parquet"]


def main(times: int) -> None:
    programs = {
        "imports alone": [BASE],
        "suffice --help": [SUFFICE, "--help"],
        "protect, ipso": protect("ipso"),
        "protect, rotate": protect("rotate"),
        "protect, rotate, 20,000 rows": protect("rotate", "many.parquet"),
        "import numba": [f"{BASE}, numba"],
    }
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(firms(2_000), Path(folder) / "firms.parquet")
        pq.write_table(firms(20_000), Path(folder) / "many.parquet")
        rounds = [{name: cpu(program, folder) for name, program in programs.items()} for _ in range(times + 1)][1:]
    best = {name: min(each[name] for each in rounds) for name in programs}
    for name, seconds in best.items():
        print(f"{name:<30} {seconds:6.2f} s  {seconds / best['imports alone']:5.2f} x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
