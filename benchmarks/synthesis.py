"""Time of a synthesis, guards and certificate included, in U (benchmarks/speed.py), one thread.

uv run python benchmarks/synthesis.py          1e5 x 8: trees, regressions; SD2011 as it is, if it is there
uv run python benchmarks/synthesis.py 1e6      the same of 1e6 records, with the peak of memory
"""  # fmt: skip

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from suffice import Roles, Synthesis, protect

SD2011 = Path(__file__).parents[2] / "shared" / "data" / "SD2011.csv"


def unit() -> float:
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


def main() -> None:
    n, U = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**5, unit()
    print(f"U = {U:.3f} s of CPU")
    data = people(n)
    protect(data.head(30_000), Roles(confidential=list(data)), Synthesis(m=1), threads=1)  # loops are compiled, or read
    asked = {"trees, m = 1": Synthesis(m=1), "trees, m = 5": Synthesis(m=5)}
    asked |= {"linear and multinomial": Synthesis(m=1, models="linear:scale=quantile")}  # type: ignore[arg-type]
    for name, method in asked.items() if n <= 10**5 else list(asked.items())[::2]:
        begin = time.process_time()
        protect(data, Roles(confidential=list(data)), method, threads=1)
        print(f"{n:,} x 8, {name}: {(time.process_time() - begin) / U:.1f} U", flush=True)
    if n <= 10**5 and SD2011.exists():
        data = pd.read_csv(SD2011)
        begin = time.process_time()
        protect(data, Roles(confidential=list(data)), Synthesis(m=1), threads=1)
        print(f"SD2011 x {data.shape[1]}: {(time.process_time() - begin) / U:.1f} U")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
