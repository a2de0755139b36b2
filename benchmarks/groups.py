"""Time of protect() in many small groups, in units of the floor of benchmarks/speed.py at (1e6, 10, 10).

python benchmarks/groups.py
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from speed import floor
from threadpoolctl import threadpool_limits

import suffice


def frame(groups: int, size: int, k: int) -> tuple[pd.DataFrame, suffice.Roles]:
    rng = np.random.default_rng(1)
    names = [f"y{j}" for j in range(k)]
    data = pd.DataFrame(rng.standard_normal((groups * size, k)) @ rng.standard_normal((k, k)) + 50, columns=names)
    data["group"] = rng.permutation(np.repeat(np.arange(groups), size))
    return data, suffice.Roles(confidential=names, groups=["group"])


def main() -> None:
    with threadpool_limits(1):
        unit = floor(10**6, 10, 10)
    data, roles = frame(10_000, 100, 5)
    suffice.protect(*frame(20, 100, 5), suffice.Ipso(), threads=1)
    for method in (suffice.Ipso(), suffice.ResidualCorrelation(0.5)):
        begin, cpu = time.perf_counter(), time.process_time()
        release = suffice.protect(data, roles, method, threads=1)
        assert release.certificate.holds
        spent = time.perf_counter() - begin
        told = f"{spent / unit:.1f} U ({spent:.1f} s, processor {time.process_time() - cpu:.1f} s)"
        print(f"{method.name}, 10,000 groups of 100 records x 5 columns: {told}; U = {unit:.3f} s")


if __name__ == "__main__":
    main()
