"""Time of a synthesis, guards and certificate included, in U (benchmarks/speed.py), one thread; CPU time, with U as it
is just before and after, so that what runs beside counts for both.

uv run python benchmarks/synthesis.py              1e5 x 8, and SD2011 as it is, if it is there
uv run python benchmarks/synthesis.py 1e6          of 1e6 records: trees, regressions
uv run python benchmarks/synthesis.py 1e5 exact    one of: trees, five, regressions, exact, plain (no loops), sd2011

Each in a process of its own, which tells how far its memory grew beyond that of the data.
"""  # fmt: skip

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from suffice import Restore, Synthesis
from suffice.method.method import Method

SD2011 = Path(__file__).parents[2] / "shared" / "data" / "SD2011.csv"


def unit() -> float:
    """Seconds of CPU, in a process of its own, so that its memory is not counted."""
    return float(subprocess.run([sys.executable, __file__, "unit"], check=True, capture_output=True).stdout)


def floor() -> float:
    W, P, best = np.random.default_rng(1).standard_normal((10**6, 20)), np.ones((20, 10)), np.inf
    for _ in range(3):
        begin = time.process_time()
        np.random.default_rng(2).standard_normal((10**6, 10))
        W.T @ W
        W @ P
        best = min(best, time.process_time() - begin)
    return best


def people(n: int) -> pd.DataFrame:
    """Four numbers, four categories, all related."""
    rng = np.random.default_rng(3)
    z = rng.standard_normal(n)
    data = {f"x{j}": np.round(np.exp(0.5 * z + rng.standard_normal(n)), 2) for j in range(3)}
    data |= {"age": np.clip(40 + 12 * z + 8 * rng.standard_normal(n), 16, 90).astype(np.int64)}
    cuts = ([0.0], [-1.0, 0.0, 1.0], [-1.5, -0.5, 0.2, 0.9], [-1.0, 0.5])
    return pd.DataFrame(
        data
        | {f"c{j}": np.array(list("abcde"))[np.digitize(z + rng.standard_normal(n), cut)] for j, cut in enumerate(cuts)}
    )


CASES: dict[str, Callable[[], Method]] = {
    "trees": lambda: Synthesis(m=1),
    "five": lambda: Synthesis(m=5),
    "regressions": lambda: Synthesis(m=1, models="linear:scale=quantile"),  # type: ignore[arg-type]
    "exact": lambda: Synthesis(m=1, margins=("c0", "c1", "c2", "c3")).then(Restore()),
    "plain": lambda: Synthesis(m=1),
    "sd2011": lambda: Synthesis(m=1),
}


def run(n: int, case: str) -> None:
    if case == "plain":
        sys.modules["numba"] = None  # type: ignore[assignment]
    from suffice import Roles, protect

    def made(data: pd.DataFrame, method: Method) -> None:
        protect(data, Roles(confidential=[str(name) for name in data]), method, threads=1)

    data = pd.read_csv(SD2011) if case == "sd2011" else people(n).astype({"age": np.float64})
    made(data.head(30_000), CASES[case]())  # loops are compiled, or read
    memory, before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, unit()
    begin = time.process_time()
    made(data, CASES[case]())
    spent = time.process_time() - begin
    grown, U = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024, (before + unit()) / 2
    print(
        f"{len(data):,} x {data.shape[1]}, {case}: {spent / U:.1f} U (U = {U:.2f} s), {grown:.0f} MB more", flush=True
    )


def main() -> None:
    told = sys.argv[1:] or ["1e5"]
    n, asked = int(float(told[0])) if told != ["unit"] else 0, told[1:]
    every = ["trees", "regressions"] if n > 10**5 else [each for each in CASES if each != "sd2011" or SD2011.exists()]
    if not n:
        print(floor())
    elif len(asked) == 1:
        run(n, asked[0])
    else:
        for case in asked or every:
            subprocess.run([sys.executable, __file__, str(n), case], check=True)


if __name__ == "__main__":
    main()
