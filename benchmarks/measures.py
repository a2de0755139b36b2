"""Time of measures in U, the floor of `speed.py` at (1e6, 10, 10), one thread, in one run, and the memory of linkage.

uv run python benchmarks/measures.py           linkage of 1e6 x 10, propensity of 1e5 x 8
uv run python benchmarks/measures.py 1e5       fewer records to link
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from speed import floor
from threadpoolctl import threadpool_limits

from suffice.risk.distance_linkage import TRIED, links
from suffice.utility.propensity import propensity


def spent(of: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = of()
    return time.process_time() - start, found


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    rng = np.random.default_rng(1)
    with threadpool_limits(1):
        with patch("time.perf_counter", time.process_time):  # other work on the machine counts for less
            U = floor(10**6, 10, 10)
        print(f"U = {U:.3f} s")
        links(*rng.normal(size=(2, 3000, 10)), np.arange(3000))  # compiled
        root = np.linalg.cholesky(np.full((10, 10), 0.7) + 0.3 * np.eye(10))
        alone = rng.normal(size=(n, 10))
        alike = alone @ root.T
        some = np.sort(rng.choice(n, min(n, TRIED), replace=False))
        for name, Y, sd, asked, places in (
            ("an unrelated release, correlation .7", alike, None, 20, np.arange(n)),
            ("noise of .3 sd, correlation .7", alike, 0.3, 100, np.arange(n)),
            ("noise of .1 sd, correlation .7", alike, 0.1, 130, np.arange(n)),
            ("noise of .3 sd, independent columns, some records", alone, 0.3, 40, some),
            ("noise of .3 sd, independent columns", alone, 0.3, 350, np.arange(n)),
        ):
            Ystar = rng.normal(size=(n, 10)) @ root.T if sd is None else Y + sd * rng.normal(size=(n, 10))
            took, found = spent(lambda Y=Y, Ystar=Ystar, places=places: links(Y, Ystar, places))
            told = f"{took / U:.1f} U (at 1e6 at most {asked} asked), share {found.mean():.4f}"
            print(f"linkage, {len(places):,} of {n:,} x 10, {name}: {told}", flush=True)
        print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
        Y, Ystar = rng.gamma(2.0, size=(2, 10**5, 8))
        print(f"propensity of second degree, 1e5 x 8: {spent(lambda: propensity(Y, Ystar))[0] / U:.1f} U (6 asked)")


if __name__ == "__main__":
    main()
